// What the scripts of a board share: elements, the state in the address, data on demand, one stop for a row of buttons, ranks.
"use strict";
globalThis.page = (() => {
  const $ = (id) => document.getElementById(id);
  const make = (name, text, attributes = {}) => {
    const node = document.createElement(name);
    node.textContent = text;
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  // As `breakable` of bot/pages/titles.py: a text that may break after the signs that join its words.
  const JOINT = /(?<=[/_:-])(?=\w)|(?<=\.)(?=[A-Za-z])/;
  const BREAK = new RegExp(`${JOINT.source}|(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])`);
  const LONG = 16;
  const breakable = (text) =>
    text
      .split(JOINT)
      .flatMap((word) => (word.length > LONG ? word.split(BREAK) : [word]))
      .flatMap((part, i) => (i ? [document.createElement("wbr"), part] : [part]));
  // The state is the query of the address; from a disk, where a page may not change its query, the fragment.
  const mark = location.protocol === "file:" ? "#" : "?";
  const read = () => new URLSearchParams(location.search || location.hash.slice(1));
  const text = (state) => state.toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
  const write = (state, isStep) => {
    const method = isStep ? "pushState" : "replaceState";
    try {
      history[method](null, "", state.size ? `?${text(state)}` : location.pathname);
    } catch {
      history[method](null, "", `#${text(state)}`);
    }
  };
  const loaded = new Map();
  const load = (name) => { // a page on a disk may load a script, and no data
    if (!loaded.has(name)) {
      loaded.set(name, new Promise((resolve, reject) => {
        const script = make("script", "", { src: name });
        script.addEventListener("load", resolve);
        script.addEventListener("error", reject);
        document.head.append(script);
      }));
    }
    return loaded.get(name);
  };
  // Many buttons are one stop of the Tab key; the arrows go from one to the next.
  const rove = (place) => {
    const every = () => [...place.querySelectorAll("button, a")];
    const all = () => every().filter((one) => one.checkVisibility());
    every().filter((one) => !one.closest("[hidden]")).forEach((one, i) => one.setAttribute("tabindex", i ? "-1" : "0"));
    place.addEventListener("focusin", (event) => {
      for (const one of every()) one.setAttribute("tabindex", one === event.target ? "0" : "-1");
    });
    place.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      const found = all();
      const next = found[found.indexOf(event.target) + step];
      if (!next) return;
      event.preventDefault();
      next.focus();
    });
  };
  // As `rank_ranges` of bot/publishing/board.py, for rows of compare-data.js from the best down: [best, worst] of each.
  const TIE = 1.96;
  // As `least_wins` of bot/publishing/over_tasks.py: the exact sign test of two rows over their tasks.
  const FEWEST = 6;
  const LEVEL = 0.05;
  const signP = (wins, losses) => {
    const n = wins + losses;
    let term = 1;
    let sum = 0;
    for (let k = 0; k <= Math.min(wins, losses); k += 1) {
      sum += term;
      term *= (n - k) / (k + 1);
    }
    return wins === losses ? 1 : Math.min(1, (2 * sum) / 2 ** n);
  };
  const won = (one, other, places) => places.filter((i) => one.tasks[i] && other.tasks[i] && one.tasks[i][0] > other.tasks[i][0]).length;
  // As `tasks_of_ranks` of bot/publishing/board.py: the places of the tasks that count, none where ranks are not over tasks.
  const tasksOfRanks = (rows) => {
    if (!rows.length || rows.some((row) => row.error !== null)) return [];
    const places = new Map(rows[0].tasks.map((_, i) => [rows.map((row) => row.tasks[i]?.[0]).join(), i]));
    return places.size < FEWEST ? [] : [...places.values()];
  };
  const ranges = (rows) => {
    const errors = rows.map((row) => row.error ?? 0);
    const places = tasksOfRanks(rows);
    return rows.map((row, i) => {
      const isBetter = (one, other) => {
        const [wins, losses] = [won(one, other, places), won(other, one, places)];
        return wins > losses && signP(wins, losses) < LEVEL;
      };
      const isApart = places.length
        ? (other, j) => j !== i && (j < i ? isBetter(other, row) : isBetter(row, other))
        : (other, j) => Math.abs(row.average - other.average) > TIE * Math.hypot(errors[i], errors[j]);
      const apart = rows.map(isApart);
      return [1 + apart.filter((one, j) => one && j < i).length, rows.length - apart.filter((one, j) => one && j > i).length];
    });
  };
  // As `half_up` of bot/evaluation/rounding.py.
  const halfUp = (value, digits) => {
    const unit = 10 ** digits;
    const most = Math.round(Number((Math.abs(value) * unit).toPrecision(12))) / unit;
    return (value < 0 && most ? -most : most).toFixed(digits);
  };
  return { $, make, BREAK, breakable, mark, read, write, text, load, rove, ranges, signP, halfUp };
})();
