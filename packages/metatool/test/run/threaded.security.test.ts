/** Executions in a thread: the same outcomes as in the event loop of the gateway, which they neither block nor fill. */

import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { CodedError } from "@toolcrib/diagnostics";
import { startThreadedExecutions } from "@toolcrib/metatool";
import { clientCall, slowTest } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { type CompositeOutcome, type RunRequest, sampleTools, setUpWorkshop } from "./workshop.ts";

/** Emits `call` for each call of the tool `a.wait`. */
const waiting = new EventEmitter();
/** Lengths of the arguments that the tool `echo` got. */
const lengths: number[] = [];

const workshop = setUpWorkshop({
  ...sampleTools(waiting),
  echo: (args) => {
    lengths.push(JSON.stringify(args).length);
    return args;
  },
});

/** Returns an outcome without its duration. */
function withoutTime({ executionTime, ...outcome }: CompositeOutcome): unknown {
  assert.ok(executionTime >= 0);
  return JSON.parse(JSON.stringify(outcome));
}

const grow = 'kept = []\nfor n in range(100000000):\n    kept.append(str(n) + "x" * 100000)';

test("a program in a thread has the same outcome as in this one, and runs again", async () => {
  await using threaded = startThreadedExecutions(workshop.deps);
  const rows: readonly [code: string, request?: RunRequest][] = [
    [
      'print("hello")\nreturn [github.searchIssues(query=params.q)[0].title, my_server.list(), tools["echo"](a=1)]',
      { params: { q: "x" } },
    ],
    ["return [time.now().unix, math.floor(1.5), [n for n in tools]]"],
    ["x = 1\nreturn sad.fail()", { options: { debug: true } }],
    ["sad.denied()"],
    ['name = "github.serchIssues"\nreturn tools[name]()'],
    ['github.searchIssues("x")'],
    ["return parallel_map(lambda n: a.wait(n=n), [9, 1, 5])"],
    ["while True:\n  pass", { options: { steps: 5000 } }],
    ["while True:\n  echo_ = tools.echo()", { options: { toolCalls: 2 } }],
    ["x = = 1"],
    ['return "x" * 100', { options: { resultBytes: 50 } }],
    ['x = "a" * 5000000', { options: { memoryBytes: 1_000_000 } }],
    [`x = ${"1".concat(" + 1".repeat(900))}\nreturn x`],
    ['return tools["echo"](a="x" * 5000000)'],
  ];
  for (const [code, request] of rows) {
    const here = await workshop.run(code, request);
    for (let run = 0; run < 2; run += 1) {
      assert.deepEqual(withoutTime(await workshop.run(code, request, { threaded })), withoutTime(here), code);
    }
  }
  assert.ok(Math.max(...lengths) < 5_000_000);
});

test("a program in a thread reads why a tool cannot be called", async () => {
  await using threaded = startThreadedExecutions(workshop.deps);
  const catalog = { ...workshop.catalog, explain: (name: string) => `the server of ${name} is down` };
  const code = 'name = "gone" + ".tool"\nreturn tools[name]()';
  const outcome = await workshop.run(code, { catalog }, { threaded });
  assert.match(JSON.stringify(outcome), /Cannot call .*gone\.tool.*: the server of gone\.tool is down/);
});

test("a program in a thread ends at its deadline and on cancellation, and others continue", async () => {
  await using threaded = startThreadedExecutions(workshop.deps);
  const run = (code: string, request: RunRequest) => workshop.run(code, request, { threaded });
  const busy = run("while True:\n  pass", { options: { timeoutMs: 50, steps: 1_000_000_000 } });
  const other = run("return 1", {});
  const late = await busy;
  assert.deepEqual(late.kind === "error" && [late.error.type, late.error.message], [
    "timeout_error",
    "out of time: the limit is 50 ms",
  ]);
  assert.equal((await other).kind, "result");
  const controller = new AbortController();
  const called = once(waiting, "call");
  const pending = run("a.wait(n=100000)", { context: clientCall({ signal: controller.signal }) });
  await called;
  controller.abort(new CodedError("CALL_TIMEOUT", "The client left"));
  const left = await pending;
  assert.deepEqual(left.kind === "error" && [left.error.type, left.error.message], [
    "timeout_error",
    "cancelled: The client left",
  ]);
  const before = await run("return 1", { context: clientCall({ signal: controller.signal }) });
  assert.equal(before.kind, "error");
});

test("programs that fill the memory of a thread leave the heap of this one as it is", slowTest, async () => {
  await using threaded = startThreadedExecutions(workshop.deps);
  const greedy = clientCall({ identity: localIdentity("token", "greedy") });
  const before = process.memoryUsage().heapUsed;
  const attacks = Array.from({ length: 12 }, () => workshop.run(grow, { context: greedy }, { threaded }));
  const context = clientCall({ identity: localIdentity("token", "modest") });
  const modest = await workshop.run("return [n for n in range(10)][9]", { context }, { threaded });
  assert.deepEqual(modest.kind === "result" && modest.result, 9);
  for (const outcome of await Promise.all(attacks)) {
    assert.equal(outcome.kind === "error" && outcome.error.type, "resource_error", JSON.stringify(outcome));
  }
  assert.ok(process.memoryUsage().heapUsed - before < 64 * 1024 * 1024);
});

test("a thread that does not end a program is ended, and the next program has a new one", async () => {
  await using threaded = startThreadedExecutions(workshop.deps, { graceMs: 0 });
  // The thread starts within the time of the first program, which is too short for that.
  const lost = await workshop.run("return 1", { options: { timeoutMs: 1 } }, { threaded });
  assert.match(
    JSON.stringify(lost),
    /resource_error.*A program did not end within 1 ms, and its thread was ended/,
  );
  const next = await workshop.run("return 1", {}, { threaded });
  assert.equal(next.kind, "result", JSON.stringify(next));
});

test("an idle thread ends, disposal ends running programs, and then none starts", async () => {
  const threaded = startThreadedExecutions(workshop.deps, { idleMs: 1 });
  for (let run = 0; run < 2; run += 1) {
    assert.equal((await workshop.run("return 1", {}, { threaded })).kind, "result");
    await delay(50);
  }
  const called = once(waiting, "call");
  const pending = workshop.run("a.wait(n=100000)", {}, { threaded });
  await called;
  await threaded[Symbol.asyncDispose]();
  assert.match(JSON.stringify(await pending), /The gateway is closing/);
  assert.match(JSON.stringify(await workshop.run("return 1", {}, { threaded })), /The gateway is closing/);
});
