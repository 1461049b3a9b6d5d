/**
 * Runs attacks in a separate process, and reports how each one ended and how much
 * memory the process used. `limits.security.process.test.ts` starts it with `--expose-gc`,
 * the name of a group, and optionally the name of one attack. Writes one line of JSON
 * for each attack.
 */

import assert from "node:assert/strict";
import { builtin, Pending, toolDialect, type Value } from "@toolcrib/starlark";
import { sampled } from "@toolcrib/testing";
import { AssertionLog } from "./assertions.ts";
import { type Attack, memoryBombs, parserBombs, timeBombs } from "./attacks.ts";
import { execute, type Outcome } from "./execute.ts";
import { programEnvironment } from "./program-environment.ts";

/** The outcome of one attack. */
export interface AttackReport {
  readonly name: string;
  readonly ended: string;
  readonly message: string;
  readonly steps: number;
  readonly memoryBytes: number;
  /** Increase of the maximum resident set size since the warm-up. */
  readonly riseBytes: number;
}

const groups: ReadonlyMap<string, readonly Attack[]> = new Map([
  ["memory", memoryBombs],
  ["time", timeBombs],
  ["parser", parserBombs],
]);

const environment: ReadonlyMap<string, Value> = new Map<string, Value>([
  ...programEnvironment(new AssertionLog(), toolDialect),
  [
    "never",
    builtin("never()", "Waits for ever.", () => new Pending(new Promise(() => {})), { defers: true }),
  ],
]);

function run({ source, manySteps }: Attack): Promise<Outcome> {
  return execute(
    { name: "attack.star", text: source },
    {
      dialect: toolDialect,
      predeclared: environment,
      limits: {
        memoryBytes: 32 * 1024 * 1024,
        wallMs: manySteps === true ? 200 : 20_000,
        ...(manySteps === true ? { steps: 1_000_000_000_000 } : {}),
      },
    },
  );
}

async function report(attack: Attack, baselineBytes: number): Promise<AttackReport> {
  const outcome = await run(attack);
  (globalThis as { gc?: () => void }).gc?.();
  const riseBytes = process.resourceUsage().maxRSS * 1024 - baselineBytes;
  const { name } = attack;
  if (outcome.kind === "static") {
    const message = outcome.errors[0]!.message;
    return { name, ended: "static", message, steps: 0, memoryBytes: 0, riseBytes };
  }
  const { steps, memoryBytes } = outcome.thread;
  if (outcome.kind === "done") return { name, ended: "done", message: "", steps, memoryBytes, riseBytes };
  const { kind, message } = outcome.error;
  return { name, ended: kind, message: message.slice(0, 200), steps, memoryBytes, riseBytes };
}

/** Compiles code and grows the young generation before the baseline is measured. */
async function warmUp(): Promise<void> {
  const source =
    'xs = [str(i) + "x" for i in range(20000)]\nd = {x: [x] for x in xs}\njson.decode(json.encode(d))\nfor i in range(50): ys = [[x] for x in xs]';
  for (let round = 0; round < 3; round += 1) {
    const outcome = await run({ name: "warm-up", source, ends: "done" });
    assert.equal(outcome.kind, "done");
  }
}

/** Must equal the constant in `limits.security.process.test.ts`. */
const sampleStep = 16;

const attacks = groups.get(process.argv[2]!)!;
const only = process.argv[3];
await warmUp();
(globalThis as { gc?: () => void }).gc?.();
const baselineBytes = process.resourceUsage().maxRSS * 1024;
for (const attack of only === undefined ? sampled(attacks, sampleStep) : attacks) {
  if (only !== undefined && attack.name !== only) continue;
  console.log(JSON.stringify(await report(attack, baselineBytes)));
}
