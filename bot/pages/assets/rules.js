// Find a rule by its words, and open the one that a link leads to.
"use strict";
(() => {
  const search = document.getElementById("find");
  const found = document.getElementById("found");
  const rules = [...document.querySelectorAll("details.rule")];
  const idle = document.querySelector(".idle");
  document.getElementById("finder").hidden = false;
  found.textContent = `${rules.length} rules`;
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const rule of rules) rule.hidden = !words.every((word) => rule.textContent.toLowerCase().includes(word));
    for (const group of document.querySelectorAll(".rules")) group.hidden = !group.querySelector("details.rule:not([hidden])");
    if (idle) idle.hidden = idle.querySelector(".rules").hidden;
    if (idle) idle.open = search.value.trim() !== "";
    found.textContent = `${rules.filter((rule) => !rule.hidden).length} of ${rules.length}`;
  });
  const open = () => {
    const rule = document.getElementById(location.hash.slice(1))?.closest("details.rule");
    if (!rule) return;
    rule.open = true;
    if (idle?.contains(rule)) idle.open = true;
    rule.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
})();
