// A button at each command and citation that copies it.
"use strict";
const [site] = /^https?:/.test(location.href) ? location.href.split(/\/(?:rows\/|about\.html)/) : [""];
for (const block of document.querySelectorAll("pre.here")) { // only the reader's browser knows where the site stands
  if (site) block.textContent = block.textContent.replaceAll("ADDRESS", site);
}
for (const block of document.querySelectorAll("pre")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.firstChild.data);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  block.append(button);
}
