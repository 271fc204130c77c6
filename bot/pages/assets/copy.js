// A button at each command and citation that copies it.
"use strict";
const [site] = /^https?:/.test(location.href) ? location.href.split(/\/(?:rows\/|about\.html)/) : [""];
for (const place of site ? document.querySelectorAll(".here") : []) { // only the reader's browser knows where the site stands
  if (place.matches("pre")) place.textContent = place.textContent.replaceAll("ADDRESS", site);
  else place.hidden = true;
}
for (const block of document.querySelectorAll("pre")) {
  const frame = document.createElement("div");
  frame.className = "copied";
  block.replaceWith(frame);
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not allowed";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  frame.append(block, button);
}
