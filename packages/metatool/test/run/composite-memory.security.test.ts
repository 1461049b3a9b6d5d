/** Memory that all composites share, and the size of the arguments of inner calls. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { CompositeMemory } from "@toolcrib/metatool";
import { clientCall, ManualTimers, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { type CompositeOutcome, setUpWorkshop } from "./workshop.ts";

const mib = 1024 * 1024;

let gate = Promise.withResolvers<void>();
let waiting = 0;

const workshop = setUpWorkshop({
  "a.wait": async () => {
    waiting += 1;
    await gate.promise;
    return null;
  },
  echo: (args) => args,
});

/** Keeps `size` MiB, which a program can reach, while it waits for a tool. */
const keeping = (size: number) =>
  `x = ["a" * ${mib} + str(i) for i in range(${size})]\na.wait()\nreturn len(x)`;

function errorOf(outcome: CompositeOutcome): string {
  return outcome.kind === "error" ? JSON.stringify(outcome.error) : "";
}

function setUp(
  totalMib: number,
  waitMs: number,
  deps: ConstructorParameters<typeof CompositeMemory>[0] = workshop.deps,
): CompositeMemory {
  gate = Promise.withResolvers();
  waiting = 0;
  return new CompositeMemory(deps, { totalBytes: totalMib * mib, waitMs });
}

test("programs that wait for a tool share one total, whatever their own limits allow", async () => {
  const memory = setUp(32, 20);
  const runs = Array.from({ length: 20 }, () => workshop.run(keeping(8), {}, { memory }));
  let ended = 0;
  for (const run of runs) run.then(() => (ended += 1));
  await waitUntil(() => waiting + ended === 20);
  assert.ok(waiting >= 1 && waiting <= 2, `${waiting} programs of one client keep 8 MiB each`);
  assert.ok(memory.usedBytes <= 16 * mib);
  // Another client has room.
  const other = clientCall({ identity: localIdentity("token", "other") });
  assert.equal(
    (
      await workshop.run(
        `x = ["a" * ${mib} for i in range(7)]\nreturn len(x)`,
        { context: other },
        { memory },
      )
    ).kind,
    "result",
  );
  gate.resolve();
  const errors = (await Promise.all(runs)).map(errorOf).filter((error) => error !== "");
  assert.ok(errors.length >= 18);
  for (const error of errors)
    assert.match(error, /resource_error.*(all running programs together|METATOOL_MEMORY_BUSY)/);
  assert.equal(memory.usedBytes, 0);
  const { kind } = await workshop.run(keeping(8), {}, { memory });
  assert.equal(kind, "result");
});

test("a new program waits for memory, and is refused with a code if none becomes free", async () => {
  const timers = new ManualTimers();
  const memory = setUp(4, 60_000, timers);
  const first = workshop.run("a.wait()\nreturn 1", {}, { memory });
  const second = workshop.run("a.wait()\nreturn 2", {}, { memory });
  await waitUntil(() => waiting === 2);
  const refused = workshop.run("return 1", {}, { memory });
  await waitUntil(() => timers.delays.length === 1);
  timers.fire();
  assert.match(errorOf(await refused), /METATOOL_MEMORY_BUSY/);
  gate.resolve();
  assert.deepEqual([(await first).kind, (await second).kind], ["result", "result"]);

  const single = setUp(2, 60_000, timers);
  const running = workshop.run("a.wait()\nreturn 1", {}, { memory: single });
  await waitUntil(() => waiting === 1);
  const next = [1, 2, 3].map((n) => workshop.run(`return ${n}`, {}, { memory: single }));
  await waitUntil(() => timers.delays.length === 3);
  gate.resolve();
  await running;
  assert.deepEqual(
    (await Promise.all(next)).map(({ kind }) => kind),
    ["result", "result", "result"],
  );
});

test("a program with memory to collect does not reserve it", async () => {
  const memory = setUp(16, 20);
  const { kind } = await workshop.run(`for i in range(200): x = "a" * ${mib} + str(i)`, {}, { memory });
  assert.equal(kind, "result");
});

test("the arguments of an inner call are limited", async () => {
  const large = await workshop.run('return len(tools.echo(text="x" * 5000000))');
  assert.match(errorOf(large), /the arguments of echo are larger than 4194304 bytes of JSON/);
  assert.deepEqual(
    workshop.called,
    workshop.called.filter((id) => id !== "echo"),
  );
  const { kind } = await workshop.run('x = tools.echo(text="x" * 4000000)\nreturn len(x["text"])');
  assert.equal(kind, "result");
});
