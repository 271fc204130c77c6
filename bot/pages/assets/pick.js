// Boxes that pick rows of the board, and a bar that leads to their comparison.
"use strict";
(() => {
  const MOST = 4; // rows that the comparison takes
  const { $, make, mark } = globalThis.page;
  const bar = $("picked");
  const picked = [];
  const nameOf = (row) => decodeURIComponent(row.cells[1].querySelector("a").getAttribute("href").slice("rows/".length, -".html".length));
  const show = (isFull = false) => {
    bar.hidden = picked.length === 0;
    if (bar.hidden) return;
    const clear = make("button", "Clear", { type: "button" });
    clear.addEventListener("click", () => {
      for (const box of picked.splice(0)) box.checked = false;
      show();
    });
    const words = `${picked.length} of at most ${MOST} picked${isFull ? ", so first take one away" : picked.length > 1 && matchMedia("(pointer: fine)").matches ? "; Enter compares them" : ""}. `;
    const names = picked.map((box) => encodeURIComponent(nameOf(box.closest("tr"))).replaceAll("%2F", "/"));
    const compare = make("a", "Compare", { href: `compare.html${mark}rows=${names.join(",")}`, class: "switch" });
    bar.replaceChildren(words, ...(picked.length > 1 ? [compare, " "] : ["Pick one more to compare. "]), clear);
    bar.className = "tools";
  };
  const boxes = [...document.querySelectorAll("table.board tbody tr")].map((row) => {
    const box = make("input", "", { type: "checkbox", "aria-label": `Pick ${row.cells[1].textContent}` });
    row.cells[0].append(box);
    return box;
  });
  addEventListener("pageshow", () => { // after Back, the browser has set the boxes as they were
    picked.splice(0, picked.length, ...boxes.filter((box) => box.checked));
    show();
  });
  document.addEventListener("change", (event) => {
    const box = event.target;
    if (!box.matches("table.board input")) return;
    const isFull = box.checked && picked.length === MOST;
    if (isFull) box.checked = false;
    else if (box.checked) picked.push(box);
    else picked.splice(picked.indexOf(box), 1);
    show(isFull);
  });
  document.addEventListener("click", (event) => { // the whole cell is a target
    if (!event.target.matches("table.board tbody td:first-child")) return;
    const box = event.target.querySelector("input");
    if (box?.checkVisibility()) box.click();
  });
  document.addEventListener("keydown", (event) => { // the bar stands thousands of stops behind the first rows
    if (event.key === "Enter" && event.target.matches("table.board input") && picked.length > 1) bar.querySelector("a").click();
  });
})();
