/**
 * `node run-tool.ts TIMES`: compiles and runs the tool of `tool.star` this many
 * times, after as many runs to warm up, each in a new thread. Prints the median
 * milliseconds of the compilation, and of compilation and run, as JSON.
 */

import { median } from "../../../bench/statistics.ts";
import { compileTool, readTool, runTool } from "./tool.ts";

const times = Number(process.argv[2]);
const text = readTool();
const compileMs: number[] = [];
const bothMs: number[] = [];
for (let time = -times; time < times; time += 1) {
  const startedAt = performance.now();
  const program = compileTool(text);
  const compiledAt = performance.now();
  await runTool(program);
  if (time < 0) continue;
  compileMs.push(compiledAt - startedAt);
  bothMs.push(performance.now() - startedAt);
}
process.stdout.write(JSON.stringify({ compileMs: median(compileMs), bothMs: median(bothMs) }));
