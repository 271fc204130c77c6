// Take away the rows that the board shows: as Markdown, CSV or JSON.
"use strict";
(() => {
  const { $, make, board } = globalThis.page;
  const say = (words) => {
    $("said")?.remove();
    $("status").append(make("strong", words, { id: "said" }));
  };
  $("copy").addEventListener("click", async () => {
    const columns = board.columns();
    const cell = (node) => {
      const words = (node.querySelector(".printed") || node).textContent.trim();
      return words.replace(/[\\`*_{}[\]<>|~#!@&:]/g, (letter) => `&#${letter.charCodeAt(0)};`);
    };
    const line = (cells) => `| ${cells.join(" | ")} |`;
    const head = [line(columns.map((i) => cell(board.heads[i]))), line(columns.map(() => "---"))];
    const found = board.rows();
    const markdown = [...head, ...found.map((row) => line(columns.map((i) => cell(row.cells[i]))))].join("\n");
    try {
      await navigator.clipboard.writeText(`${markdown}\n`);
      say(`${found.length} rows copied as Markdown.`);
    } catch {
      say("The browser did not let the page write to the clipboard.");
    }
  });
  const save = (name, type, data) => {
    const link = make("a", "", { href: URL.createObjectURL(new Blob([data], { type })), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const load = async (name) => (await fetch(name)).text();
  $("csv").addEventListener("click", async () => {
    const [head, ...lines] = (await load("leaderboard.csv")).split("\n");
    say("CSV saved.");
    save("leaderboard-rows.csv", "text/csv", [head, ...board.rows().map((row) => lines[board.place(row)]), ""].join("\n"));
  });
  $("json").addEventListener("click", async () => {
    const all = JSON.parse(await load("leaderboard.json"));
    say("JSON saved.");
    save("leaderboard-rows.json", "application/json", JSON.stringify({ ...all, rows: board.rows().map((row) => all.rows[board.place(row)]) }, null, 2));
  });
  // A page on a disk may not read the file beside it; the links to the whole files stand at its end.
  $("json").hidden = location.protocol === "file:";
})();
