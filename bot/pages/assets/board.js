// The board: sort, filter, choice of columns and tint; all on what the page shows without this script.
"use strict";
(() => {
  const { $, make, mark, read, write, text: queryOf, rove, halfUp } = globalThis.page;
  const tables = [...document.querySelectorAll("table.board")];
  const inOrder = tables.map((table) => [...table.tBodies].flatMap((body) => [...body.rows]));
  const shown = inOrder.map((all) => [...all]); // as they stand on the page, from the top down
  const rows = inOrder.flat();
  const PART = 25; // rows of one body, as the template has them: what is far from the screen is not laid out
  const isNarrow = matchMedia("(max-width: 36rem)");
  const PAUSE = 150; // milliseconds after the last key
  const LANGUAGES = 3; // columns that are of languages are that many at least
  const headsIn = (table) => [...table.tHead.rows[0].cells];
  const heads = headsIn(tables[0]);
  const names = heads.map((head) => head.dataset.name);
  const grouped = (count) => count.toLocaleString("en");
  const cached = (make) => { // what not every visit needs is made when it is asked for the first time
    const made = new Map();
    return (key) => (made.has(key) ? made.get(key) : made.set(key, make(key)).get(key));
  };
  const collator = new Intl.Collator("en", { numeric: true });
  const shortOf = (head) => [head.querySelector("small"), head.querySelector("span")].filter(Boolean).map((one) => one.textContent).join(" "); // with its group
  const titleOf = (head) => head.title || head.querySelector(".printed").textContent;
  // Titles that are codes of languages say which: `af` is hard to find in a menu.
  const codes = heads.filter((head) => head.matches(".task"));
  const language = (head) => (/^[a-z]{2,3}(-\w{2,8})*$/.test(head.querySelector("span").textContent) ? new Intl.DisplayNames("en", { type: "language", fallback: "none" }).of(head.querySelector("span").textContent) : undefined);
  const languages = new Map(codes.map((head) => [head, language(head)]));
  const areLanguages = codes.length >= LANGUAGES && [...languages.values()].every(Boolean);
  if (areLanguages) for (const head of codes) head.title ||= languages.get(head);
  const columnOf = (name) => names.indexOf(name);
  const text = (row, column) => row.cells[column].textContent.trim();
  // What the filters look at, by row: a value of each column of texts, the model, and its size in billions.
  const of = Object.fromEntries(["precision", "chat", "licence", "type", "date", "evidence"]
    .map((name) => [name, columnOf(name)]).filter(([, column]) => column >= 0)
    .map(([name, column]) => [name, cached((row) => text(row, column))]));
  of.model = cached((row) => text(row, 1).toLowerCase());
  of.org = cached((row) => (text(row, 1).includes("/") ? text(row, 1).split("/")[0] : ""));
  of.size = cached((row) => Number.parseFloat(columnOf("size") < 0 ? "" : text(row, columnOf("size"))));
  const isRanked = cached((row) => text(row, 0) !== "–");
  const openLicences = ($("licence")?.dataset.open || "").split(",").filter(Boolean);
  const inOpen = new Set(openLicences);
  const listed = (value) => (value || "").split(",").filter(Boolean); // of an address: "apache-2.0,mit"

  // A test of a row for each thing that the address may ask, by its name there.
  const RANGE = /^([\d.]*)(-?)([\d.]*)$/;
  const sizes = (value) => { // "3-10", "-3", "40-", or "10" for up to 10
    const [, low, dash, high] = RANGE.exec(value) || [];
    return dash ? [Number.parseFloat(low) || 0, Number.parseFloat(high) || Infinity] : [0, Number.parseFloat(low) || Infinity];
  };
  const TESTS = {
    q: (value) => {
      const parts = value.toLowerCase().split(/\s+/).filter(Boolean);
      return (row) => parts.every((part) => of.model(row).includes(part));
    },
    size: (value) => { // leaves out rows of unknown size; a size at the edge belongs to the larger
      const [low, high] = sizes(value);
      return (row) => of.size(row) >= low && (of.size(row) < high || (!value.includes("-") && of.size(row) <= high));
    },
    licence: (value) => (value === "open" ? (row) => inOpen.has(of.licence(row)) : ((wanted) => (row) => wanted.has(of.licence(row)))(new Set(listed(value)))),
    type: (value) => ((wanted) => (row) => wanted.has(of.type(row)))(new Set(listed(value))),
    precision: (value) => (row) => of.precision(row) === value,
    chat: (value) => (row) => of.chat(row) === value,
    org: (value) => (row) => of.org(row) === value,
    since: (value) => (row) => of.date(row) >= value,
    rows: (value) => ({
      ranked: isRanked,
      incomplete: (row) => !isRanked(row),
      follows: (row) => of.evidence(row).includes("follows"),
      samples: (row) => /samples|rescored|remeasured/.test(of.evidence(row)),
      rescored: (row) => /rescored|remeasured/.test(of.evidence(row)),
      look: (row) => row.querySelector(".odd, .twin, .warned") !== null,
      clean: (row) => !row.dataset.warnings,
      warned: (row) => Boolean(row.dataset.warnings),
    })[value] || (() => true),
  };
  const isAsked = (name, value) => {
    if (["size", "licence", "type", "precision", "chat"].includes(name) && columnOf(name) < 0) return false;
    if (name === "size") return /\d/.test(value) && RANGE.test(value);
    if (name === "since") return /^\d{4}-\d\d-\d\d$/.test(value);
    return name === "rows" ? [...$("rows").options].some((one) => one.value === value) : Boolean(value);
  };
  const testsOf = (state) => Object.fromEntries(Object.keys(TESTS).filter((name) => state.get(name) && isAsked(name, state.get(name))).map((name) => [name, TESTS[name](state.get(name))]));
  const fitting = (tests) => {
    const all = Object.values(tests);
    return (row) => all.every((test) => test(row));
  };

  // ---- what a reader chooses ----
  const chosenIn = (id) => [...$(id).querySelectorAll("input:checked")].map((box) => box.value).join(",");
  const boxes = (id) => { // one for each value, with the number of its rows
    const counts = new Map();
    for (const row of rows) counts.set(of[id](row), (counts.get(of[id](row)) || 0) + 1);
    for (const value of listed(read().get(id))) if (value !== "open" && !counts.has(value)) counts.set(value, 0); // a link's choice is seen
    for (const [value, count] of [...counts].sort(([one, more], [other, less]) => less - more || collator.compare(one, other))) {
      const label = make("label", "");
      label.append(make("input", "", { type: "checkbox", value }), ` ${value === "–" ? "– (unknown)" : value} `, make("small", grouped(count)));
      $(id).append(label);
    }
    $(id).addEventListener("change", () => change({ [id]: chosenIn(id) }, true));
  };
  const fill = (id) => {
    const values = new Set(rows.map(of[id]));
    if (read().get(id)) values.add(read().get(id));
    for (const value of [...values].filter(Boolean).sort(collator.compare)) $(id).append(make("option", value, { value }));
  };
  const CHOICES = ["precision", "chat", "rows", "org", "since"].filter($);
  let isOffered = false;
  const offer = () => {
    if (isOffered) return;
    isOffered = true;
    for (const id of ["precision", "chat", "org"].filter($)) fill(id);
    for (const id of ["licence", "type"].filter($)) boxes(id);
  };

  // Presets, each with the number of rows that it would leave beside the other choices.
  const isKnown = (name) => columnOf(name) >= 0 && rows.some((row) => of[name](row) !== "–");
  const hasSizes = 2 * rows.filter((row) => of.size(row) > 0).length >= rows.length; // else chips would hide most rows unsaid
  const PRESETS = [
    ...(hasSizes ? [["≤ 3B", "size", "3", ""], ["≤ 10B", "size", "10", ""], ["3–10B", "size", "3-10", ""], ["10–40B", "size", "10-40", ""], ["> 40B", "size", "40-", ""]] : []),
    ...(isKnown("licence") && openLicences.length ? [["open licence", "licence", "open", `one of ${openLicences.join(", ")}`]] : []),
    ...(isKnown("type") ? [["base unknown", "type", "base unknown", "the pages on the Hub name no model that they were made from"]] : []),
    ...(rows.some((row) => row.querySelector(".odd, .twin, .warned")) ? [["to look at", "rows", "look", "scores that the other columns make unlikely, rows equal to others, and warnings that not every row has"]] : []),
    ...(columnOf("evidence") >= 0 ? [["samples", "rows", "samples", "the evidence is sample logs at least"], ["rescored", "rows", "rescored", "the logged answers were scored again"], ["verified", "rows", "follows", "verify computed the rows again from their files"]] : []),
  ];
  const chips = PRESETS.map(([label, name, value, title]) => {
    const chip = make("button", `${label} `, { type: "button", class: "chip", "aria-pressed": "false", ...(title && { title }) });
    chip.append(make("small", ""));
    chip.addEventListener("click", () => {
      change({ [name]: read().get(name) === value ? "" : value }, true);
      chip.scrollIntoView({ block: "nearest", inline: "nearest" }); // a pressed one stands first on a phone
    });
    return chip;
  });
  $("chips").append(...chips);
  rove($("chips"));
  if (matchMedia("(hover: hover)").matches) $("q").placeholder = "Search models  /"; // where there are keys, and room
  const count = (state, tests) => PRESETS.forEach(([, name, value], i) => {
    const number = rows.filter(fitting({ ...tests, [name]: TESTS[name](value) })).length;
    const isOn = state.get(name) === value;
    chips[i].lastChild.textContent = grouped(number);
    chips[i].setAttribute("aria-pressed", String(isOn));
    const whole = rows.filter(TESTS[name](value)).length;
    chips[i].hidden = !isOn && (!whole || whole === rows.length); // one that tells no rows apart
  });

  for (const head of tables.flatMap(headsIn)) {
    const title = head.querySelector("span");
    const button = make("button", "", { type: "button" });
    button.append(...title.cloneNode(true).childNodes);
    title.before(button);
    title.className = "printed"; // a head that is repeated on paper has its texts, and not its buttons
    button.addEventListener("click", () => {
      const [sorted, falls] = read().get("sort") ? sorting(read()) : [2, true];
      const column = head.cellIndex;
      const first = head.dataset.kind === undefined;
      const before = head.getBoundingClientRect().top;
      change({ sort: `${(sorted === column ? !falls : first) ? "-" : ""}${names[column]}` }, true);
      scrollBy({ top: head.getBoundingClientRect().top - before, behavior: "instant" }); // the lines above grow: the head stays below the pointer
    });
  }
  heads.forEach((head, column) => {
    if (column === 1) return;
    const title = head.querySelector(".printed");
    const name = areLanguages && languages.get(head) ? `${title.textContent} · ${languages.get(head)}` : title.textContent;
    const label = make("label", ` ${name === title.textContent ? shortOf(head) : name}`);
    const box = make("input", "", { type: "checkbox", value: names[column] });
    label.prepend(box);
    $("columns").append(label, " ");
    if (column < 3) return;
    const group = head.dataset.holds ? title.textContent : head.querySelector("small")?.textContent;
    let place = group ? [...$("beside").children].find((one) => one.label === group && one.matches("optgroup")) : $("beside");
    if (!place) $("beside").append(place = make("optgroup", "", { label: group }));
    place.append(make("option", head.dataset.holds ? `${group}, mean` : name, { value: names[column] }));
  });
  // The tasks of a group are folded: its heading has a button that opens them. Without this script all of them are there.
  const groups = heads.filter((head) => head.dataset.holds);
  const placeOf = (group) => groups.findIndex((head) => head.dataset.name === group.dataset.name);
  const tasksOf = (group) => headsIn(group.closest("table")).filter((head) => head.classList.contains(`g${placeOf(group)}`));
  const openIn = (state) => {
    const open = new Set(listed(state.get("open")));
    for (const name of [state.get("sort")?.replace(/^-/, ""), state.get("beside")]) { // what one asks for is there
      const place = groups.findIndex((_, i) => heads[columnOf(name)]?.classList.contains(`g${i}`));
      if (place >= 0) open.add(groups[place].dataset.name);
    }
    return open;
  };
  const turn = (head) => { // a phone has the tasks in place of the groups, a screen beside theirs, as many as it has room for
    const state = read();
    const open = openIn(state);
    const isOpen = open.has(head.dataset.name);
    const tasks = tasksOf(head);
    if (isOpen) open.delete(head.dataset.name);
    else open.add(head.dataset.name);
    const near = isNarrow.matches ? head.dataset.name : tasks.some((task) => task.dataset.name === state.get("beside")) ? "" : state.get("beside");
    const sort = isOpen && tasks.some((task) => task.dataset.name === state.get("sort")?.replace(/^-/, "")) ? "" : state.get("sort");
    change({ open: [...open].join(","), beside: near, sort }, true);
    if (!isOpen) bring(head);
  };
  const bring = (head) => { // the tasks of an opened group into sight
    if (isNarrow.matches) return; // there they stand first
    const frame = head.closest(".frame");
    const cells = headsIn(head.closest("table"));
    const [end, fixed] = [frame, cells[2]].map((one) => one.getBoundingClientRect().right);
    const past = tasksOf(head).at(-1).getBoundingClientRect().right - end;
    if (past <= 0) return;
    const to = cells.slice(3, head.cellIndex + 1).map((one) => one.getBoundingClientRect()).find((one) => one.width && one.left - fixed >= past) ?? head.getBoundingClientRect();
    frame.scrollLeft += to.left - fixed; // no column is cut
  };
  const folding = tables.flatMap(headsIn).filter((head) => head.dataset.holds);
  for (const head of folding) {
    const fold = make("button", `${head.dataset.holds} tasks`, { type: "button", class: "fold", "aria-expanded": "false" });
    head.prepend(fold);
    fold.addEventListener("click", () => turn(head));
    for (const task of tasksOf(head)) { // on a phone, where the group is out of sight
      const close = make("button", "", { type: "button", class: "fold close", "aria-expanded": "true", title: `Close ${titleOf(head)}` });
      close.append(...task.querySelector("small").childNodes);
      task.querySelector("small").append(close);
      close.addEventListener("click", () => turn(head));
    }
  }
  const unfold = (state) => {
    const open = openIn(state);
    for (const head of folding) {
      const isOpen = open.has(head.dataset.name);
      head.querySelector(".fold").setAttribute("aria-expanded", String(isOpen));
      head.closest("table").classList.toggle(`fold${placeOf(head)}`, !isOpen);
    }
  };
  $("columns").addEventListener("change", () => {
    change({ hide: [...$("columns").querySelectorAll("input:not(:checked)")].map((one) => one.value).join(",") }, true);
  });
  for (const table of tables) rove(table.tHead);

  const sorting = (state) => {
    const asked = state.get("sort") || "";
    return [columnOf(asked.replace(/^-/, "")), asked.startsWith("-")];
  };
  // A rank sorts by its best end; what is missing stands last, whichever way the others go.
  const key = (row, column) => {
    const value = text(row, column);
    if (heads[column].dataset.kind === "text") return value === "–" || !value ? null : value;
    const number = Number.parseFloat(value);
    return Number.isNaN(number) ? null : number;
  };
  const compareKeys = (one, other) => (typeof one === "string" ? collator.compare(one, other) : one - other);
  let sortedBy;
  let sorted = inOrder;
  const sort = (state) => {
    const asked = state.get("sort") || "";
    if (asked === sortedBy) return;
    sortedBy = asked;
    const [column, falls] = sorting(state);
    sorted = column < 0 ? inOrder : inOrder.map((all) => all
      .map((row) => [key(row, column), row])
      .sort(([one], [other]) => {
        if (one === null || other === null) return (one === null) - (other === null);
        return falls ? compareKeys(other, one) : compareKeys(one, other);
      })
      .map(([, row]) => row));
    for (const table of tables) {
      headsIn(table).forEach((head, place) => {
        if (place === (column < 0 ? 2 : column)) head.setAttribute("aria-sort", falls || column < 0 ? "descending" : "ascending"); // at first by the average
        else head.removeAttribute("aria-sort");
      });
      if (column < 0) continue;
      const [head, fixed] = [column, 2].map((place) => table.tHead.rows[0].cells[place].getBoundingClientRect());
      const frame = table.closest(".frame");
      if (head.right > frame.getBoundingClientRect().right) frame.scrollLeft += head.left - fixed.right; // a link may sort by what is out of sight
    }
  };
  // The bodies are filled and emptied aside, and come to the page at once.
  const lay = (which, found) => {
    const now = shown[which];
    if (now.length === found.length && now.every((row, i) => row === found[i])) return;
    shown[which] = found;
    const bodies = [];
    for (let i = 0; i === 0 || i < found.length; i += PART) {
      const body = document.createElement("tbody");
      body.append(...found.slice(i, i + PART));
      if (i + PART <= found.length) body.className = "part";
      bodies.push(body);
    }
    (tables[which].closest("section") ?? tables[which].parentElement).hidden = !found.length;
    for (const body of [...tables[which].tBodies]) body.remove();
    tables[which].append(...bodies);
  };

  const NAMED = { q: "with", size: "size", licence: "licence", type: "type", precision: "precision", chat: "template", org: "organization", since: "since", rows: "rows" };
  const words = (name, value) => {
    if (name === "size") {
      const [low, high] = sizes(value);
      return high === Infinity ? `from ${low} billion` : low ? `${low} to ${high} billion` : `up to ${high} billion`;
    }
    if (name === "rows") return [...$("rows").options].find((one) => one.value === value).textContent;
    return name === "q" ? `“${value}” in their names` : name === "licence" || name === "type" ? listed(value).join(" or ") : value;
  };
  const filter = (state, tests) => {
    const fits = fitting(tests);
    sorted.forEach((all, which) => lay(which, all.filter(fits)));
    const [column, falls] = sorting(state);
    const order = column < 0 ? "" : `, sorted by ${titleOf(heads[column])}, ${falls ? "descending" : "ascending"}`;
    const best = shown.flat().length < rows.length && inOrder[0].find((row) => isRanked(row) && fits(row));
    const set = Object.keys(tests).map((name) => {
      const [label,,, why] = PRESETS.find((one) => one[1] === name && one[2] === state.get(name)) ?? [];
      return why ? `, ${label}: ${why}` : `, ${NAMED[name]} ${words(name, state.get(name))}`; // a finger does not hover
    });
    const isNone = !shown.flat().length;
    $("said-of-rows").replaceChildren(`${grouped(shown.flat().length)} of ${grouped(rows.length)} rows shown${set.join("")}`, make("span", order, { class: "order" }), ". ");
    if (isNone) $("said-of-rows").append("Change a filter, or reset them all.");
    $("status").classList.toggle("all", !set.length && column < 0);
    $("among").hidden = !set.length || isNone;
    $("csv").hidden = $("link").hidden || isNone || location.protocol === "file:"; // a page on a disk may not read the file beside it
    if (!$("whole")) return;
    $("whole").hidden = set.length > 0 && !best;
    if (!best && set.length) return;
    const average = make("span", "", { class: "of-average" }); // a phone has no room for two firsts
    average.append(...(best ? first(best) : ofAll));
    $("whole").replaceChildren(average, ...led(column, falls));
  };
  // What a reader takes away of a filter: its best row, whether the others are worse by the numbers shown, what to know of it.
  const ofAll = [...($("whole")?.childNodes ?? [])];
  const half = (row) => Number.parseFloat(text(row, 2).split("±")[1]);
  const linked = (row) => make("a", text(row, 1), { href: row.cells[1].querySelector("a").getAttribute("href") });
  const doubts = (row) => { // as the marks on it say
    const size = row.querySelector(".size.warned");
    const warnings = Number(row.dataset.warnings ?? 0);
    const warned = row.cells[2].matches(".warned") && (row.dataset.doubt ?? (warnings ? `${warnings} warning${warnings > 1 ? "s" : ""} on its page` : "a warning on its page"));
    return [
      ...[...row.querySelectorAll(".odd:not(.group)")].map((cell) => `${titleOf(heads[cell.cellIndex])} is far from what its other columns make likely`),
      row.querySelector(".twin") && "its values are all equal to another row's",
      size && `${size.textContent} billion parameters, but ${size.title}`,
      warned,
    ].filter(Boolean);
  };
  const led = (column, falls) => { // the table begins with another row than the sentence where another column sorts it
    const row = shown[0][0];
    if (column < 3 || heads[column].dataset.kind === "text" || !row || key(row, column) === null) return [];
    return [make("span", ` ${falls ? "Highest" : "Lowest"} in ${titleOf(heads[column])}: `), linked(row), `, ${text(row, column).split("±")[0].trim()}.`];
  };
  const first = (best) => {
    const others = shown.flat().filter((row) => row !== best && isRanked(row));
    const alike = others.filter((row) => !(key(best, 2) - key(row, 2) > Math.hypot(half(best), half(row)))).length;
    const verdict = alike
      ? [make("span", `Not separable from ${grouped(alike)} other${alike > 1 ? "s" : ""} of these.`, { class: "quiet caveat" }), " "]
      : others.length ? [make("span", "Better than all others of these.", { class: "quiet claim" }), " "] : [];
    const found = doubts(best);
    const isSound = (row) => "usual" in row.dataset || !doubts(row).length; // most rows have a usual mark
    const next = !isSound(best) && sorted.flat().filter((row) => shown.flat().includes(row) && isRanked(row) && isSound(row)).sort((one, other) => key(other, 2) - key(one, 2))[0];
    const hasError = !Number.isNaN(half(best));
    return [
      "Of these, ", linked(best), " is first with ", make("strong", text(best, 2).split("±")[0].trim()),
      ...(hasError ? [" ", make("small", `±${halfUp(half(best), 1)}`), ". ", ...verdict] : [". "]),
      make("span", hasError ? `Rank ${best.cells[0].dataset.ranks ?? text(best, 0)} of all.` : `Place ${inOrder[0].indexOf(best) + 1} of all.`, { class: "quiet" }),
      ...(found.length ? [" ", make("span", `To look at: ${found.join("; ")}.`, { class: "doubt" })] : []),
      ...(next ? [" The first of these without such a mark is ", linked(next), " with ", make("strong", text(next, 2).split("±")[0].trim()), "."] : []),
    ];
  };

  let hidden = new Set();
  let beside = [];
  let seen = []; // the columns after the average that are shown, or could be on a phone
  const all = () => [...tables.map((table) => table.tHead.rows[0]), ...rows];
  const choose = (state) => {
    const wanted = new Set(listed(state.get("hide")).filter((name) => columnOf(name) > -1 && columnOf(name) !== 1));
    for (const box of $("columns").querySelectorAll("input")) box.checked = !wanted.has(box.value);
    names.forEach((name, column) => {
      if (wanted.has(name) === hidden.has(name)) return;
      for (const row of all()) row.cells[column].hidden = wanted.has(name);
    });
    hidden = wanted;
    const open = openIn(state);
    const asked = columnOf(state.get("beside") || (isNarrow.matches && (state.get("sort")?.replace(/^-/, "") || [...open][0])) || ""); // a phone begins where a link points
    const isFolded = (column) => groups.some((head, place) => heads[column].classList.contains(`g${place}`) && !open.has(head.dataset.name));
    seen = names.map((_, column) => column).filter((column) => column > 2 && !wanted.has(names[column]) && !isFolded(column));
    const first = asked > 2 ? asked : seen[0];
    const next = seen[(seen.indexOf(first) + 1) % seen.length];
    const near = isNarrow.matches ? [first, next] : asked > 2 ? [asked] : []; // a phone has room for two
    for (const table of tables) table.classList.toggle("chosen", isNarrow.matches);
    if (near.join() === beside.join()) return;
    for (const column of beside) for (const row of all()) row.cells[column].classList.remove("beside");
    for (const column of near) for (const row of all()) row.cells[column]?.classList.add("beside");
    beside = near;
  };

  // The names give or take what the column at the edge of the frame lacks: it is whole, or out of sight.
  const LEAST_NAME = 190; // pixels, where the screen has room for that
  const fit = () => {
    for (const table of tables) {
      table.style.removeProperty("--name");
      if (isNarrow.matches) continue;
      const cells = headsIn(table);
      const name = cells[1].offsetWidth;
      let past = -table.closest(".frame").clientWidth;
      for (const cell of [...cells.slice(0, 3), ...cells.slice(3).sort((one, other) => other.matches(".beside") - one.matches(".beside"))]) {
        const width = cell.getBoundingClientRect().width;
        past += width;
        if (past < 1) continue;
        table.style.setProperty("--name", `${name - past >= Math.min(LEAST_NAME, 0.85 * name) ? name - past : name + width - past}px`);
        break;
      }
    }
  };
  // How many of the columns are in sight: a shade alone does not say that more follow.
  const extend = () => {
    const frame = tables[0].closest(".frame").getBoundingClientRect();
    const fixed = heads[2].getBoundingClientRect().right;
    const places = isNarrow.matches && shown.flat().length ? beside.map((column) => seen.indexOf(column) + 1) : [];
    const inSight = !shown.flat().length ? seen.length : seen.map((column) => heads[column].getBoundingClientRect()).filter((one) => one.left > fixed - 2 && one.right < frame.right + 2).length;
    const said = places.length ? `${places.join("–")} of ${seen.length}` : `${inSight} of ${seen.length} columns in sight; scroll`;
    $("extent").textContent = seen.length > (places.length || inSight) ? said : "";
    $("near").hidden = seen.length <= places.length || !shown.flat().length;
    (isNarrow.matches ? $("near") : $("controls")).append($("extent"));
    $("extent").classList.toggle("above", $("chips").offsetTop > $("q").offsetTop + $("q").offsetHeight / 2); // where the chips have a line of their own
  };

  // The name of a group stands over as many of its columns as are shown, from the first of them on.
  const nameOf = (head) => head.querySelector("small")?.textContent;
  const span = () => {
    for (const table of tables) {
      if (!table.tHead.querySelector(".task > small")) continue;
      let first = null;
      for (const head of headsIn(table).filter((one, column) => seen.includes(column) && one.matches(".task"))) {
        const isNext = first && nameOf(head) === nameOf(first) && !head.matches(".beside");
        head.classList.toggle("first", !isNext);
        if (!isNext) first = head;
        first.style.setProperty("--span", isNext ? Number(first.style.getPropertyValue("--span")) + 1 : 1);
      }
    }
  };

  const listeners = [];
  const show = () => {
    const state = read();
    if (["precision", "chat", "org", "licence", "type"].some((id) => state.get(id)) || !$("panel").hidden) offer();
    if (document.activeElement !== $("q")) $("q").value = state.get("q") || "";
    for (const id of CHOICES) {
      if (id in of && state.get(id) && ![...$(id).options].some((one) => one.value === state.get(id))) $(id).append(make("option", state.get(id), { value: state.get(id) }));
      $(id).value = state.get(id) || "";
    }
    for (const id of ["licence", "type"].filter($)) {
      const wanted = new Set(id === "licence" && state.get(id) === "open" ? openLicences : listed(state.get(id)));
      for (const box of $(id).querySelectorAll("input")) box.checked = wanted.has(box.value);
    }
    if ($("from") && ![$("from"), $("to")].includes(document.activeElement)) {
      const [low, high] = state.get("size") ? sizes(state.get("size")) : [0, Infinity];
      $("from").value = low || "";
      $("to").value = high === Infinity ? "" : high;
    }
    $("reset").hidden = $("link").hidden = ![...state].some(([name, value]) => value && !["open", "beside"].includes(name)); // which the heads have
    const isTinted = state.get("tint") !== "off";
    $("tint")?.setAttribute("aria-pressed", String(isTinted));
    for (const table of tables) table.classList.toggle("tinted", isTinted);
    const tests = testsOf(state);
    choose(state);
    $("beside").value = names[beside[0] ?? 3] || "";
    unfold(state);
    span();
    fit();
    sort(state);
    filter(state, tests);
    count(state, tests);
    extend();
    for (const link of document.querySelectorAll("a.switch")) {
      link.href = link.getAttribute("href").split(/[?#]/)[0] + (state.size ? mark + queryOf(state) : "");
    }
    for (const listener of listeners) listener(state);
  };
  const change = (values, isStep) => {
    const state = read();
    for (const [name, value] of Object.entries(values)) {
      if (value) state.set(name, value);
      else state.delete(name);
    }
    write(state, isStep);
    show();
  };

  let waits;
  const soon = (act) => {
    clearTimeout(waits);
    waits = setTimeout(act, PAUSE);
  };
  $("q").addEventListener("input", () => soon(() => change({ q: $("q").value }, false)));
  for (const id of ["from", "to"].filter($)) {
    $(id).addEventListener("wheel", () => $(id).blur()); // a wheel scrolls the page, and not the number
    $(id).addEventListener("input", () => soon(() => change({ size: $("from").value || $("to").value ? `${$("from").value}-${$("to").value}` : "" }, false)));
  }
  for (const id of CHOICES) $(id).addEventListener("change", () => change({ [id]: $(id).value }, true));
  $("filters").addEventListener("click", () => {
    $("panel").hidden = !$("panel").hidden;
    $("filters").setAttribute("aria-expanded", String(!$("panel").hidden));
    show();
  });
  $("beside").addEventListener("change", () => change({ beside: $("beside").value === names[3] ? "" : $("beside").value }, true));
  for (const [id, step] of [["before", -2], ["after", 2]]) {
    $(id).addEventListener("click", () => {
      const at = seen.indexOf(beside[0]);
      const next = at + step < 0 ? (at > 0 ? 0 : seen.length - 1) : at + step < seen.length ? at + step : 0;
      change({ beside: names[seen[next]] }, false);
    });
  }
  $("tint")?.addEventListener("click", () => change({ tint: read().get("tint") ? "" : "off" }, true));
  $("reset").addEventListener("click", () => {
    write(new URLSearchParams(), true);
    show();
    $("q").focus({ preventScroll: true }); // the button is gone
    $("q").value = "";
  });
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  document.addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.target.matches("input:not([type=checkbox]), select, textarea")) return;
    event.preventDefault();
    $("q").focus();
  });
  addEventListener("popstate", show);
  addEventListener("hashchange", show);
  isNarrow.addEventListener("change", show);
  addEventListener("resize", () => soon(() => { fit(); extend(); }));
  tables[0].closest(".frame").addEventListener("scroll", extend, { passive: true });

  const MARKS = { warned: "has a warning that not every row has", twin: "its values are all equal to another row's", odd: "far from what the row's other columns make likely" };
  for (const [kind, said] of Object.entries(MARKS)) {
    for (const cell of document.querySelectorAll(`.board td.${kind}:not(.size)`)) cell.title += `${cell.title && "; "}${cell.matches(".group") ? "a score in it is " : ""}${(kind === "warned" && cell.parentElement.dataset.doubt) || said}`;
  }

  globalThis.page.board = {
    heads, names, tables, text, isRanked, half, change, shortOf,
    all: inOrder,
    rows: () => shown.flat(),
    columns: () => heads.map((_, i) => i).filter((i) => !hidden.has(names[i])),
    place: (row) => rows.indexOf(row),
    isFiltered: (state) => Object.keys(testsOf(state)).length > 0,
    onShow: (listener) => {
      listeners.push(listener);
      listener(read());
    },
  };
  $("controls").hidden = $("q").closest("label").hidden; // one or two rows need none
  $("status").hidden = false;
  show();
  const opened = groups.find((head) => listed(read().get("open")).includes(head.dataset.name));
  if (opened && columnOf(read().get("sort")?.replace(/^-/, "")) < 0) bring(opened);
  const frame = tables[0].closest(".frame"); // back from the page of a row, the table stands where it stood
  addEventListener("pagehide", () => history.replaceState({ top: frame.scrollTop }, ""));
  if (history.state?.top) frame.scrollTop = history.state.top;
})();
