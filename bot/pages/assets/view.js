// What a reader does with the rows that are shown: rank them anew, open one in place, look at a number, take the link along.
"use strict";
(() => {
  const { $, make, board, load, ranges } = globalThis.page;
  const { heads, names, tables, text, isRanked } = board;
  const isNarrow = matchMedia("(max-width: 36rem)");
  // The place by the average stands above the ranks that chance leaves a row; where they are the same, once.
  const setPlace = (row, place) => {
    if (isRanked(row) && row.cells[0].firstChild.data !== String(place)) row.cells[0].dataset.place = place;
    else delete row.cells[0].dataset.place;
  };
  const rowOf = (row) => globalThis.leaderboard.rows[board.place(row)];

  // ---- the ranks among what is shown ----
  const restore = () => {
    for (const row of board.all.flat()) {
      if (row.cells[0].dataset.ranks === undefined) continue;
      row.cells[0].firstChild.data = row.cells[0].dataset.ranks;
      delete row.cells[0].dataset.ranks;
      setPlace(row, board.place(row) + 1);
    }
  };
  let asked = 0; // the last view counts, whichever was ready first
  const rank = async (state) => {
    asked += 1;
    const mine = asked;
    restore();
    const isOn = state.get("ranks") === "shown" && board.isFiltered(state);
    $("anew").checked = isOn;
    if (!isOn) return;
    await load("compare-data.js");
    if (mine !== asked) return;
    const rows = board.rows().filter(isRanked).sort((one, other) => board.place(one) - board.place(other));
    ranges(rows.map(rowOf)).forEach(([best, worst], i) => {
      const cell = rows[i].cells[0];
      cell.dataset.ranks = cell.firstChild.data;
      cell.firstChild.data = best === worst ? String(best) : `${best}–${worst}`;
      setPlace(rows[i], i + 1);
    });
  };
  board.onShow(rank);
  $("anew").addEventListener("change", () => board.change({ ranks: $("anew").checked ? "shown" : "" }, true));

  const label = [...$("link").childNodes];
  $("link").addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      $("link").textContent = "Copied";
    } catch {
      $("link").textContent = "Copy it from the address bar";
    }
    setTimeout(() => $("link").replaceChildren(...label), 2000);
  });

  const SAME = "Another model has exactly these values."; // the warning of which a twin's sentence says more
  const ODD = "far from what the other columns of its row make likely";
  // ---- a number: its place in the column, how many answers were right, and the way to its task ----
  const taskOf = (name) => globalThis.leaderboard.ids.indexOf(name);
  const number = (row, column) => Number.parseFloat(text(row, column));
  const describe = async (cell) => {
    const [row, column] = [cell.parentElement, cell.cellIndex];
    const value = number(row, column);
    if (Number.isNaN(value)) return;
    const values = board.all.flat().map((one) => number(one, column)).filter((one) => !Number.isNaN(one));
    const isLow = heads[column].dataset.kind === "low";
    const before = values.filter((one) => (isLow ? one < value : one > value)).length;
    const said = [`${heads[column].title || heads[column].querySelector("span").textContent}: place ${before + 1} of ${values.length}`];
    await load("compare-data.js");
    const [,, , right, of] = rowOf(row).tasks[taskOf(names[column])] || [];
    if (of) said.push(`${right} of ${of} right`);
    if (cell.matches(".odd")) said.push(ODD);
    cell.title = said.join("; ");
  };
  const isScore = (cell) => cell?.matches?.("table.board tbody td") && heads[cell.cellIndex]?.querySelector("a")?.getAttribute("href").startsWith("columns/");
  const link = (cell) => { // the number leads to its task on the page of the row
    if (cell.querySelector("a") || Number.isNaN(Number.parseFloat(cell.textContent))) return;
    const href = `${cell.parentElement.cells[1].querySelector("a").getAttribute("href")}#task-${encodeURIComponent(names[cell.cellIndex])}`;
    const made = make("a", "", { href, tabindex: "-1" });
    made.append(cell.firstChild);
    cell.prepend(made);
    describe(cell);
  };
  document.addEventListener("pointerover", (event) => {
    const cell = event.target.closest("table.board tbody td, table.board tbody th");
    if (!cell) return;
    if (isScore(cell) && !isNarrow.matches) link(cell); // on a phone the whole row but its name opens
    else if (cell.cellIndex === 0 && isRanked(cell.parentElement)) cell.title = `Place ${cell.dataset.place ?? text(cell.parentElement, 0)} by its average; rank ${text(cell.parentElement, 0).replace("–", " to ")} of ${board.all.flat().filter(isRanked).length}: from the best to the worst place that chance leaves it`;
    else if (cell.matches("th") && !cell.title) cell.title = cell.textContent;
  });

  // ---- why a row is to look at ----
  const titleOf = (column) => heads[column].title || heads[column].querySelector("span").textContent;
  const valuesOf = (row) => heads.map((head, i) => (isScore(row.cells[i]) ? text(row, i) : "")).join();
  const reasons = (row) => {
    const found = [...row.querySelectorAll(".odd:not(.group)")].map((cell) => `${titleOf(cell.cellIndex)} ${text(row, cell.cellIndex)} is ${ODD}.`);
    if (row.querySelector(".twin")) {
      const equal = board.all.flat().filter((one) => one !== row && one.querySelector(".twin") && valuesOf(one) === valuesOf(row));
      found.push(`Its values are all equal to those of ${equal.slice(0, 3).map((one) => text(one, 1)).join(", ") || "another row"}.`);
    }
    const size = row.querySelector(".size.warned");
    if (size) found.push(`${size.textContent} billion parameters, but ${size.title}.`);
    const data = globalThis.leaderboard; // where it is there already
    const all = data ? data.texts[data.kinds[rowOf(row).kind][1]].replace(row.querySelector(".twin") ? SAME : "", "").trim() : "";
    const warned = row.dataset.doubt ? `${row.dataset.doubt}.` : all;
    if (row.cells[2].matches(".warned") && (warned || !data)) found.push(`It has a warning${warned ? `: ${warned}` : "."}`);
    return found;
  };
  const MOST_EXPLAINED = 100; // rows that say why they are listed
  const explain = async (state) => {
    if (state.get("rows") !== "look" || !board.isFiltered(state)) return;
    await load("compare-data.js");
    for (const row of board.rows().slice(0, MOST_EXPLAINED)) {
      if (row.nextElementSibling?.matches(".opened")) continue;
      const line = make("tr", "", { class: "opened why" });
      const cell = make("td", "", { colspan: String(heads.length) });
      cell.append(...reasons(row).map((why) => make("p", why)));
      line.append(cell);
      row.after(line);
    }
  };
  // ---- on a phone, a tap opens the tasks of a row below it ----
  const open = (row) => {
    const had = row.nextElementSibling?.matches(".opened:not(.why)") && row.nextElementSibling;
    for (const one of document.querySelectorAll("tr.opened:not(.why)")) one.remove();
    if (had) return;
    const lists = [document.createElement("dl")];
    const opened = new Map(); // the tasks of a group stand below its name
    for (const column of board.columns().filter((one) => one > 2)) {
      const head = heads[column];
      const title = head.querySelector("span").textContent;
      const group = head.dataset.holds ? title : head.querySelector("small")?.textContent;
      const value = make("dd", text(row, column), row.cells[column].matches(".odd") ? { class: "odd" } : {});
      if (group && !opened.has(group)) {
        const part = document.createElement("details");
        const name = make("summary", "");
        name.append(make("span", group), ...(head.dataset.holds ? [make("span", value.textContent, { class: value.className })] : []));
        part.append(name, document.createElement("dl"));
        opened.set(group, part.lastChild);
        lists.push(part);
      } else if (!group && lists.at(-1).matches("details")) lists.push(document.createElement("dl"));
      if (!head.dataset.holds) (group ? opened.get(group) : lists.at(-1)).append(make("dt", titleOf(column)), value);
    }
    const cell = make("td", "", { colspan: String(heads.length) });
    cell.append(make("a", text(row, 1), { href: row.cells[1].querySelector("a").getAttribute("href") }));
    const box = row.querySelector("input");
    const pick = make("button", "", { type: "button" });
    const say = () => { pick.textContent = box.checked ? "Picked to compare" : "Compare"; };
    pick.addEventListener("click", () => { box.click(); say(); });
    say();
    cell.append(pick, ...reasons(row).map((why) => make("p", why)), ...lists.filter((one) => one.firstChild));
    const line = make("tr", "", { class: "opened" });
    line.append(cell);
    row.after(line);
  };
  for (const table of tables) {
    let touched; // the place itself: of a tap beside a link the browser says that it was on the link
    table.addEventListener("pointerdown", (event) => { touched = document.elementFromPoint(event.clientX, event.clientY); });
    table.addEventListener("click", (event) => {
      const at = event.detail && touched ? touched : event.target;
      const row = at.closest("tbody tr:not(.opened)");
      if (!row || !isNarrow.matches || at.closest("a, input, button")) return;
      event.preventDefault();
      open(row);
    });
  }
  board.onShow((state) => {
    for (const one of document.querySelectorAll("tr.opened")) one.remove();
    explain(state);
  });
})();
