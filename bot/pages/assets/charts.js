// The figures of the board answer: the nearest row by pointer, tap and keyboard; rows that are not shown are pale.
"use strict";
(() => {
  const { make, board } = globalThis.page;
  if (!board) return;
  const [WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [460, 240, 46, 12, 20, 44]; // as bot/pages/drawing.py has them
  const REACH = 30; // how far from a dot it answers
  const draw = (name, attributes) => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const PLACES = {
    size: (text) => Math.log10(Number.parseFloat(text) * 1e9),
    date: (text) => {
      const [year, month, day] = text.split("-").map(Number);
      return (year * 12 + month) * 31 + day - 1;
    },
  };
  const within = (share) => Math.min(1, Math.max(0, share));
  const notes = [...document.querySelectorAll("#charts figcaption")].map((caption) => {
    const note = make("small", "Pale: what the filter leaves out.");
    caption.append(note);
    return note;
  });
  const hrefOf = (row) => row.cells[1].querySelector("a").getAttribute("href");
  const nameOf = (row) => row.cells[1].querySelector("bdi > span").textContent;
  board.onShow((state) => { // the names of rows, and the lines of a forest
    const isFiltered = board.isFiltered(state);
    const now = new Set(board.rows().flatMap((row) => [hrefOf(row), nameOf(row)]));
    for (const note of notes) note.hidden = !isFiltered;
    for (const one of document.querySelectorAll("#charts svg > :is(a, .name)")) one.classList.toggle("pale", isFiltered && !now.has(one.getAttribute("href") ?? one.textContent));
  });
  for (const svg of document.querySelectorAll("svg[data-x]")) {
    const { x: kind, low, high, least, most } = svg.dataset;
    const column = board.names.indexOf(kind);
    const points = board.all.flat().filter(board.isRanked).map((row) => ({
      row,
      x: LEFT + within((PLACES[kind](board.text(row, column)) - low) / (high - low)) * (WIDTH - LEFT - RIGHT),
      y: HEIGHT - BOTTOM - within((Number.parseFloat(board.text(row, 2)) - least) / (most - least)) * (HEIGHT - BOTTOM - TOP),
    })).filter((point) => !Number.isNaN(point.x)).sort((one, other) => one.x - other.x || one.y - other.y);
    let open = points;
    let at = -1;
    const dots = svg.querySelector(".dots");
    const chosen = draw("path", { class: "dots" });
    dots.after(chosen);
    const ring = draw("circle", { class: "near", r: "7", visibility: "hidden" });
    svg.append(ring);
    const tip = make("div", "", { class: "tip", role: "status" });
    tip.hidden = true;
    svg.after(tip);
    svg.setAttribute("tabindex", "0");
    const hide = () => {
      tip.hidden = true;
      ring.setAttribute("visibility", "hidden");
    };
    const show = (place) => {
      at = place;
      const { row, x, y } = open[place];
      ring.setAttribute("cx", x);
      ring.setAttribute("cy", y);
      ring.setAttribute("visibility", "visible");
      const link = make("a", board.text(row, 1), { href: hrefOf(row), tabindex: "-1" });
      const where = `${board.text(row, column)}${kind === "size" ? " billion" : ""}`;
      tip.replaceChildren(link, make("br", ""), `${board.text(row, 2)}, rank ${board.text(row, 0)}; ${where}`);
      tip.hidden = false;
      const [frame, figure] = [svg.getBoundingClientRect(), svg.parentElement.getBoundingClientRect()];
      const scale = frame.width / WIDTH;
      tip.style.left = `${Math.max(0, Math.min(x * scale + 12, figure.width - tip.offsetWidth))}px`;
      tip.style.top = `${frame.top - figure.top + y * scale + 12}px`;
    };
    const nearest = (event) => {
      const frame = svg.getBoundingClientRect();
      const scale = frame.width / WIDTH;
      const [x, y] = [(event.clientX - frame.left) / scale, (event.clientY - frame.top) / scale];
      let best = -1;
      let off = REACH;
      open.forEach((point, i) => {
        const far = Math.hypot(point.x - x, point.y - y);
        if (far < off) [best, off] = [i, far];
      });
      return best;
    };
    svg.addEventListener("pointermove", (event) => {
      const found = nearest(event);
      if (found >= 0) show(found);
      else hide();
    });
    svg.addEventListener("click", (event) => { // a mouse has seen where it leads; a tap shows it first
      const found = nearest(event);
      if (found < 0) return hide();
      show(found);
      if (event.pointerType === "mouse") tip.querySelector("a").click();
    });
    svg.parentElement.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hide(); });
    svg.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1, ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (step && open.length) {
        event.preventDefault();
        show((at + step + open.length) % open.length);
      } else if (event.key === "Enter" && !tip.hidden) tip.querySelector("a").click();
      else if (event.key === "Escape") hide();
    });
    board.onShow((state) => {
      hide();
      at = -1;
      const isFiltered = board.isFiltered(state);
      const now = new Set(board.rows());
      open = isFiltered ? points.filter((point) => now.has(point.row)) : points;
      dots.classList.toggle("pale", isFiltered);
      chosen.setAttribute("d", isFiltered ? open.map(({ x, y }) => `M${Math.round(x)} ${Math.round(y)}h0`).join("") : "");
    });
  }
})();
