/** Executions in separate processes: the same outcomes, and no process left behind. */

import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { startIsolatedExecutions } from "@toolcrib/metatool";
import type { SpawnWrap } from "@toolcrib/process";
import { canFindProcesses, clientCall, isProcessAlive, runProcess, waitUntil } from "@toolcrib/testing";
import { type CompositeOutcome, type RunRequest, sampleTools, setUpWorkshop } from "./workshop.ts";

/** Emits `call` for each call of the tool `a.wait`. */
const waiting = new EventEmitter();

const workshop = setUpWorkshop({
  ...sampleTools(waiting),
  echo: (args) => args,
});

/** Returns an outcome without its duration, which is a part of `elapsedMs`, the time around the run. */
function withoutTime({ executionTime, ...outcome }: CompositeOutcome, elapsedMs: number): unknown {
  assert.ok(executionTime > 0 && executionTime <= elapsedMs + 0.001, String(executionTime));
  return JSON.parse(JSON.stringify(outcome));
}

/** Runs a program here and in a separate process, and checks that the outcomes are equal. */
async function compare(code: string, request: RunRequest | undefined, isolated: Isolated): Promise<void> {
  const startedMs = performance.now();
  const here = await workshop.run(code, request);
  const options = { ...request?.options, isolation: "process" as const };
  const there = await workshop.run(code, { ...request, options }, { isolated });
  const elapsedMs = performance.now() - startedMs;
  assert.deepEqual(withoutTime(there, elapsedMs), withoutTime(here, elapsedMs), code.slice(0, 400));
}

type Isolated = ReturnType<typeof startIsolatedExecutions>;

test("a program in a separate process has the same outcome as in this process", async () => {
  await using isolated = startIsolatedExecutions(workshop.deps, { readyMs: 60_000 });
  const rows: readonly [code: string, request?: RunRequest][] = [
    [
      'print("hello")\nreturn [github.searchIssues(query=params.q)[0].title, my_server.list(), tools["echo"](a=1)]',
      { params: { q: "x" } },
    ],
    ["return [time.now().unix, math.floor(1.5), [n for n in tools]]"],
    ["x = 1\nreturn sad.fail()", { options: { debug: true } }],
    ["sad.denied()"],
    ['github.searchIssues("x")'],
    ["return parallel_map(lambda n: a.wait(n=n), [9, 1, 5])"],
    ["while True:\n  pass", { options: { steps: 5000 } }],
    ["while True:\n  echo_ = tools.echo()", { options: { toolCalls: 2 } }],
    ["x = = 1"],
    ["return undefined_name"],
    ['return "x" * 100', { options: { resultBytes: 50 } }],
    ['x = "a" * 5000000', { options: { memoryBytes: 1_000_000 } }],
  ];
  for (const [code, request] of rows) {
    await compare(code, request, isolated);
  }
});

test("a program with deep expressions runs in a separate process as in this one", async () => {
  await using isolated = startIsolatedExecutions(workshop.deps, { readyMs: 60_000 });
  const expressions = ["1".concat(" + 1".repeat(900)), '""'.concat(" + params.a".repeat(900))];
  expressions.push("[0]".concat("[:]".repeat(900)), `params.f${"()".repeat(900)}`);
  for (const expression of expressions) {
    for (const code of [`x = ${expression}`, `def f():\n  return ${expression}\nreturn 1`]) {
      await compare(code, { params: { a: "b", f: 1 } }, isolated);
    }
  }
});

test("the start of a process counts against the time of the program", async () => {
  // The process is replaced by one that never becomes ready.
  const wrap: SpawnWrap = (request) => ({ ...request, args: ["-e", "setInterval(() => {}, 1000)"] });
  await using isolated = startIsolatedExecutions({ ...workshop.deps, wrap }, { graceMs: 50 });
  const options = { isolation: "process" as const, timeoutMs: 300 };
  const outcome = await workshop.run("return 1", { options }, { isolated });
  assert.equal(outcome.kind, "error");
  assert.match(JSON.stringify(outcome), /timeout_error.*out of time: the limit is 300 ms/);
});

test("a program with 24 nested finally bodies is compiled and runs", async () => {
  await using isolated = startIsolatedExecutions(workshop.deps, { readyMs: 60_000 });
  const lines = Array.from({ length: 24 }, (_, depth) => {
    const indent = " ".repeat(depth);
    return `${indent}try:\n${indent} n += 1\n${indent}finally:`;
  });
  const code = ["n = 0", ...lines, `${" ".repeat(24)}n += 1`, "return n"].join("\n");
  const outcome = await workshop.run(code, { options: { isolation: "process" } }, { isolated });
  assert.deepEqual(outcome.kind === "result" ? outcome.result : outcome, 25);
});

