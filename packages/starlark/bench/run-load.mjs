/**
 * `node --expose-gc run-load.mjs`: loads the engine in a new process, runs a tool,
 * and prints the time of both as JSON. The conditions of the command line select
 * source or build. This file is JavaScript, so that Node has not yet loaded its type
 * stripper.
 */

function memory() {
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  return { heap: heapUsed, resident: rss };
}

const before = memory();
const startedAt = performance.now();
await import("@toolcrib/starlark");
const loadMs = performance.now() - startedAt;
const after = memory();

const { compileTool, readTool, runTool } = await import("./tool.ts");
const text = readTool();
const firstAt = performance.now();
await runTool(compileTool(text));
const firstToolMs = performance.now() - firstAt;

process.stdout.write(
  JSON.stringify({
    loadMs,
    firstToolMs,
    heapBytes: after.heap - before.heap,
    residentBytes: after.resident - before.resident,
  }),
);
