// Opens the page of a board in Firefox, uses it as a reader does, and prints what it found as JSON: firefox.mjs EXECUTABLE URL.
import puppeteer from "puppeteer-core";

const [, , executablePath, url] = process.argv;
// The size comes with the start: an extended support release does not know all that puppeteer asks of a viewport.
const args = ["--width=1280", "--height=885"];
const browser = await puppeteer.launch({ browser: "firefox", executablePath, args, headless: true, defaultViewport: null });
const page = await browser.newPage();
const faults = [];
page.on("console", (said) => faults.push(said.text()));
page.on("pageerror", (error) => faults.push(String(error)));
const column = (name) => page.evaluate((wanted) => {
  const place = [...document.querySelectorAll("#board thead th")].findIndex((head) => head.dataset.name === wanted);
  return [...document.querySelectorAll("#board tbody tr")].map((row) => Number.parseFloat(row.cells[place].textContent));
}, name);
const box = (selector) => page.$eval(selector, (node) => {
  const { left, top, right } = node.getBoundingClientRect();
  return { left, top, right };
});

await page.goto(url);
await page.waitForSelector("#controls:not([hidden])");
const found = { rows: (await column("average")).length };
found.lastTask = (await box("th[data-name=mmlu_pro]")).right;
await page.click("th[data-name=bbh] button");
found.sorted = await column("bbh");
await page.type("#size", "10");
found.sizes = await column("size");
found.address = await page.evaluate(() => location.href);
await page.evaluate(() => history.back());
// The page's policy refuses functions that are made of a text, as waitForFunction makes them.
const hasSize = () => new URLSearchParams(location.search || location.hash.slice(1)).has("size");
while (await page.evaluate(hasSize)) await new Promise((done) => setTimeout(done, 50));
await page.evaluate(() => document.querySelector(".frame").scrollTo(600, 300));
found.frame = await box(".frame");
found.head = await box("#board thead");
found.name = await box("#board tbody th");
const boxes = await page.$$("#board tbody input");
for (const one of boxes.slice(0, 2)) await one.evaluate((node) => node.checked || node.click());
await Promise.all([page.waitForNavigation(), page.$eval("#picked a", (link) => link.click())]);
await page.waitForSelector("#found .lead");
found.sentence = await page.$eval("#found .lead", (node) => node.textContent);
console.log(JSON.stringify({ ...found, faults }));
await browser.close();
