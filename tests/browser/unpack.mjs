// Unpacks the Chromium of the npm package into .chromium beside this file, with the libraries that some systems lack.
import { mkdirSync, rmSync } from "node:fs";

const folder = new URL(".chromium", import.meta.url).pathname;
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder);
process.env.TMPDIR = folder; // where the package unpacks to
const { default: chromium, inflate } = await import("@sparticuz/chromium");
await inflate(new URL("node_modules/@sparticuz/chromium/bin/al2023.tar.br", import.meta.url).pathname);
console.log(await chromium.executablePath());
