// Find a rule by its words, and open the one that a link leads to.
"use strict";
(() => {
  const search = document.getElementById("find");
  const rules = [...document.querySelectorAll("details.rule")];
  document.getElementById("finder").hidden = false;
  search.addEventListener("input", () => {
    const words = search.value.toLowerCase().split(/\s+/);
    for (const rule of rules) rule.hidden = !words.every((word) => rule.textContent.toLowerCase().includes(word));
    for (const group of document.querySelectorAll(".rules")) group.hidden = !group.querySelector("details.rule:not([hidden])");
    document.getElementById("found").textContent = `${rules.filter((rule) => !rule.hidden).length} of ${rules.length}`;
  });
  const open = () => {
    const rule = document.getElementById(location.hash.slice(1))?.closest("details.rule");
    if (!rule) return;
    rule.open = true;
    rule.scrollIntoView();
  };
  addEventListener("hashchange", open);
  open();
})();
