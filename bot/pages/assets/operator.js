// Keep a page of the service up to date: ask for it again, and put what changed into its place.
"use strict";
(() => {
  const EVERY = 5000; // milliseconds
  const place = document.getElementById("live");
  if (!place) return;
  const say = (words) => {
    const status = document.getElementById("live-status");
    if (status.textContent !== words) status.textContent = words;
  };
  const nameOf = (node) => node.id || node.getAttribute("href") || node.getAttribute("aria-label") || node.textContent;
  const renew = async () => {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const found = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("live");
    if (!found || found.innerHTML === place.innerHTML) return;
    const selected = getSelection();
    if (selected && !selected.isCollapsed && place.contains(selected.anchorNode)) return; // somebody copies from it
    const focused = place.contains(document.activeElement) ? nameOf(document.activeElement) : null;
    place.replaceChildren(...found.childNodes);
    if (focused) [...place.querySelectorAll("a, button, summary, [tabindex]")].find((one) => nameOf(one) === focused)?.focus({ preventScroll: true });
  };
  const keep = async () => {
    if (!document.hidden) {
      try {
        await renew();
        say("This page keeps itself up to date.");
      } catch {
        say("The service does not answer; this page is as it was.");
      }
    }
    setTimeout(keep, EVERY);
  };
  setTimeout(keep, EVERY);
})();
