/**
 * `node run-suspension.ts WAITS`: a program calls an asynchronous function of the
 * host this many times, five calls deep, and a synchronous one as many times. Prints
 * the microseconds of one call of each as JSON. The difference is the cost to leave
 * the machine, wait for a settled promise, and resume.
 */

import { builtin, compileProgram, executeProgram, Pending, Thread, toolDialect } from "@toolcrib/starlark";
import { host } from "./host.ts";

const waits = Number(process.argv[2]);
const limits = { steps: 1_000_000_000_000, wallMs: 3_600_000 };

const text = `
def five(count):
    for _ in range(count):
        ask()

def four(count):
    five(count)

def three(count):
    four(count)

def two(count):
    three(count)

def one(count):
    two(count)

one(${waits})
`;

const { program } = compileProgram(
  { name: "waits.star", text },
  { dialect: toolDialect, predeclared: ["ask"] },
);

async function microseconds(waiting: boolean): Promise<number> {
  const ask = builtin("ask()", "Answers.", () => (waiting ? new Pending(Promise.resolve(null)) : null), {
    defers: waiting,
  });
  const thread = new Thread(host, { limits });
  const startedAt = performance.now();
  await executeProgram(thread, program!, new Map([["ask", ask]]));
  return ((performance.now() - startedAt) * 1000) / waits;
}

let waiting = Number.POSITIVE_INFINITY;
let atOnce = Number.POSITIVE_INFINITY;
for (let repetition = 0; repetition < 10; repetition += 1) {
  waiting = Math.min(waiting, await microseconds(true));
  atOnce = Math.min(atOnce, await microseconds(false));
}
process.stdout.write(JSON.stringify({ waiting, atOnce }));
