/**
 * `node --expose-gc run-load.mjs`: loads the engine in this process, which has done
 * nothing else, runs a tool, and writes as JSON what both took. The conditions of
 * the command line say whether source or build is loaded. It is JavaScript itself, so
 * that Node has not loaded what takes types out.
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
