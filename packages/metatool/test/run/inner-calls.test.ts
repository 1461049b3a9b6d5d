/** Inner calls: limits, concurrency, records, and cancellation. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { CodedError } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { clientCall } from "@toolcrib/testing";
import { setUpWorkshop } from "./workshop.ts";

test("parallel calls run concurrently, up to the width", async () => {
  let inFlight = 0;
  let most = 0;
  const workshop = setUpWorkshop({
    "a.wait": async ({ n }) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      await delay(2 + (Number(n) % 3));
      inFlight -= 1;
      return Number(n) * 10;
    },
  });
  const code = "return parallel_map(lambda n: a.wait(n=n), range(20), limit=16)";
  const outcome = await workshop.run(code, { options: { parallelWidth: 3 } });
  assert.deepEqual(
    outcome.kind === "result" && outcome.result,
    [...Array(20).keys()].map((n) => n * 10),
  );
  assert.equal(most, 3);
  assert.equal(outcome.toolCalls.length, 20);
});

test("the records replace long values by their size", async () => {
  const workshop = setUpWorkshop({ "a.text": ({ n }) => "x".repeat(Number(n)) });
  const outcome = await workshop.run(
    'a.text(n=100000)\na.text(n=5)\na.text({"n": 1, "more": "y" * 70000})\nfor i in range(30):\n  a.text(n=60000)',
  );
  const [long, short, args, ...rest] = outcome.toolCalls;
  assert.deepEqual(long?.result, { truncated: true, bytes: 100_002 });
  assert.equal(short?.result, "xxxxx");
  assert.deepEqual([args?.params, args?.result], [{ truncated: true, bytes: 70_017 }, "x"]);
  const kept = rest.filter(({ result }) => typeof result === "string");
  assert.equal(kept.length, 17);
  assert.ok(JSON.stringify(outcome.toolCalls).length < 1_100_000);
});

test("a cancelled execution cancels its inner calls", async () => {
  const controller = new AbortController();
  const seen: unknown[] = [];
  let inFlight = 0;
  const workshop = setUpWorkshop({
    "a.hang": (_args, { signal }) =>
      new Promise((_resolve, reject) => {
        inFlight += 1;
        signal.addEventListener("abort", () => {
          seen.push(signal.reason);
          reject(signal.reason);
        });
        if (inFlight === 2)
          setImmediate(() => controller.abort(new CodedError("CALL_CANCELLED", "The client left")));
      }),
  });
  const outcome = await workshop.run("parallel([a.hang, a.hang])", {
    context: clientCall({ signal: controller.signal }),
  });
  assert.equal(outcome.kind, "error");
  assert.deepEqual(
    [outcome.error.type, outcome.error.message],
    ["runtime_error", "cancelled: The client left"],
  );
  assert.deepEqual(seen, [controller.signal.reason, controller.signal.reason]);
});

test("an execution that times out leaves no inner call in flight", async () => {
  let aborted = 0;
  const workshop = setUpWorkshop({
    "a.hang": (_args, { signal }) =>
      new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          aborted += 1;
          resolve(null);
        });
      }),
  });
  const outcome = await workshop.run("try:\n  a.hang()\nexcept:\n  return 1", { options: { timeoutMs: 20 } });
  assert.equal(outcome.kind, "error");
  assert.deepEqual(
    [outcome.error.type, outcome.error.details],
    ["timeout_error", { line: 2, column: 9, snippet: "a.hang()", tool: "a.hang" }],
  );
  assert.equal(aborted, 1);
  const late = new AbortController();
  late.abort(new CodedError("CALL_TIMEOUT", "The call around it is over"));
  const dead = await workshop.run("a.hang()", { context: clientCall({ signal: late.signal }) });
  assert.equal(dead.kind === "error" && dead.error.type, "timeout_error");
  assert.deepEqual(dead.toolCalls, []);
});

test("calls that are nested too deep end the program and cannot be caught", async () => {
  const workshop = setUpWorkshop({
    "saved.self": {
      isComposite: true,
      work: () => {
        throw new CodedError("CALL_TOO_DEEP", "Calls within calls go 16 deep at most");
      },
    },
  });
  const outcome = await workshop.run("try:\n  saved.self()\nexcept:\n  return 1");
  assert.equal(outcome.kind, "error");
  assert.deepEqual(
    [outcome.error.type, outcome.error.message],
    ["resource_error", "Calls within calls go 16 deep at most"],
  );
});

test("the progress of inner calls is summed and never decreases", async () => {
  const reported: JsonObject[] = [];
  const workshop = setUpWorkshop({
    "a.work": (_args, { progress }) => {
      progress({ progress: 1, total: 2, message: "half" });
      progress({ progress: 0, total: 2 });
      progress({ progress: 2, total: 2 });
      return null;
    },
    "a.vague": (_args, { progress }) => {
      progress({ progress: 1 });
      progress({ progress: 100 });
      return null;
    },
  });
  const context = clientCall({ wantsProgress: true, progress: (params) => reported.push(params) });
  await workshop.run("a.work()\na.vague()", { context });
  assert.deepEqual(reported, [
    { progress: 0.5, message: "a.work: half" },
    { progress: 0.99, message: "a.work" },
    { progress: 1, message: "a.work" },
    { progress: 1.5, message: "a.vague" },
    { progress: 1.99, message: "a.vague" },
    { progress: 2, message: "a.vague" },
  ]);
});

test("recorded replies replace the host, and every reply is reported", async () => {
  const workshop = setUpWorkshop({ "a.real": () => "real", "a.other": () => "other" });
  const heard: [string, unknown, { readonly kind: string }][] = [];
  const code =
    "x = a.real(n=1)\ny = attempt(a.other)\nreturn [x, y.error.message, attempt(a.real, n=2).error.details.code]";
  const outcome = await workshop.run(code, {
    replies: ({ name }, { n }) => {
      if (name === "other") return { kind: "error", message: "as on record" };
      return n === 1 ? { kind: "value", value: "played" } : undefined;
    },
    onReply: ({ id }, params, reply) => heard.push([id, { ...params }, reply]),
  });
  assert.deepEqual(outcome.kind === "result" && outcome.result, [
    "played",
    "as on record",
    "METATOOL_REPLY_MISSING",
  ]);
  assert.deepEqual(workshop.called, []);
  assert.deepEqual(
    heard.map(([id, params, { kind }]) => [id, params, kind]),
    [
      ["a:real", { n: 1 }, "value"],
      ["a:other", {}, "error"],
      ["a:real", { n: 2 }, "error"],
    ],
  );
});

test("a failing source of replies is an error of the inner call", async () => {
  const workshop = setUpWorkshop({ "a.real": () => "real" });
  const outcome = await workshop.run("return a.real()", {
    replies: () => {
      throw new Error("the tape tore");
    },
  });
  assert.deepEqual(outcome.kind === "error" && outcome.error.message, "a.real: the tape tore");
});

test("a program that was compiled for one catalogue runs in another that has its names", async () => {
  const one = setUpWorkshop({ "a.x": () => 1, "b.y": () => 2 });
  const two = setUpWorkshop({ "a.x": () => 10 });
  const code = "return a.x()";
  const both = async (text: string) => [
    await one.run(text),
    await two.run(text, { catalog: two.catalog }),
    await one.run(text),
  ];
  const results = (await both(code)).map((outcome) => outcome.kind === "result" && outcome.result);
  assert.deepEqual(results, [1, 10, 1]);
  // The cache has the program for the first catalogue; the second catalogue lacks a name.
  const missing = await one.run("return b.y()", {});
  assert.equal(missing.kind, "result");
  const shrunk = await one.run("return b.y()", { catalog: two.catalog });
  assert.equal(
    shrunk.kind === "error" && shrunk.error.message,
    "The code has an error in line 1: undefined: b",
  );
});
