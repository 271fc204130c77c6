// The board: sort, filter, choice of columns and tint; all on what the page shows without this script.
"use strict";
(() => {
  const { $, make, mark, read, write, text: queryOf } = globalThis.page;
  const tables = [...document.querySelectorAll("table.board")];
  const inOrder = tables.map((table) => [...table.tBodies].flatMap((body) => [...body.rows]));
  const shown = inOrder.map((all) => [...all]); // as they stand on the page, from the top down
  const rows = inOrder.flat();
  const PART = 25; // rows of one body, as the template has them: what is far from the screen is not laid out
  const heads = [...tables[0].tHead.rows[0].cells];
  const names = heads.map((head) => head.dataset.name);
  const grouped = (count) => count.toLocaleString("en");
  // What not every visit needs is made when it is asked for the first time.
  const once = (prepare) => {
    let made;
    return () => (made ??= prepare());
  };
  const collator = once(() => new Intl.Collator("en", { numeric: true }));
  const text = (row, column) => row.cells[column].textContent.trim();
  const models = once(() => new Map(rows.map((row) => [row, text(row, 1).toLowerCase()])));
  const columnOf = (name) => names.indexOf(name);
  // A board has the filters of what is known of its models.
  const CHOICES = ["size", "precision", "chat", "licence", "type", "rows", "org", "since"].filter($);
  const filters = Object.fromEntries(["precision", "chat", "licence", "type"].filter($).map((id) => [id, columnOf(id)]));
  const organization = (row) => (text(row, 1).includes("/") ? text(row, 1).split("/")[0] : "");

  // A choice of several is one text, as an address has it: "apache-2.0,mit".
  const wantedOf = (id, state) => (state.get(id) || "").split(",").filter(Boolean);
  const chosen = (id) => ($(id).multiple ? [...$(id).selectedOptions].map((option) => option.value).join(",") : $(id).value);
  const select = (id, state) => {
    if (id in filters || id === "org") { // what a link asks for is seen, also where no row has it
      fill(id, wantedOf(id, state).filter((value) => ![...$(id).options].some((option) => option.value === value)));
    }
    if (chosen(id) === (state.get(id) || "")) return;
    if (!$(id).multiple) $(id).value = state.get(id) || "";
    else for (const option of $(id).options) option.selected = wantedOf(id, state).includes(option.value);
  };

  const fill = (id, values) => {
    for (const value of [...new Set(values)].filter(Boolean).sort(collator().compare)) $(id).append(make("option", value, { value }));
  };
  const offer = once(() => {
    for (const [id, column] of Object.entries(filters)) fill(id, rows.map((row) => text(row, column)));
    fill("org", rows.map(organization));
    return true;
  });

  heads.forEach((head, column) => {
    const title = head.querySelector("span");
    const button = make("button", "", { type: "button" });
    button.append(...title.cloneNode(true).childNodes);
    title.before(button);
    title.className = "printed"; // a head that is repeated on paper has its texts, and not its buttons
    button.addEventListener("click", () => {
      const [sorted, falls] = sorting(read());
      const first = head.dataset.kind === undefined;
      change({ sort: `${(sorted === column ? !falls : first) ? "-" : ""}${names[column]}` }, true);
    });
    if (column === 1) return;
    const label = make("label", ` ${title.textContent}`);
    const box = make("input", "", { type: "checkbox", value: names[column] });
    label.prepend(box);
    $("columns").append(label, " ");
    box.addEventListener("change", () => {
      const boxes = [...$("columns").querySelectorAll("input:not(:checked)")];
      change({ hide: boxes.map((one) => one.value).join(",") }, true);
    });
  });

  const sorting = (state) => {
    const asked = state.get("sort") || "";
    const column = columnOf(asked.replace(/^-/, ""));
    return [column, asked.startsWith("-")];
  };
  // A rank sorts by its best end; what is missing stands last, whichever way the others go.
  const key = (row, column) => {
    const value = text(row, column);
    if (heads[column].dataset.kind === "text") return value === "–" || !value ? null : value;
    const number = Number.parseFloat(value);
    return Number.isNaN(number) ? null : number;
  };
  const compareKeys = (one, other) => (typeof one === "string" ? collator().compare(one, other) : one - other);
  let sortedBy = "";
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
      [...table.tHead.rows[0].cells].forEach((head, place) => {
        if (place === column) head.setAttribute("aria-sort", falls ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      if (column < 0) continue;
      const past = table.tHead.rows[0].cells[column].getBoundingClientRect().right - table.closest(".frame").getBoundingClientRect().right;
      if (past > 0) table.closest(".frame").scrollLeft += past + 4; // a link may sort by what is out of sight
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

  const places = once(() => new Map(rows.map((row, place) => [row, place])));
  const filter = (state) => {
    const parts = (state.get("q") || "").toLowerCase().split(/\s+/).filter(Boolean);
    const since = $("since").value; // "" where a link has no date
    const date = columnOf("date");
    const kind = state.get("rows") || "";
    const wanted = {
      ranked: (row) => key(row, 0) !== null,
      incomplete: (row) => key(row, 0) === null,
      follows: (row) => text(row, columnOf("evidence")).includes("follows"),
      samples: (row) => /samples|rescored|remeasured/.test(text(row, columnOf("evidence"))),
      rescored: (row) => /rescored|remeasured/.test(text(row, columnOf("evidence"))),
      clean: (row) => text(row, columnOf("warnings")) === "0",
      warned: (row) => text(row, columnOf("warnings")) !== "0",
    }[kind] || (() => true);
    const equal = Object.entries(filters).map(([id, column]) => [column, wantedOf(id, state)]).filter(([, values]) => values.length);
    const org = state.get("org");
    const most = Number.parseFloat(state.get("size"));
    const isSmall = (row) => { // a size filter leaves out rows of unknown size
      const size = key(row, columnOf("size"));
      return size !== null && size <= most;
    };
    const fits = (row) => wanted(row) && parts.every((part) => models().get(row).includes(part))
      && equal.every(([column, values]) => values.includes(text(row, column)))
      && (Number.isNaN(most) || isSmall(row))
      && (!org || organization(row) === org)
      && (!since || text(row, date) >= since);
    sorted.forEach((all, which) => lay(which, all.filter(fits)));
    const [column, falls] = sorting(state);
    const order = column < 0 ? "" : `, sorted by ${heads[column].querySelector("button").textContent}, ${falls ? "descending" : "ascending"}`;
    const best = shown.flat().length < rows.length && inOrder[0].find((row) => key(row, 2) !== null && fits(row));
    const unitOf = (node) => (node.nodeType === Node.TEXT_NODE ? node.textContent.trimEnd() : "");
    const words = ({ selectedOptions: options, value }) => (options ? [...options].map((one) => one.textContent).join(" or ") : value);
    const set = labels().filter((label) => chosen(label.control.id))
      .map((label) => `, ${label.firstChild.textContent.trim().toLowerCase()} ${words(label.control)}${unitOf(label.lastChild)}`);
    $("status").replaceChildren(`${grouped(shown.flat().length)} of ${grouped(rows.length)} rows shown${set.join("")}`, make("span", order, { class: "order" }), ". ");
    if (best) {
      const link = make("a", text(best, 1), { href: best.cells[1].querySelector("a").getAttribute("href") });
      $("status").append("Best average of these: ", link, `, ${praise(best)}`);
    } else if (!shown.flat().length) $("status").append("Change a filter, or reset them all.");
    if (!$("whole")) return;
    $("whole").hidden = !set.length; // what is first of the whole board need not be shown
    $("whole").parentElement.classList.toggle("rest", set.length > 0);
  };
  // What a reader takes away of a filter: its best row, whether the others are worse by the numbers shown, what to know of it.
  const half = (row) => Number.parseFloat(text(row, 2).split("±")[1]);
  const praise = (best) => {
    const others = shown.flat().filter((row) => row !== best && key(row, 2) !== null);
    const alike = others.filter((row) => !(key(best, 2) - key(row, 2) > Math.hypot(half(best), half(row)))).length;
    const verdict = alike ? `not separable from ${grouped(alike)} other${alike > 1 ? "s" : ""} of these` : others.length ? "better than all others of these" : "";
    const warnings = key(best, columnOf("warnings"));
    const warned = warnings ? `${warnings} warning${warnings > 1 ? "s" : ""} on its page` : "";
    const size = best.cells[columnOf("size")]?.title; // says that it is not the one in the name
    return [`${text(best, 2)}, rank ${text(best, 0)}`, Number.isNaN(half(best)) ? "" : verdict, warned, size && `${text(best, columnOf("size"))} billion parameters, ${size}`].filter(Boolean).join("; ") + ".";
  };

  const labels = () => [...document.querySelectorAll("#controls label:not(fieldset label)")];

  let hidden = new Set();
  const choose = (state) => {
    const wanted = new Set((state.get("hide") || "").split(",").filter((name) => columnOf(name) > -1 && columnOf(name) !== 1));
    for (const box of $("columns").querySelectorAll("input")) box.checked = !wanted.has(box.value);
    names.forEach((name, column) => {
      if (wanted.has(name) === hidden.has(name)) return;
      for (const row of [...tables.map((table) => table.tHead.rows[0]), ...rows]) row.cells[column].hidden = wanted.has(name);
    });
    hidden = wanted;
  };

  const show = () => {
    const state = read();
    if ([...Object.keys(filters), "org"].some((id) => state.get(id))) offer();
    for (const id of ["q", ...CHOICES]) select(id, state);
    $("reset").hidden = ![...state.values()].some(Boolean);
    const isTinted = state.get("tint") !== "off";
    $("tint").setAttribute("aria-pressed", String(isTinted));
    for (const table of tables) table.classList.toggle("tinted", isTinted);
    choose(state);
    sort(state);
    filter(state);
    for (const link of document.querySelectorAll("a.switch")) {
      link.href = link.getAttribute("href").split(/[?#]/)[0] + (state.size ? mark + queryOf(state) : "");
    }
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

  $("size")?.addEventListener("wheel", () => $("size").blur()); // a wheel scrolls the page, and not the number
  $("q").addEventListener("input", () => change({ q: $("q").value }, false));
  for (const id of CHOICES) $(id).addEventListener(id === "size" ? "input" : "change", () => change({ [id]: chosen(id) }, id !== "size"));
  for (const id of [...Object.keys(filters), "filters"]) for (const kind of ["focusin", "pointerdown"]) $(id).addEventListener(kind, offer);
  $("licence")?.addEventListener("mousedown", (event) => { // a click adds or takes away one, without Ctrl
    if (!event.target.matches("option")) return;
    event.preventDefault();
    event.target.selected = !event.target.selected;
    const top = $("licence").scrollTop;
    requestAnimationFrame(() => { $("licence").scrollTop = top; });
    change({ licence: chosen("licence") }, true);
  });
  $("tint").addEventListener("click", () => change({ tint: read().get("tint") ? "" : "off" }, true));
  $("reset").addEventListener("click", () => {
    write(new URLSearchParams(), true);
    show();
    $("filters").firstElementChild.focus(); // the button is gone
  });
  $("controls").addEventListener("submit", (event) => event.preventDefault());
  addEventListener("popstate", show);
  addEventListener("hashchange", show);

  globalThis.page.board = {
    heads,
    rows: () => shown.flat(),
    columns: () => heads.map((_, i) => i).filter((i) => !hidden.has(names[i])),
    place: (row) => places().get(row),
  };
  $("controls").hidden = false;
  show();
  const frame = tables[0].closest(".frame"); // back from the page of a row, the table stands where it stood
  addEventListener("pagehide", () => history.replaceState({ top: frame.scrollTop }, ""));
  if (history.state?.top) frame.scrollTop = history.state.top;
})();