test("a program in a separate process ends at its deadline and on cancellation", async () => {
  await using isolated = startIsolatedExecutions(workshop.deps, { readyMs: 60_000 });
  const run = (code: string, request: RunRequest) =>
    workshop.run(code, { ...request, options: { ...request.options, isolation: "process" } }, { isolated });
  const busy = await run("while True:\n  pass", { options: { timeoutMs: 50, steps: 1_000_000_000 } });
  assert.deepEqual(busy.kind === "error" && [busy.error.type, busy.error.message], [
    "timeout_error",
    "out of time: the limit is 50 ms",
  ]);
  const controller = new AbortController();
  const called = once(waiting, "call");
  const pending = run("a.wait(n=100000)", { context: clientCall({ signal: controller.signal }) });
  await called;
  controller.abort(new Error("The client left"));
  const left = await pending;
  assert.deepEqual(left.kind === "error" && [left.error.type, left.error.message], [
    "runtime_error",
    "cancelled: The client left",
  ]);
  const before = await run("return 1", { context: clientCall({ signal: controller.signal }) });
  assert.equal(before.kind, "error");
});

test("executions beyond the number of processes wait for their turn", async () => {
  await using isolated = startIsolatedExecutions(workshop.deps, { maxProcesses: 1 });
  const outcomes = await Promise.all(
    [3, 2, 1].map((n) =>
      workshop.run(
        "return a.wait(n=params.n)",
        { params: { n }, options: { isolation: "process" } },
        { isolated },
      ),
    ),
  );
  assert.deepEqual(
    outcomes.map((outcome) => outcome.kind === "result" && outcome.result),
    [3, 2, 1],
  );
});

test("a process that cannot start is an error of the execution", async () => {
  // A heap of 64 MiB, and a program that may use ten times that by the accounting of the language.
  await using isolated = startIsolatedExecutions(workshop.deps, { memoryBytes: 1 });
  const outcome = await workshop.run(
    "x = [[i] for i in range(3000000)]\nreturn len(x)",
    { options: { isolation: "process", memoryBytes: 1_000_000_000, steps: 1_000_000_000 } },
    { isolated },
  );
  assert.equal(outcome.kind, "error");
  assert.equal(outcome.error.type, "resource_error");
  assert.match(outcome.error.message, /^The process of the execution ended with /);
  assert.equal(
    outcome.error.details?.["hint"],
    "the process may have run out of memory; hold less data at a time",
  );
});

test("after disposal no execution and no process is left", async () => {
  const isolated = startIsolatedExecutions(workshop.deps, { readyMs: 60_000 });
  const pending = workshop.run("a.wait(n=100000)", { options: { isolation: "process" } }, { isolated });
  await nextTurn();
  await isolated[Symbol.asyncDispose]();
  await isolated[Symbol.asyncDispose]();
  const ended = await pending;
  assert.equal(ended.kind === "error" && ended.error.type, "resource_error");
  const late = await workshop.run("return 1", { options: { isolation: "process" } }, { isolated });
  assert.deepEqual(late.kind === "error" && late.error.message, "The gateway is closing");
});

test("an idle process does not keep its parent alive, and ends with it", {
  skip: canFindProcesses ? false : "children are found in /proc",
}, async () => {
  const parent = (rest: string) => `
      import { readFileSync } from "node:fs";
      import { startIsolatedExecutions } from "@toolcrib/metatool";
      const isolated = startIsolatedExecutions({
        startTimer(delayMs, callback) {
          const timer = setTimeout(callback, delayMs);
          return () => clearTimeout(timer);
        },
      });
      console.log(readFileSync("/proc/self/task/" + process.pid + "/children", "utf8"));
      ${rest}`;
  // The idle process reports nothing when it is ready, so the second parent lives long enough for it to start.
  for (const rest of ["", "setTimeout(() => process.kill(process.pid, 'SIGKILL'), 300);"]) {
    const { stdout } = await runProcess(
      process.execPath,
      [...process.execArgv.filter(isCondition), "--input-type=module", "--eval", parent(rest)],
      { cwd: import.meta.dirname },
    );
    const pid = Number(stdout.trim());
    assert.ok(pid > 0, stdout);
    await waitUntil(() => !isProcessAlive(pid), { what: `process ${pid} is gone` });
  }
});

function isCondition(argument: string): boolean {
  return argument.startsWith("--conditions");
}
