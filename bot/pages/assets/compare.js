// Compare rows by the data beside the page; what is compared is in the address.
"use strict";
(() => {
  const { $, make, BREAK, breakable, read, write, compare, said, smallest, withoutError, signP, halfUp } = globalThis.page;
  const MOST_UNEVEN = 0.02; // between the two sides of an interval that ± tells
  const FEWEST = 6; // tasks of a test over them
  const STYLES = { higher: "well", lower: "warn" }; // of verdicts that tell rows apart
  const UNKNOWN = "the files give no standard error";
  const OFFERED = 2000; // names that the fields offer
  const ROUNDED = "Differences are taken before rounding.";
  const UNTESTED = "The files give no standard errors, so no difference is tested by itself.";
  const SCORES = "Each difference has ±, half of its 95 % interval. The verdicts allow for the number of tasks by the method of Holm, so a difference a little above its ± may be not separable.";
  const ODD = "“?” is before a score that the other columns of its row make unlikely: to look at, and no proof.";
  const { names, titles: shown, rows, tasks, ids, odd, settings, texts } = globalThis.leaderboard;
  const titleOf = (name) => shown[name] || name;
  const byName = new Map(names.map((name, i) => [name, rows[i]]));
  const fields = [...document.querySelectorAll("#compare input")];
  const points = (value) => (value === null || value === undefined ? "–" : halfUp(value, 2));
  const signed = (value) => `${value >= 0 ? "+" : "−"}${points(Math.abs(value))}`;
  const numeric = (words) => make("td", words, { class: "n" });

  // As `find` of bot/pages/compare_page.py; the data has the best row first.
  const find = (text) => {
    if (byName.has(text)) return [text, 0];
    const sought = text.toLowerCase();
    const words = sought.split(/\s+/).filter(Boolean);
    const fitting = names.filter((name) => words.every((word) => `${titleOf(name)} ${name}`.toLowerCase().includes(word)));
    const whole = fitting.filter((name) => titleOf(name).toLowerCase().startsWith(`${sought}/`));
    const named = fitting.filter((name) => titleOf(name).toLowerCase().includes(`/${sought}/`));
    const exact = whole.length ? whole : named;
    if (exact.length === 1) return [exact[0], 0];
    const found = exact.length ? exact : fitting;
    return [found[0] || "", found.length];
  };

  const half = (test) => points((test.ends[1] - test.ends[0]) / 2);
  const amount = (test) => {
    const off = points(Math.abs(test.difference));
    const ends = test.difference > 0 ? test.ends : [-test.ends[1], -test.ends[0]];
    const isEven = Math.abs(ends[0] + ends[1] - 2 * Math.abs(test.difference)) < MOST_UNEVEN;
    if ((Number(off) > Number(half(test))) === (test.verdict !== "not separable") && isEven) return `${off} ± ${half(test)}`;
    return `${off} (95 % interval ${points(ends[0])} to ${points(ends[1])})`;
  };
  const counted = (second, found) => {
    const verdicts = ["higher", "lower", "not separable", "not tested", "not comparable"].map((verdict) => [found.filter((one) => one.verdict === verdict).length, verdict]);
    if (found.every((one) => one.verdict === "not tested")) return "No task could be tested.";
    return `Task by task, ${second} is ${verdicts.filter(([count]) => count).map(([count, verdict]) => `${verdict} in ${count}`).join(", ")}.`;
  };
  // As `is_same` of bot/evaluation/compare.py.
  const isSame = ({ found, isPart }) => !isPart && found.every((one) => !one.why && one.difference === 0) && new Set(found.map((one) => one.values[0])).size > 1;
  // As `sentence_of` of bot/reporting/comparison.py.
  const sentence = (first, second, { differing, found, isPart, hasErrors, average }) => {
    if (!average) return `${first} and ${second} have no task in common: there is nothing to compare.`;
    const isEqual = isSame({ found, isPart });
    const parts = [isEqual ? `${first} and ${second} have the same numbers in all ${found.length} tasks: one may be a copy or a repeat of the other.` : byHowMuch(first, second, found, isPart, average, overTasks({ found, hasErrors, average }))];
    if (differing.length) parts.push(`They were measured differently: ${differing.join(", ")}.`);
    if (found.some((one) => !one.why) && found.length > 1 && !isEqual && !overTasks({ found, hasErrors, average })) parts.push(counted(second, found));
    return parts.join(" ");
  };
  // As `over_tasks` of bot/reporting/comparison.py.
  const overTasks = ({ found, hasErrors, average: whole }) => {
    const tasks = found.filter((one) => !one.why);
    const differences = [...new Map(tasks.map((one) => [String(one.values), one.difference])).values()];
    if (!whole || whole.why || (whole.p !== null && hasErrors) || differences.length < FEWEST) return null;
    const [higher, lower] = [differences.filter((one) => one > 0).length, differences.filter((one) => one < 0).length];
    const [side, count] = whole.difference > 0 ? ["higher", higher] : ["lower", lower];
    const p = signP(higher, lower);
    const isMore = p < 0.05 && count * 2 > higher + lower;
    const verdict = isMore ? "more than chance" : "not more than chance";
    const same = tasks.length - differences.length;
    const once = same ? ` (${same} more ${same === 1 ? "has" : "have"} the numbers of one of them)` : "";
    return { side, isMore, said: `over tasks it is ${side} in ${count} of ${differences.length}${once}: ${verdict} (${p >= 0.001 ? `p = ${p.toFixed(3)}` : "p < 0.001"})` };
  };
  const byHowMuch = (first, second, found, isPart, whole, tested) => {
    if (whole.why) {
      const broken = found.filter((one) => one.why).length;
      if (broken === found.length) return `The two are not comparable: ${whole.why}.`;
      return `${broken} of ${found.length} tasks ${broken === 1 ? "is" : "are"} not comparable (${whole.why}), so the averages are not.`;
    }
    const off = points(Math.abs(whole.difference));
    const scope = found.length === 1 ? (isPart ? " in the one task that both have" : "") : ` on the average of ${isPart ? `the ${found.length} tasks that both have` : `${found.length} tasks`}`;
    const where = `${whole.difference > 0 ? "higher" : "lower"} than ${first}${scope}`;
    if (whole.p === null && !Number(off)) return `${first} and ${second} are equal${scope}.`;
    if (whole.p !== null && tested) {
      const explained = whole.verdict === "not separable" ? "may explain" : "does not explain";
      return `${second} is ${off} points ${where}; ${UNKNOWN}; ${tested.said}. Chance in the questions alone, ${amount(whole)} points by their answers, ${explained} this.`;
    }
    if (whole.p === null) {
      const bare = found.filter((one) => one.p === null).length;
      const some = `${bare} of ${found.length} tasks ${bare === 1 ? "has" : "have"} no standard error, so the average has none`;
      return `${second} is ${off} points ${where}; ${bare > 0 && bare < found.length ? some : UNKNOWN}${tested ? `; ${tested.said}` : ""}.`;
    }
    if (whole.verdict !== "not separable") return `${second} is ${amount(whole)} points ${where}; chance alone does not explain this.`;
    const shown = smallest(whole);
    const least = `; this comparison would often miss ${shown === null ? "any difference" : `a difference below ${points(shown)} points`}`;
    const result = Number(off) ? `${second} is ${amount(whole)} points ${where}, which may be chance` : `they are equal${scope} (± ${half(whole)})`;
    return `${first} and ${second} are not separable: ${result}${least}.`;
  };
  const difference = (test, tests) => {
    if (!test) return numeric("–");
    if (!test.why && test.p === null) return numeric(signed(test.difference));
    const cell = numeric(`${test.why ? points(null) : signed(test.difference)} `);
    if (test.why) cell.append(make("small", test.verdict));
    if (test.why) return cell;
    const isCorrected = test.verdict === "not separable" && (test.ends[0] > 0 || test.ends[1] < 0) && tests > 1;
    cell.append(make("small", `±${half(test)} ${test.verdict}${isCorrected ? ` among ${tests} tests` : ""}`));
    if (STYLES[test.verdict]) cell.className = `n apart ${STYLES[test.verdict]}`;
    return cell;
  };

  // ---- what is shown ----
  const withBreaks = (name, text, attributes) => {
    const made = make(name, "", attributes);
    made.append(...breakable(text));
    return made;
  };
  const plain = (label, titles, lines, chosen = []) => { // the heads after the first are the rows that were chosen
    const made = document.createElement("table");
    const head = document.createElement("tr");
    titles.forEach((title, i) => {
      const row = chosen[i - 1];
      const cell = make("th", "", { scope: "col", class: "wrap" });
      if (row) cell.append(withBreaks("a", title, { href: `rows/${row.split("/").map(encodeURIComponent).join("/")}.html` }));
      else cell.append(...breakable(title));
      head.append(cell);
    });
    made.createTHead().append(head);
    made.createTBody().append(...lines);
    const region = make("div", "", { class: "wide", role: "region", tabindex: "0", "aria-label": label });
    region.append(made);
    return region;
  };
  const table = (caption, titles, lines, chosen, label = titles[0]) => {
    if (!lines.length) return make("p", caption, { class: "quiet" });
    const made = plain(label, titles, lines, chosen);
    if (caption) made.firstChild.prepend(make("caption", caption));
    return made;
  };
  const line = (title, cells) => {
    const row = document.createElement("tr");
    row.append(withBreaks("th", title, { scope: "row", class: "wrap" }), ...cells);
    return row;
  };
  const draw = (name, attributes, text = "") => {
    const node = document.createElementNS("http://www.w3.org/2000/svg", name);
    node.textContent = text;
    for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
    return node;
  };
  const isDrawn = (test) => test && !test.why;
  // As `fitting` of bot/pages/drawing.py: one axis for all figures, so that they can be compared.
  const axisOf = (pairs) => {
    const ends = pairs.flat().filter(isDrawn).flatMap((test) => test.ends);
    const span = Math.max(...ends, 0) - Math.min(...ends, 0) || 1;
    const step = [1, 2, 5, 10].map((factor) => factor * 10 ** Math.floor(Math.log10(span / 5))).find((one) => span / one <= 5);
    const low = Math.floor(Math.min(...ends, 0) / step) * step;
    return [low, Math.max(Math.ceil(Math.max(...ends, 0) / step) * step, low + step), step];
  };
  // As `in_two` of bot/pages/titles.py.
  const LABEL = 24;
  const inTwo = (name) => {
    if (name.length <= LABEL) return [name];
    let end = 0;
    for (const part of name.split(BREAK).flatMap((one) => one.split(/(?<= )/))) {
      if (end + part.length > LABEL) break;
      end += part.length;
    }
    const rest = name.slice(end || LABEL / 2);
    return [name.slice(0, end || LABEL / 2).trimEnd(), rest.length > LABEL ? `${rest.slice(0, LABEL / 2)}…${rest.slice(1 - LABEL / 2)}` : rest];
  };
  // As `differences` of bot/pages/drawing.py: a dot with its interval for each score, around a line at zero.
  const figure = (title, titled, tests, [low, high, step]) => {
    const drawn = tests.map((test, i) => [titled[i], test]).filter(([, test]) => isDrawn(test))
      .map(([name, test]) => [name, test.difference, (test.ends[1] - test.ends[0]) / 2, test.verdict !== "not separable"]);
    const labels = drawn.map(([name]) => inTwo(name));
    const left = 16 + 8 * Math.max(0, ...labels.flat().map((part) => part.length));
    const space = labels.some((parts) => parts.length > 1) ? 32 : 20;
    const [right, top, height] = [448, 20, 20 + space * drawn.length];
    const across = (value) => left + ((value - low) / (high - low)) * (right - left);
    const svg = draw("svg", { viewBox: `0 0 460 ${height + 44}`, role: "img", "aria-label": title });
    for (let tick = low; tick <= high + step / 2; tick += step) {
      svg.append(draw("path", { class: "grid", d: `M${across(tick)} ${top}V${height}` }));
      svg.append(draw("text", { x: across(tick), y: height + 16, "text-anchor": "middle" }, String(Number(tick.toPrecision(6))).replace("-", "−")));
    }
    svg.append(draw("path", { class: "axis", d: `M${across(0)} ${top}V${height}` }));
    svg.append(draw("text", { x: (left + right) / 2, y: height + 38, "text-anchor": "middle" }, "difference (points)"));
    drawn.forEach(([, middle, reach, isApart], place) => {
      const y = top + space * (place + 0.5);
      labels[place].forEach((part, i) => svg.append(draw("text", { x: left - 8, y: y + 4 + 7 * (2 * i - labels[place].length + 1), "text-anchor": "end" }, part)));
      svg.append(draw("path", { class: "reach", d: `M${across(middle - reach)} ${y}H${across(middle + reach)}` }));
      svg.append(draw("circle", { class: !reach ? "untested" : isApart ? "mass" : "hollow", cx: across(middle), cy: y, r: 4 }));
    });
    const made = document.createElement("figure");
    const details = document.createElement("details");
    const head = ["score", "difference (points)", "interval"];
    details.append(make("summary", "The numbers of this chart"), plain(`Numbers: ${title}`, head, drawn.map(([name, middle, reach]) => {
      const row = document.createElement("tr");
      row.append(...[name, signed(middle), reach ? `±${points(reach)}` : "–"].map((text) => make("td", text)));
      return row;
    })));
    made.append(make("figcaption", title), svg, details);
    return made;
  };
  // As `_setting_table` of bot/pages/compare_page.py.
  const settingLines = (picked) => {
    const shared = ids.map((_, task) => task).filter((task) => picked.every((row) => row.tasks[task]));
    const [same, unsaid] = [[], []];
    const differ = settings.flatMap(([title], setting) => {
      const values = picked.map((row) => shared.map((task) => said(row, setting, task)));
      const places = shared.map((_, i) => i).filter((i) => new Set(values.map((each) => each[i])).size > 1);
      if (!places.length) {
        if (shared.length) (values.some((each) => each.some(Boolean)) ? same : unsaid).push(title);
        return [];
      }
      const which = places.length === shared.length ? "" : `: ${places.map((i) => tasks[shared[i]]).join(", ")}`;
      const cells = values.map((each) => [...new Set(places.map((i) => each[i]).filter(Boolean))].join(", ") || "not recorded");
      return [line(`${title}${which}`, cells.map((text) => make("td", text, { class: "wrap" })))];
    });
    const warned = picked.map((row) => texts[row.warnings]);
    const caption = [
      differ.length ? "Measured differently; where this differs, the numbers may not be comparable." : "",
      same.length ? `Measured alike: ${same.join(", ")}.` : "",
      unsaid.length ? `${picked.length === 2 ? "Neither says" : "None says"}: ${unsaid.join(", ")}.` : "",
      new Set(warned).size > 1 ? "The warnings differ." : "",
    ].filter(Boolean).join(" ");
    if (new Set(warned).size > 1) differ.push(line("warnings", warned.map((text) => make("td", text || "none", { class: "wrap" }))));
    return [differ, caption];
  };
  // As `_verdict` of bot/pages/compare_page.py: the difference, the verdict as a chip, and the sentence.
  const verdict = (one) => {
    const { low: first, high: second } = one;
    const made = make("div", "", { class: "versus" });
    const said = make("p", "", { class: "lead" });
    const whole = one.average;
    const says = (words, style) => {
      const line = make("p", "", { class: "says" });
      line.append(withBreaks("span", words, { class: `chip verdict ${style}` }));
      made.append(line);
    };
    if (!whole) says("nothing to compare", "");
    else {
      const tested = overTasks(one);
      const words = isSame(one) ? "the same numbers" : tested ? (tested.isMore ? tested.side : "not separable") : whole.verdict;
      const isApart = words === "higher";
      const isSplit = tested && isApart && whole.p !== null && whole.verdict === "not separable";
      says(isApart ? `${second} higher${tested ? " in most tasks" : ""}${isSplit ? ", by questions not separable" : ""}` : words, isApart && !isSplit ? "well" : "");
      if (!whole.why && !isSame(one)) {
        const big = make("p", `${points(Math.abs(whole.difference))} `, { class: "big" });
        big.append(make("small", `${whole.p === null || tested ? "" : `±${half(whole)}`} points`));
        if (!isApart && Number(points(Math.abs(whole.difference)))) big.append(withBreaks("small", `more for ${second}`, {}));
        made.append(big);
      }
    }
    const CAVEAT = "They were measured differently:";
    const [before, ...rest] = sentence(first, second, one).split(CAVEAT);
    said.append(before, ...(rest.length ? [make("strong", CAVEAT, { class: "caveat" }), rest.join(CAVEAT)] : []));
    made.append(said);
    return made;
  };
  // As `with_end` of bot/pages/titles.py.
  const withEnd = (letters, most) => (letters.length <= most ? letters : [...letters.slice(0, Math.ceil(most / 2)), "…", ...letters.slice(1 - Math.floor(most / 2))]).join("");
  // As `_short` of bot/pages/compare_page.py.
  const LONGEST = 48; // letters of a name in sentences and heads
  const short = (titles) => {
    const models = titles.map((title) => title.replace(/\/[^/]*$/, ""));
    if (new Set(models).size === 1) return titles.map((title) => title.replace(/^.*\//, ""));
    const told = [models.map((model) => model.replace(/^[^/]+\/(?=.)/, "")), models].find((each) => new Set(each).size === each.length) ?? titles;
    const cut = told.map((name) => withEnd([...name], LONGEST));
    return new Set(cut).size === cut.length ? cut : told;
  };
  // As `_upward` of bot/pages/compare_page.py.
  const upward = ([one, low], [other, high]) => {
    const comparison = compare(one, other);
    return comparison.average?.difference < 0 ? { ...compare(other, one), low: high, high: low } : { ...comparison, low, high };
  };
  // As `_heads` of bot/pages/compare_page.py.
  const PLACES = ["First", "Second", "Third", "Fourth"];
  const headsOf = (compared, base) => compared.map(({ high }, i) => {
    const [one, other] = high === base ? [PLACES[0], PLACES[i + 1]] : [PLACES[i + 1], PLACES[0]];
    return compared.length > 1 ? `${one} minus ${other.toLowerCase()}` : "Difference";
  });
  // As `_in_order` of bot/pages/compare_page.py.
  const MANY = 12;
  const MOST_DIFFERENT = 10;
  const inOrder = (found, places) => {
    const off = (task) => (isDrawn(found.get(task)) ? Math.abs(found.get(task).difference) : -1);
    return places.length > MANY ? places.sort((one, other) => off(other) - off(one) || one - other) : places;
  };
  const near = (name) => { // the three ranked rows above it and below it
    const place = names.indexOf(name);
    const found = make("p", "Compare it with one beside it on the board: ");
    names.slice(Math.max(0, place - 3), place + 4).filter((other) => other !== name && byName.get(other).average !== null)
      .forEach((other, i) => found.append(i ? ", " : "", make("a", shortest(other), { href: `compare.html?rows=${encodeURIComponent(name)},${encodeURIComponent(other)}` })));
    return found;
  };
  // As `_shortest` of bot/pages/compare_page.py.
  const modelOf = (name) => titleOf(name).replace(/\/[^/]*$/, "");
  const timesOf = new Map();
  for (const name of names) timesOf.set(modelOf(name), (timesOf.get(modelOf(name)) || 0) + 1);
  const shortest = (name) => (name && timesOf.get(modelOf(name)) === 1 && !/^\(|,/.test(modelOf(name)) ? modelOf(name) : name);
  for (const name of names.slice(0, OFFERED)) $("names").append(make("option", `${shortest(name)}: ${byName.get(name).average === null ? "incomplete" : halfUp(byName.get(name).average, 2)}`, { value: shortest(name) }));
  for (const one of document.querySelectorAll("#begin [hidden]")) one.hidden = false;
  const show = () => {
    const asked = (read().get("rows") || "").split(",").map((text) => text.trim()).filter(Boolean).slice(0, 4);
    const found = asked.map(find);
    const chosen = [...new Set(found.map(([name]) => name).filter(Boolean))];
    fields.forEach((field, i) => { field.value = (found[i] && shortest(found[i][0])) || asked[i] || ""; });
    if (found.some(([name], i) => name && name !== asked[i])) { // the address names rows, so that it keeps its meaning
      const state = read();
      state.set("rows", found.map(([name], i) => name || asked[i]).join(","));
      write(state, false);
    }
    const words = found.flatMap(([name, count], i) => {
      if (!name) return [`No row has “${asked[i]}” in its name.`];
      return count > 1 ? [`“${asked[i]}” is taken as ${shortest(name)}, the best of ${count} rows that have it in their names.`] : [];
    });
    $("status").classList.toggle("unseen", chosen.length !== 1 && !words.length);
    $("status").textContent = [...words, chosen.length > 1 ? `${chosen.length} rows are compared.` : chosen.length ? `${found.filter(([name]) => name).length > 1 ? "This is one row twice. " : ""}Choose a second row.` : "Choose two to four rows."].join(" ");
    $("found").replaceChildren(...(chosen.length === 1 ? [near(chosen[0])] : []));
    if ($("begin")) $("begin").hidden = chosen.length > 0;
    if (chosen.length < 2) return;
    const picked = chosen.map((name) => byName.get(name));
    const heads = short(chosen.map(titleOf));
    const compared = picked.slice(1).map((row, i) => upward([picked[0], heads[0]], [row, heads[i + 1]]));
    const hasAverages = (row) => picked[0].average !== null && row.average !== null;
    const byTask = compared.map(({ found: each }) => new Map(each.map((one) => [one.task, one])));
    const order = inOrder(byTask[0], ids.map((_, task) => task).filter((task) => picked.some((row) => row.tasks[task])));
    const averages = picked.some((row) => row.average !== null) ? [undefined] : []; // the line before those of the tasks
    const isLong = order.length > MANY;
    const [top, rest] = isLong ? [order.slice(0, MOST_DIFFERENT), order.slice(MOST_DIFFERENT)] : [order, []];
    const testsOf = (each) => compared.map((_, i) => each.map((task) => byTask[i].get(task)));
    const averageOf = (one) => (one.average && overTasks(one) ? { ...one.average, ...withoutError(one.average.difference) } : one.average); // as `_by_task`
    const pairs = testsOf(top).map((tests, i) => [...averages.map(() => (hasAverages(picked[i + 1]) ? averageOf(compared[i]) : undefined)), ...tests]);
    const titled = [...averages, ...top].map((task) => (task === undefined ? "Average" : tasks[task]));
    const [differ, caption] = settingLines(picked);
    const oddOf = new Map(picked.map((row) => [row, (odd[rows.indexOf(row)] || [])]));
    const testsIn = compared.map(({ found: each }) => each.filter((one) => !one.why && one.p !== null).length);
    const scored = (titlesOf, taskOf, tests) => titlesOf.map((title, i) => line(title, [
      ...picked.map((row) => make("td", points(taskOf(i) === undefined ? row.average : row.tasks[taskOf(i)]?.[0]), { class: oddOf.get(row).includes(taskOf(i)) ? "n odd" : "n" })),
      ...tests.map((each, pair) => difference(each[i], testsIn[pair])),
    ]));
    const lines = scored(titled, (i) => [...averages, ...top][i], pairs);
    const minus = compared.map(({ low, high }) => `${high} minus ${low}`);
    const columns = ["Score", ...heads, ...headsOf(compared, heads[0])];
    const tested = `${pairs.flat().some((test) => test && test.p !== null) ? SCORES : UNTESTED} ${ROUNDED}`;
    const notes = compared.some((one) => one.average) ? [...(minus.length === 1 ? [`Difference: ${minus[0]}.`] : []), tested] : [];
    if ([...oddOf.values()].some((each) => each.length)) notes.push(ODD);
    const figures = make("div", "", { class: "figures" });
    const differs = compared.some((one) => one.average && !isSame(one));
    if (differs) figures.append(...pairs.map((tests, i) => figure(minus[i], titled, tests, axisOf(pairs))));
    const beside = make("div", "", { class: "beside" });
    const shownScores = document.createElement("div");
    shownScores.append(...(isLong && differs ? [make("p", compared.length > 1 ? "Of all tasks those in which the first two differ most:" : "The tasks that differ most:", { class: "quiet" })] : []), table(notes.join(" "), columns, lines, chosen));
    if (isLong) {
      const others = document.createElement("details");
      const restLines = scored(rest.map((task) => tasks[task]), (i) => rest[i], testsOf(rest));
      const summary = `The other ${rest.length} tasks`;
      others.append(make("summary", summary), table("", columns, restLines, chosen, summary));
      shownScores.append(others);
    }
    const shownSettings = document.createElement("div");
    shownSettings.append(table(caption, ["Setting", ...heads], differ, chosen));
    beside.append(...(differs ? [figures] : []), shownScores, shownSettings);
    $("found").append(...compared.map((one) => verdict(one)), beside);
  };
  $("compare").addEventListener("submit", (event) => {
    event.preventDefault();
    const state = new URLSearchParams();
    const ticked = [...document.querySelectorAll("#begin :checked")].map((box) => box.value);
    const wanted = [...fields.map((field) => field.value.trim()).filter(Boolean), ...ticked];
    if (wanted.length) state.set("rows", wanted.join(","));
    write(state, true);
    show();
  });
  addEventListener("popstate", show);
  addEventListener("hashchange", show);
  $("compare").hidden = false;
  show();
})();
