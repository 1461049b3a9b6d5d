/**
 * `npm run docs:pictures`: draws the pictures of README and site into docs/pictures. The session
 * is recorded anew; the plot is drawn from bench/RESULTS.md, as `npm run bench` does.
 *
 *     npm run docs:pictures [-- --drawn]
 *
 * `--drawn` leaves out the session, which starts a gateway.
 */

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { drawBenchmark } from "./benchmark.ts";
import { drawCallPath } from "./call-path.ts";
import { canRecord, recordSession } from "./record-session.ts";
import { drawSession } from "./session.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "docs/pictures");
const { values } = parseArgs({ options: { drawn: { type: "boolean", default: false } } });

mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, "call-path.svg"), drawCallPath());
writeFileSync(
  join(folder, "benchmark.svg"),
  drawBenchmark(readFileSync(join(root, "bench/RESULTS.md"), "utf8")),
);
if (values.drawn) console.log("Left out: session.svg");
else if (!canRecord) {
  console.error("The session cannot be recorded here: it needs script of util-linux, on Linux");
  process.exitCode = 1;
} else writeFileSync(join(folder, "session.svg"), drawSession(await recordSession()));
