/**
 * `node run-program.ts FILE REPETITIONS`: calls `main()` of one program, each time in
 * a new thread, and prints its result and the milliseconds of the fastest run. The
 * limits apply, but are higher than for a tool.
 */

import { readFileSync } from "node:fs";
import {
  compileProgram,
  executeProgram,
  jsonModule,
  str,
  Thread,
  toolDialect,
  type Value,
} from "@toolcrib/starlark";
import { host } from "./host.ts";

const [file = "", repetitions = "1"] = process.argv.slice(2);
const limits = { steps: 1_000_000_000_000, wallMs: 3_600_000 };

const predeclared: ReadonlyMap<string, Value> = new Map([["json", jsonModule]]);

const source = { name: file, text: `${readFileSync(file, "utf8")}\nreturn main()\n` };
const { program, diagnostics } = compileProgram(source, {
  dialect: toolDialect,
  predeclared: predeclared.keys(),
});
if (program === undefined) throw new Error(diagnostics[0]?.message);

let fastest = Number.POSITIVE_INFINITY;
let result = "";
for (let repetition = 0; repetition < Number(repetitions); repetition += 1) {
  const thread = new Thread(host, { limits });
  const startedAt = performance.now();
  const { value } = await executeProgram(thread, program, predeclared);
  fastest = Math.min(fastest, performance.now() - startedAt);
  result = str(value, thread);
}
process.stdout.write(`${result} ${fastest}\n`);
