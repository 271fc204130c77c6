// The comparison of two rows, as bot/evaluation/compare.py makes it: differences with their errors, and verdicts.
"use strict";
(() => {
  const { rows, ids, settings, texts, kinds, shapes } = globalThis.leaderboard;
  for (const row of rows) [row.settings, row.warnings] = kinds[row.kind]; // most rows were measured in one of a few ways
  // The arithmetic of bot/evaluation/statistics.py: Fisher's test, Newcombe's interval, Holm's correction.
  const LEVEL = 0.05;
  const Z = 1.959963984540054; // standard errors on each side of an interval of 95 %
  const SEEN = 1 + 0.8416212335729143 / Z; // halves of an interval to the difference that a test shows with a power of 80 %
  const TIE = 1e-9; // two probabilities this close are the same in Fisher's test
  const ENOUGH_SHARED = 0.5; // of the questions of the larger run
  const sum = (values) => values.reduce((had, one) => had + one, 0);
  const square = (value) => value * value;
  // Two-sided, by the approximation 7.1.26 of Abramowitz and Stegun: at most 1.5e-7 off.
  const normalP = (z) => {
    const x = Math.abs(z) / Math.SQRT2;
    const t = 1 / (1 + 0.3275911 * x);
    const terms = [1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592].reduce((had, factor) => (had + factor) * t, 0);
    return terms * Math.exp(-x * x);
  };
  const fisherP = (a, b, c, d) => {
    const [row, other, column] = [a + b, c + d, a + c];
    const [low, high] = [Math.max(0, column - other), Math.min(column, row)];
    const odds = [0]; // logarithms of probabilities, relative to the first
    for (let k = low; k < high; k += 1) odds.push(odds[k - low] + Math.log(((row - k) * (column - k)) / ((k + 1) * (other - column + k + 1))));
    const most = Math.max(...odds);
    const seen = odds[a - low] + TIE;
    return Math.min(1, sum(odds.filter((one) => one <= seen).map((one) => Math.exp(one - most))) / sum(odds.map((one) => Math.exp(one - most))));
  };
  const wilson = (right, n) => {
    const [middle, share] = [(right + Z * Z / 2) / (n + Z * Z), right / n];
    const reach = Z / (n + Z * Z) * Math.sqrt(n * share * (1 - share) + Z * Z / 4);
    return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
  };
  const ofCounts = (a, n, b, m, span) => {
    const [[under, over], [low, high], p, q] = [wilson(a, n), wilson(b, m), b / m, a / n];
    const difference = p - q;
    const error = Math.sqrt(a * (n - a) / square(n) / Math.max(1, n - 1) + b * (m - b) / square(m) / Math.max(1, m - 1));
    const ends = [difference - Math.hypot(p - low, over - q), difference + Math.hypot(high - p, q - under)];
    return { difference: difference * span, error: error * span, p: fisherP(a, n - a, b, m - b), leastP: fisherP(0, n, m, 0), ends: ends.map((end) => end * span), step: span / Math.max(n, m) };
  };
  const withoutError = (difference) => ({ difference, error: null, p: null, ends: [difference, difference], step: 0 });
  const ofErrors = (one, two, errors) => {
    const [difference, error] = [two - one, Math.hypot(...errors)];
    if (!error) return withoutError(difference);
    return { difference, error, p: normalP(difference / error), ends: [difference - Z * error, difference + Z * error], step: 0 };
  };
  // As `mean_of`: at least the normal interval of each; its p is below the level where 0 is outside.
  const meanOf = (tests) => {
    const k = tests.length;
    const difference = sum(tests.map((one) => one.difference)) / k;
    if (tests.some((one) => one.error === null)) return withoutError(difference);
    const error = Math.sqrt(sum(tests.map((one) => square(one.error)))) / k;
    const step = Math.min(...tests.map((one) => one.step)) / k;
    const reach = (side) => Math.sqrt(sum(tests.map((one) => square(Math.max(Math.abs(one.ends[side] - one.difference), Z * one.error))))) / k + step / 2;
    const ends = [difference - reach(0), difference + reach(1)];
    const isApart = ends[0] > 0 || ends[1] < 0;
    return { difference, error, ends, step, p: isApart ? 0 : 1 };
  };
  const side = (test) => (test.difference > 0 ? "higher" : "lower");
  const conclude = (test, p) => { test.verdict = test.why ? "not comparable" : p === null ? "not tested" : p < LEVEL ? side(test) : "not separable"; };
  const holm = (tests) => {
    const known = tests.filter((test) => !test.why && test.p !== null).sort((one, two) => one.p - two.p);
    let least = 0;
    tests.forEach((test) => conclude(test, null));
    known.forEach((test, place) => { least = Math.max(least, Math.min(1, test.p * (known.length - place))); conclude(test, least); });
  };
  const contrast = (one, two, broken) => {
    const [value, error, shape, right, asked] = one;
    const [otherValue, otherError, otherShape, otherRight, otherAsked] = two;
    const [[metric, span, samples], [otherMetric, otherSpan, otherSamples]] = [shapes[shape], shapes[otherShape]];
    const names = [metric, otherMetric].map((text) => texts[text].replace(/,none$/, "")); // harness 0.4 adds the filter
    const metrics = names[0] === names[1] ? "" : `other metrics: ${names.join(" and ")}`;
    if (broken || metrics) return { ...ofErrors(value, otherValue, [0, 0]), why: broken || metrics };
    const [fewer, more] = [Math.min(samples, otherSamples), Math.max(samples, otherSamples)];
    const why = samples && otherSamples && fewer < ENOUGH_SHARED * more ? `only ${fewer} of ${more} questions are shared` : "";
    // As `_with_questions`: all or none of the answers are right, and the row does not record how many.
    const lent = (known, had, count, at) => known ?? (had || !count || span !== otherSpan ? undefined : at === 100 ? count : at === 0 && span === 100 ? 0 : undefined);
    const rights = [lent(right, samples, otherAsked, value), lent(otherRight, otherSamples, asked, otherValue)];
    if (rights.every((one) => one !== undefined) && span === otherSpan) return { ...ofCounts(rights[0], asked ?? otherAsked, rights[1], otherAsked ?? asked, span), why };
    if (error === null || otherError === null) return { ...withoutError(otherValue - value), why };
    return { ...ofErrors(value, otherValue, [error, otherError]), why };
  };
  // What a row says of a setting, for the task at a place of the board.
  const said = (row, setting, task) => texts[row.settings[setting][row.tasks.slice(0, task).filter(Boolean).length]];
  // As `compare` of bot/evaluation/compare.py, for two rows.
  const compare = (first, second) => {
    const shared = ids.map((_, task) => task).filter((task) => first.tasks[task] && second.tasks[task]);
    const places = new Map(); // of each setting that differs, the tasks
    const broken = {};
    settings.forEach(([title, breaks], setting) => shared.forEach((task) => {
      const [one, two] = [said(first, setting, task), said(second, setting, task)];
      if (!one || !two || one === two) return;
      places.set(title, (places.get(title) ?? new Set()).add(task));
      if (breaks) broken[task] = broken[task] || breaks;
    }));
    const differing = [...places].map(([title, of]) => (of.size === shared.length ? title : `${title} (in ${of.size} of ${shared.length} tasks)`));
    const found = shared.map((task) => ({ id: ids[task], task, values: [first.tasks[task][0], second.tasks[task][0]], ...contrast(first.tasks[task], second.tasks[task], broken[task]) }));
    holm(found);
    const isPart = ids.some((_, task) => !first.tasks[task] !== !second.tasks[task]);
    if (!found.length) return { differing, found };
    const hasErrors = [first, second].some((row) => shared.every((task) => row.tasks[task][1] !== null));
    if (found.length === 1) return { differing, found, isPart, hasErrors, average: found[0] };
    const faulty = found.find((one) => one.why);
    const average = { ...meanOf(found), why: faulty ? `${faulty.id}: ${faulty.why}` : "" };
    conclude(average, average.p);
    return { differing, found, isPart, hasErrors, average };
  };
  // As `smallest` of bot/evaluation/compare.py; null where no difference would be sure to show.
  const smallest = ({ ends, leastP }) => {
    const found = SEEN * (ends[1] - ends[0]) / 2;
    return leastP >= LEVEL || found > 100 ? null : found;
  };
  Object.assign(globalThis.page, { compare, said, smallest, withoutError });
})();
