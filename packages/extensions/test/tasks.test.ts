/** The limits of tasks, of one client and of all, and their time. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { isCodedError } from "@toolcrib/diagnostics";
import { Tasks } from "@toolcrib/extensions";
import type { JsonObject } from "@toolcrib/json";
import type { ServiceRequest } from "@toolcrib/mcp";
import { waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };

/** The tasks of one gateway whose clock the test sets. */
function open(limits: ConstructorParameters<typeof Tasks>[1]) {
  const clock = { now: 1_000_000 };
  const deps = { now: () => clock.now, randomBytes, logger: quiet, scrubber: { text: (one: string) => one } };
  const tasks = new Tasks(deps, limits);
  const identity = (name: string) => localIdentity("token", name);
  /** Starts a task of `name`. It ends with `result`, or when it is aborted. */
  const start = async (name: string, result?: string, ttlMs?: number) => {
    const request = {
      identity: identity(name),
      era: "legacy",
      params: {},
      clientCapabilities: {},
      signal: new AbortController().signal,
    } as unknown as ServiceRequest;
    const asked = { kind: "asked", tool: "s:slow", server: "s", ttlMs } as const;
    let signal: AbortSignal | undefined;
    const created = await tasks.run(request, asked, async (origin) => {
      assert.ok(origin);
      ({ signal } = origin);
      await origin.task.accepted({ id: "r1", era: "legacy" });
      if (result !== undefined) return { content: [{ type: "text", text: result }] };
      return new Promise<JsonObject>((_resolve, reject) => {
        origin.signal.addEventListener("abort", () => reject(origin.signal.reason), { once: true });
      });
    });
    const id = String((created["task"] as JsonObject)["taskId"]);
    return { id, signal: () => signal };
  };
  const codeOf = (started: Promise<unknown>) =>
    started.then(
      () => "started",
      (error: unknown) => (isCodedError(error) ? `${error.code}: ${error.message}` : String(error)),
    );
  return { tasks, clock, identity, start, codeOf };
}

test("one client gets at most half of the tasks that are free, and all together at most all", async () => {
  const { tasks, start, codeOf } = open({ maxTasks: 4 });
  await using _tasks = tasks;
  const share = "TASKS_FULL: This client's share of the tasks that are kept at a time are in use";
  for (const name of ["ada", "ada"]) assert.equal(await codeOf(start(name)), "started");
  assert.equal(await codeOf(start("ada")), share);
  assert.equal(await codeOf(start("bob")), "started");
  assert.equal(await codeOf(start("bob")), share);
  assert.equal(await codeOf(start("eve")), "started");
  assert.equal(await codeOf(start("kim")), "TASKS_FULL: All 4 tasks that are kept at a time are in use");
  assert.deepEqual(tasks.usage(), { running: 4, asking: 0, ended: 0, resultBytes: 0, refused: 3 });
});

test("a call that need not be a task is a plain one where none can be kept", async () => {
  const { tasks, start, identity } = open({ maxTasks: 2 });
  await using _tasks = tasks;
  await start("ada");
  const request = {
    identity: identity("ada"),
    era: "modern",
    params: {},
    clientCapabilities: {},
    signal: new AbortController().signal,
  } as unknown as ServiceRequest;
  const offered = { kind: "offered", tool: "s:slow", server: "s", ttlMs: undefined } as const;
  const result = await tasks.run(request, offered, async (origin) => ({ isPlain: origin === undefined }));
  assert.deepEqual(result, { isPlain: true });
  assert.equal(tasks.usage().refused, 1);
});

test("a task ends with its time: it is gone for its client, and its call is cancelled", async () => {
  const { tasks, clock, identity, start, codeOf } = open({
    maxTasks: 2,
    taskTtlSeconds: 10,
    taskTtlMaxSeconds: 20,
  });
  await using _tasks = tasks;
  const running = await start("ada");
  const ada = identity("ada");
  assert.equal(tasks.find(ada, running.id)?.facts.ttlMs, 10_000);
  assert.equal(tasks.find(identity("bob"), running.id), undefined);
  clock.now += 9_999;
  assert.notEqual(tasks.find(ada, running.id), undefined);
  clock.now += 1;
  assert.equal(tasks.find(ada, running.id), undefined);
  assert.deepEqual(tasks.listOf(ada), []);
  const signal = running.signal() ?? assert.fail();
  await waitUntil(() => signal.aborted);
  assert.match(String(signal.reason), /did not end within 10 s/);
  assert.equal((signal.reason as { readonly code?: string }).code, "TASK_EXPIRED");
  assert.equal(tasks.usage().running, 0);
  // Its place is free again, and nobody gets more time than all may have.
  assert.equal(await codeOf(start("ada")), "started");
  const long = await start("bob", "done", 3_600_000);
  assert.equal(tasks.find(identity("bob"), long.id)?.facts.ttlMs, 20_000);
});

test("a gateway that is being stopped leaves what servers run, ends what it runs itself, and starts nothing", async () => {
  const { tasks, start, codeOf } = open({ maxTasks: 8 });
  const ended = await start("ada", "done");
  const running = await start("ada");
  assert.equal(running.signal()?.aborted, false);
  await tasks[Symbol.asyncDispose]();
  const signal = running.signal() ?? assert.fail();
  assert.equal((signal.reason as { readonly code?: string }).code, "TASK_LEFT");
  assert.equal(ended.signal()?.aborted, false);
  assert.equal(await codeOf(start("bob")), "TASK_LEFT: The gateway is being stopped");
});

test("results share their bytes: the oldest of a client make room, and those of others stay", async () => {
  const { tasks, identity, start } = open({ taskResultsMaxBytes: 64 * 1024 });
  await using _tasks = tasks;
  const kept = (name: string, id: string) => {
    const outcome = tasks.find(identity(name), id)?.outcome ?? assert.fail();
    return "result" in outcome ? "kept" : String((outcome.error as JsonObject)["message"]);
  };
  const text = "x".repeat(14 * 1024);
  const other = await start("bob", text);
  const first = await start("ada", text);
  const second = await start("ada", text);
  const third = await start("ada", text);
  const large = await start("eve", "x".repeat(40 * 1024));
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(kept("bob", other.id), "kept");
  assert.match(kept("ada", first.id), /newer results needed the room/);
  assert.deepEqual([kept("ada", second.id), kept("ada", third.id)], ["kept", "kept"]);
  const { ended, resultBytes } = tasks.usage();
  assert.deepEqual([ended, resultBytes >= 42 * 1024 && resultBytes <= 64 * 1024], [5, true]);
  assert.match(kept("eve", large.id), /too large to be kept/);
});
