/**
 * Measures the actual size of values. `heap-weight.process.test.ts` starts it with
 * `--expose-gc`. Writes one line of JSON with the charge for each kind of value, and
 * the growth of the heap of this process.
 */

import assert from "node:assert/strict";
import { builtin, toolDialect, type Value } from "@toolcrib/starlark";
import { AssertionLog } from "./assertions.ts";
import { execute } from "./execute.ts";
import { programEnvironment } from "./program-environment.ts";

/** Programs that return one value, by the kind of value. */
const shapes: readonly (readonly [shape: string, program: string])[] = [
  ["a list of ints", "return list(range(500000))"],
  ["a list of floats", "return [i / 3 for i in range(200000)]"],
  ["a list of short strings", 'return ["item %d" % i for i in range(150000)]'],
  ["a list of lists", "return [[i] for i in range(100000)]"],
  ["tuples", "return [(i, i) for i in range(100000)]"],
  ["a dict of ints", "return {i: i for i in range(100000)}"],
  ["a dict of strings", 'return {"key %d" % i: "value %d" % i for i in range(80000)}'],
  [
    "records",
    'return [{"id": i, "name": "n%d" % i, "tags": ["a", "b"], "done": i % 2 == 0} for i in range(30000)]',
  ],
  ["one long string", 's = "ab" * 4000000\ns.find("x")\nstart()\nreturn s.upper()'],
];

function heapUsed(): number {
  (globalThis as { gc?: () => void }).gc!();
  return process.memoryUsage().heapUsed;
}

/** The charge and the heap size before the measured value is made. */
let start = { charged: 0, used: 0 };

const environment: ReadonlyMap<string, Value> = new Map<string, Value>([
  ...programEnvironment(new AssertionLog(), toolDialect),
  [
    "start",
    builtin("start()", "Measures from here on.", (t) => {
      start = { charged: t.memoryBytes, used: heapUsed() };
      return null;
    }),
  ],
]);

/** Values that are kept alive until they have been measured. */
const kept: Value[] = [];

async function measure(program: string): Promise<{ charged: number; used: number }> {
  start = { charged: 0, used: heapUsed() };
  const outcome = await execute(
    { name: "shape.star", text: program },
    { dialect: toolDialect, predeclared: environment, limits: { memoryBytes: 1024 * 1024 * 1024 } },
  );
  assert.equal(outcome.kind, "done");
  kept.push(outcome.value);
  // With this limit, the heap is never walked, so this is the total charge.
  return { charged: outcome.thread.memoryBytes - start.charged, used: heapUsed() - start.used };
}

for (const [, program] of shapes) await measure(program.replaceAll("0000", "00"));
kept.length = 0;
for (const [shape, program] of shapes) {
  console.log(JSON.stringify({ shape, ...(await measure(program)) }));
  kept.length = 0;
}
