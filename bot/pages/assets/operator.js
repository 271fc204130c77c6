// Keep a page of the service up to date: ask for it again, and put what changed into its place.
"use strict";
(() => {
  // Milliseconds; a page on which nothing happens, or that gets no answer, asks less and less often.
  const OFTEN = 5000;
  const SELDOM = 30000;
  let wait = OFTEN;
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
    if (!found) return false;
    const opened = new Set([...place.querySelectorAll("details[open] > summary")].map(nameOf));
    for (const one of found.querySelectorAll("details > summary")) one.parentElement.open = opened.has(nameOf(one));
    if (found.innerHTML === place.innerHTML) return false;
    const selected = getSelection();
    if (selected && !selected.isCollapsed && place.contains(selected.anchorNode)) return true; // somebody copies from it
    const focused = place.contains(document.activeElement) ? nameOf(document.activeElement) : null;
    place.replaceChildren(...found.childNodes);
    if (focused) [...place.querySelectorAll("a, button, summary, [tabindex]")].find((one) => nameOf(one) === focused)?.focus({ preventScroll: true });
    return true;
  };
  const keep = async () => {
    if (!document.hidden) {
      try {
        wait = (await renew()) ? OFTEN : Math.min(wait * 1.5, SELDOM);
        say("This page keeps itself up to date.");
      } catch {
        wait = Math.min(wait * 2, SELDOM);
        say("The service does not answer; this page may be out of date.");
      }
    }
    later();
  };
  let timer;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(keep, wait * (0.7 + 0.3 * Math.random())); // so that many who watch do not ask at one moment
  };
  addEventListener("visibilitychange", () => {
    wait = OFTEN;
    later();
  });
  later();
})();
