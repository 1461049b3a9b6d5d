/** Programs take turns, so that many of them delay other work by one slice at a time. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextImmediate } from "node:timers/promises";
import { ProgramTurns } from "@toolcrib/metatool";
import { clientCall } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { type CompositeOutcome, setUpWorkshop } from "./workshop.ts";

/** Names of programs that had a turn of the event loop, one list for each turn. */
function recordTurns() {
  const turns: string[][] = [[]];
  let isEnded = false;
  const counting = (async () => {
    while (!isEnded) {
      await nextImmediate();
      turns.push([]);
    }
  })();
  return {
    mark: (name: string) => void turns.at(-1)?.push(name),
    async end(): Promise<readonly (readonly string[])[]> {
      isEnded = true;
      await counting;
      return turns;
    },
  };
}

test("of many programs, one starts or continues in one turn of the event loop, and clients come in turn", async () => {
  const recorder = recordTurns();
  const workshop = setUpWorkshop({
    mark: async ({ name }) => {
      recorder.mark(String(name));
      // The replies of all programs arrive together.
      await nextImmediate();
      return null;
    },
  });
  const turns = new ProgramTurns({ nextTurn: () => nextImmediate(), monotonicMs: () => performance.now() });
  const runs: Promise<CompositeOutcome>[] = [];
  const run = (client: string, name: string) => {
    const context = clientCall({ identity: localIdentity("token", client) });
    const code = `for step in range(3):\n    tools.mark(name="${name}")\nreturn 1`;
    runs.push(workshop.run(code, { context }, { turns }));
  };
  for (let at = 0; at < 50; at += 1) run("many", "many");
  run("one", "one");
  const outcomes = await Promise.all(runs);
  const marks = (await recorder.end()).filter(({ length }) => length > 0);
  for (const outcome of outcomes) assert.equal(outcome.kind, "result", JSON.stringify(outcome));
  assert.equal(marks.flat().length, 51 * 3);
  for (const names of marks) assert.equal(names.length, 1, names.join());
  // The one program of its client was never behind more than a few of the other client.
  assert.ok(marks.flat().indexOf("one") <= 3, marks.flat().slice(0, 10).join());
  assert.ok(marks.flat().lastIndexOf("one") <= 12, marks.flat().slice(0, 20).join());
});

test("a program that runs alone does not wait for a turn", async () => {
  let waitCount = 0;
  const turns = new ProgramTurns({
    nextTurn: () => {
      waitCount += 1;
      return nextImmediate();
    },
    monotonicMs: () => performance.now(),
    untilIdle: () => assert.fail("rested"),
    hasOtherCalls: () => false,
  });
  const workshop = setUpWorkshop({ echo: (args) => args });
  const { kind } = await workshop.run("return tools.echo(text='x')['text']", {}, { turns });
  assert.equal(kind, "result");
  assert.ok(waitCount <= 2, String(waitCount));
});

test("a program rests after a slice while clients without programs have calls in flight", async () => {
  const rests: number[] = [];
  const asked = new Set<string>();
  let areOthersBusy = true;
  const turns = new ProgramTurns({
    nextTurn: () => nextImmediate(),
    monotonicMs: () => performance.now(),
    hasOtherCalls: (clients) => {
      for (const client of clients) asked.add(client);
      return areOthersBusy;
    },
    untilIdle: async (maxMs) => void rests.push(maxMs),
  });
  const workshop = setUpWorkshop({});
  const code = "n = 0\nfor step in range(2000000):\n    n += step\nreturn n";
  const context = clientCall({ identity: localIdentity("token", "busy") });
  const first = await workshop.run(code, { context }, { turns });
  assert.equal(first.kind, "result", JSON.stringify(first));
  assert.ok(rests.length > 0);
  for (const maxMs of rests) assert.ok(maxMs > 0 && maxMs <= 50, String(maxMs));
  assert.equal(asked.size, 1);
  rests.length = 0;
  areOthersBusy = false;
  await workshop.run(code, { context }, { turns });
  assert.equal(rests.length, 0);
});
