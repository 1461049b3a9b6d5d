/**
 * `npm run features`: what real clients get from real servers directly, and through the gateway. Each client connects to
 * each server in both ways and tries each feature; the result is a table, and must be that of `features/results.json`,
 * from which `npm run docs` writes `docs/reference/compatibility.md`.
 *
 *     npm run features -- [--update] [--client ts-v2] [--server go-legacy] [--verbose]
 *
 * Exits with 1 when a feature works directly and not through the gateway, unless the results list the reason; when a
 * listed reason is not needed any more; and when another cell differs from the results. `--update` writes the results
 * that were measured, and keeps the reasons. `--client` and `--server` (repeatable) restrict the run; `--verbose` prints
 * what was observed where a feature does not work.
 *
 * Clients and servers in Python and Go run where their runtime is installed. Without it they are skipped with the reason.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { measure } from "./features/measure.ts";
import { type ClientId, clients, type ServerId, servers } from "./features/plan.ts";
import { compare, type Results, withMeasured } from "./features/results.ts";
import { tableText } from "./features/table.ts";

const resultsPath = join(import.meta.dirname, "features/results.json");

const { values } = parseArgs({
  options: {
    update: { type: "boolean", default: false },
    verbose: { type: "boolean", default: false },
    client: { type: "string", multiple: true, default: clients.map(({ id }) => id) },
    server: { type: "string", multiple: true, default: servers.map(({ id }) => id) },
  },
});
for (const [name, given, known] of [
  ["--client", values.client, clients],
  ["--server", values.server, servers],
] as const) {
  const unknown = given.filter((id) => !known.some((one) => one.id === id));
  if (unknown.length > 0) {
    console.error(`Unknown ${name} ${unknown.join(", ")}: use ${known.map(({ id }) => id).join(", ")}`);
    process.exit(2);
  }
}

const known = JSON.parse(readFileSync(resultsPath, "utf8")) as Results;
const { cells, skipped, failures } = await measure(
  values.client as readonly ClientId[],
  values.server as readonly ServerId[],
);
if (values.verbose) for (const failure of failures) console.log(failure);
console.log(tableText(cells));
for (const reason of skipped) console.log(`skipped ${reason}`);
const problems = compare(known, cells);
if (values.update) {
  writeFileSync(resultsPath, `${JSON.stringify(withMeasured(known, cells), undefined, 2)}\n`);
  console.log(`wrote ${resultsPath}; npm run docs writes the page`);
}
for (const problem of problems) console.log(problem);
console.log(
  `${cells.length - problems.length} passed, ${values.update ? 0 : problems.length} failed, ${skipped.length} skipped`,
);
process.exitCode = problems.length > 0 && !values.update ? 1 : 0;
