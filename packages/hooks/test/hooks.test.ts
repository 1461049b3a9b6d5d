/** Hooks: which calls they are about, how many of them run, and what they may answer. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { createEgress } from "@toolcrib/egress";
import { createSend, Hooks } from "@toolcrib/hooks";
import type { JsonObject } from "@toolcrib/json";
import { waitUntil } from "@toolcrib/testing";
import { identityKey, localIdentity, type ToolId } from "@toolcrib/tool";
import fc from "fast-check";

type HookRule = Parameters<Hooks["ask"]>[0];
type SendToHook = HookRule["send"];

const agent = localIdentity("token", "agent");
const other = localIdentity("token", "other");
const limits = { maxRunning: 4, maxWaiting: 4, inputMaxBytes: 1000, answerMaxBytes: 1000 };

function rule(send: SendToHook, more: Partial<HookRule> = {}): HookRule {
  return { name: "one", tools: undefined, clients: undefined, timeoutMs: 60_000, send, ...more };
}

function hooksOf(before: readonly HookRule[], after: readonly HookRule[] = []): Hooks {
  const clientKeys = (name: string) => [identityKey(localIdentity("token", name))];
  return new Hooks(
    { before, after, limits },
    { clientKeys, monotonicMs: () => performance.now(), randomBytes },
  );
}

const never = new AbortController().signal;

function ask(
  send: SendToHook,
  {
    hooks = hooksOf([]),
    value = {},
    original,
    identity = agent,
    signal = never,
    leftMs = 60_000,
    timeoutMs = 60_000,
  }: {
    readonly hooks?: Hooks;
    readonly value?: JsonObject;
    readonly original?: JsonObject;
    readonly identity?: typeof agent;
    readonly signal?: AbortSignal;
    readonly leftMs?: number;
    readonly timeoutMs?: number;
  } = {},
) {
  return hooks.ask(rule(send, { timeoutMs }), "before_call", {
    callId: "c1",
    identity,
    facts: { tool: "s:t" },
    subject: "arguments",
    value,
    ...(original === undefined ? {} : { original }),
    leftMs,
    signal,
  });
}

/**
 * Returns the arguments that a hook's answer leads to, or how it failed.
 *
 * @param answer returns the answer to what the hook sees
 * @param hidden `original` with marks, as a gateway hides it
 */
async function restored(answer: (seen: Seen) => JsonObject, hidden: JsonObject, original: JsonObject) {
  const roomy = { ...limits, inputMaxBytes: 1 << 24, answerMaxBytes: 1 << 24 };
  const deps = { clientKeys: () => [], monotonicMs: () => performance.now(), randomBytes };
  const hooks = new Hooks({ before: [], after: [], limits: roomy }, deps);
  const send: SendToHook = async (question) => {
    const { arguments: seen } = JSON.parse(question) as { readonly arguments: Seen };
    return JSON.stringify({ decision: "replace", arguments: answer(seen) });
  };
  const outcome = await ask(send, { hooks, value: hidden, original });
  if (outcome.answer.decision === "replace") return outcome.answer.value;
  return outcome.answer.decision === "failed" ? outcome.answer.reason : assert.fail();
}

// biome-ignore lint/suspicious/noExplicitAny: hooks read arguments of any form.
type Seen = any;

const subject = (id: string, isOwn = false, identity = agent) => {
  const wireName = id.replace(":", "__");
  return { id: id as ToolId, wireName, isOwn, identity };
};

test("hooks are chosen by tool and client, in their order", () => {
  const send = async () => "";
  const hooks = hooksOf(
    [
      rule(send, { name: "all" }),
      rule(send, { name: "read", tools: ["s:read"] }),
      rule(send, { name: "own", tools: ["toolcrib:*"] }),
      rule(send, { name: "notes", tools: ["s:resources/file:///a b"] }),
    ],
    [rule(send, { name: "ofOther", clients: ["other"] })],
  );
  const names = (...args: Parameters<typeof subject>) => {
    const found = hooks.matching(subject(...args));
    return found && [found.before.map(({ name }) => name).join(), found.after.map(({ name }) => name).join()];
  };
  assert.deepEqual(names("s:read"), ["all,read", ""]);
  assert.deepEqual(names("s:write", false, other), ["all", "ofOther"]);
  assert.deepEqual(names("toolcrib:call_tool", true), ["own", ""]);
  // In any spelling of the URI.
  assert.deepEqual(names("s:resources/file:///a%20b"), ["all,notes", ""]);
  assert.equal(hooksOf([rule(send, { tools: ["s:x"] })]).matching(subject("s:y")), undefined);
  assert.equal(hooksOf([]).isEmpty, true);
});

test("a question has the facts and the subject, and its answer is understood", async () => {
  let question = "";
  const outcome = await ask(
    async (text) => {
      question = text;
      return '{"decision":"replace","arguments":{"a":"\\ud800"},"message":"x"}';
    },
    { value: { a: 1 } },
  );
  assert.deepEqual(JSON.parse(question), {
    phase: "before_call",
    hook: "one",
    tool: "s:t",
    arguments: { a: 1 },
  });
  assert.deepEqual(outcome.answer, { decision: "replace", message: "x", value: { a: "\uFFFD" } });
  assert.equal(outcome.hook, "one");
});

test("an answer that readers of JSON could understand differently is none", async () => {
  const reasonOf = async (text: string) => {
    const { answer } = await ask(async () => text);
    return answer.decision === "failed" ? answer.reason : answer.decision;
  };
  for (const text of [
    '{"decision":"deny","decision":"allow"}',
    '{"decision":"deny","d\\u0065cision":"allow"}',
    '{"decision":"replace","arguments":{"a":[{"decision":1},{"decision":1,"decision":2}]}}',
  ]) {
    assert.equal(await reasonOf(text), 'its answer has the member "decision" twice', text);
  }
  for (const number of ["1e400", "-1e400"]) {
    const text = `{"decision":"replace","arguments":{"a":[${number}]}}`;
    assert.equal(await reasonOf(text), `its answer has the number ${number}, which is too large`);
  }
  const many = `{"decision":"replace","arguments":{"a":[${"0,".repeat(250_000)}0]}}`;
  assert.equal(await reasonOf(many), "its answer has more than 250000 values");
  // The reason of the engine quotes the text, also one that looks like a reason.
  assert.equal(await reasonOf("JSON text nests deeper"), "its answer is not valid JSON");
  const same = '{"decision":"replace","arguments":{"a":[{"b":1e300},{"b":1e-400}],"__proto__":{"a":1}}}';
  assert.equal(await reasonOf(same), "replace");
});

test("failures are failures, and a cancellation is none", async () => {
  const failureOf = async (...args: Parameters<typeof ask>) => {
    const { answer } = await ask(...args);
    assert.equal(answer.decision, "failed");
    return answer.decision === "failed" ? answer : assert.fail();
  };
  const hanging: SendToHook = (_text, { signal }) =>
    new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  assert.match((await failureOf(hanging, { timeoutMs: 20 })).reason, /^it did not answer within 0\.02 s$/);
  assert.match((await failureOf(hanging, { leftMs: 20 })).reason, /which is what was left of the call$/);
  assert.match((await failureOf(hanging, { leftMs: 0 })).reason, /^no time was left/);
  assert.match(
    (await failureOf(async () => "{}", { value: { a: "x".repeat(1000) } })).reason,
    /larger than 1000 bytes/,
  );
  const thrown = await failureOf(async () => {
    throw new Error("inner address 10.0.0.7");
  });
  assert.deepEqual([thrown.reason, thrown.detail], ["it could not be asked", "inner address 10.0.0.7"]);
  const cancel = new AbortController();
  const cancelled = ask(hanging, { signal: cancel.signal });
  cancel.abort(new Error("enough"));
  await assert.rejects(cancelled, /enough/);
  await assert.rejects(ask(hanging, { signal: cancel.signal }), /enough/);
});

test("a hook holds its place until it has ended, and clients have shares", async () => {
  const ending: (() => void)[] = [];
  // It does not end when nobody waits for it any more.
  const stubborn: SendToHook = () =>
    new Promise((resolve) => ending.push(() => resolve('{"decision":"allow"}')));
  const hooks = hooksOf([]);
  const late = await Promise.all([1, 2].map(() => ask(stubborn, { hooks, timeoutMs: 10 })));
  assert.deepEqual(
    late.map(({ answer }) => answer.decision),
    ["failed", "failed"],
  );
  const waiting = [1, 2].map(() => ask(stubborn, { hooks }));
  const { answer } = await ask(stubborn, { hooks });
  assert.match(
    answer.decision === "failed" ? answer.reason : "",
    /too many hooks run and wait for this client/,
  );
  assert.equal(ending.length, 2, "nothing else runs");
  assert.equal(
    (await ask(async () => '{"decision":"allow"}', { hooks, identity: other })).answer.decision,
    "allow",
  );
  for (const end of ending.splice(0)) end();
  await waitUntil(() => ending.length === 2);
  for (const end of ending.splice(0)) end();
  const outcomes = await Promise.all(waiting);
  assert.deepEqual(
    outcomes.map((one) => one.answer.decision),
    ["allow", "allow"],
  );
});

const changed = "it changes or moves a part of the arguments that is hidden from it";

test("hidden values stay in their places, or are removed, and are never changed", async () => {
  const original = { a: "S1", list: ["x", "S2"], deep: { b: ["S3"] }, S4: 1, n: 7, own: "[redacted]" };
  const hidden = {
    a: "[redacted]",
    list: ["x", "Bearer [secret s]"],
    deep: { b: "[redacted]" },
    "[secret s]": 1,
    n: 7,
    own: "[redacted]",
  };
  const nameIn = (seen: Seen) => Object.keys(seen).find((name) => name.startsWith("[secret s ")) ?? "";
  const check = async (answer: (seen: Seen) => JsonObject, expected: JsonObject | string) =>
    assert.deepEqual(await restored(answer, hidden, original), expected);
  await check((seen) => seen, original);
  await check(() => ({}), {});
  await check((seen) => ({ ...seen, n: 8, more: "[redacted] by me" }), {
    ...original,
    n: 8,
    more: "[redacted] by me",
  });
  await check((seen) => ({ a: "other", list: ["y", seen.list[1]] }), { a: "other", list: ["y", "S2"] });
  await check(() => ({ list: ["x"] }), { list: ["x"] });
  await check((seen) => ({ list: [...seen.list, "z"] }), { list: ["x", "S2", "z"] });
  await check(({ deep }) => ({ deep }), { deep: { b: ["S3"] } });
  await check((seen) => ({ [nameIn(seen)]: 2 }), { S4: 2 });
  await check((seen) => ({ a: `Bearer ${seen.a}` }), changed);
  await check((seen) => ({ list: ["x", seen.list[1].slice(0, -22)] }), changed);
  await check(() => ({ a: "[redacted]" }), changed);
  await check(() => ({ list: ["x", "[secret other]"] }), changed);
  const polluted = (seen: Seen) => JSON.parse(`{"__proto__":{"a":1},"a":${JSON.stringify(seen.a)}}`);
  assert.equal(JSON.stringify(await restored(polluted, hidden, original)), '{"__proto__":{"a":1},"a":"S1"}');
});

test("no hidden value is attached to another entry", async () => {
  const original = {
    rows: [
      { who: "alice", iban: "A1" },
      { who: "bob", iban: "B2" },
    ],
    password: "P3",
  };
  const hidden = {
    rows: [
      { who: "alice", iban: "[redacted]" },
      { who: "bob", iban: "[redacted]" },
    ],
    password: "[redacted]",
  };
  const check = async (answer: (seen: Seen) => JsonObject, expected: JsonObject | string) =>
    assert.deepEqual(await restored(answer, hidden, original), expected);
  await check((seen) => ({ rows: seen.rows.toReversed() }), changed);
  await check((seen) => ({ rows: [seen.rows[1]] }), changed);
  await check((seen) => ({ rows: [{ who: "eve" }, ...seen.rows] }), changed);
  await check((seen) => ({ rows: [seen.rows[0], seen.rows[0]] }), changed);
  await check((seen) => ({ ...seen, copy: seen.password }), changed);
  await check((seen) => ({ ...seen, copy: [{ of: `x${seen.password}` }] }), changed);
  await check((seen) => ({ ...seen, [seen.password]: 1 }), changed);
  await check((seen) => ({ ...seen, rows: { 0: seen.rows[0] } }), changed);
  await check((seen) => ({ rows: [seen.rows[0]] }), { rows: [original.rows[0]] as JsonObject[] });
  await check((seen) => ({ rows: [{ who: "eve" }, seen.rows[1]] }), {
    rows: [{ who: "eve" }, { who: "bob", iban: "B2" }],
  });
  // The marks of another question are texts.
  let old = "";
  await check((seen) => {
    old = seen.rows[0].iban;
    return {};
  }, {});
  await check(() => ({ copy: old }), { copy: old });
});

test("a hidden name that is a number stays with its member", async () => {
  const original = { 5: "e", 1234: "hidden", 2000: "f", z: "g" };
  const hidden = { 5: "e", "[secret pin]": "hidden", 2000: "f", z: "g" };
  assert.deepEqual(await restored((seen) => seen, hidden, original), original);
  assert.deepEqual(await restored(({ 2000: one }) => ({ 2000: one }), hidden, original), { 2000: "f" });
});

test("what was shown and comes back is the original", async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue(), async (value) => {
      const original = JSON.parse(JSON.stringify({ value })) as JsonObject;
      assert.equal(
        JSON.stringify(await restored((seen) => seen, original, original)),
        JSON.stringify(original),
      );
    }),
  );
});

test("a URL of this machine is asked once for each question, without redirects", async () => {
  const seen: string[] = [];
  const types: { readonly [path: string]: string } = {
    "/text": "text/html",
    "/xjson": "application/jsonx",
    "/problem": "application/problem+json",
    "/charset": "Application/JSON; charset=utf-8",
  };
  const server = createServer((request, response) => {
    request.resume();
    const path = request.url ?? "";
    if (path !== "/typeless") response.setHeader("content-type", types[path] ?? "application/json");
    seen.push(
      `${request.method} ${request.url} ${request.headers["content-type"]} ${request.headers["x-key"]}`,
    );
    if (request.url === "/moved") response.writeHead(307, { location: "/check" }).end();
    else if (request.url === "/cut") {
      response.writeHead(200, { "content-length": 100 }).write("{");
      setImmediate(() => response.destroy());
    } else if (request.url === "/large") response.end("x".repeat(2000));
    else if (request.url === "/hang") response.flushHeaders();
    else if (request.url === "/mark") response.end('\uFEFF{"decision":"allow"}');
    else response.end('{"decision":"allow"}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await using egress = createEgress({}, { directory: "/nowhere", now: Date.now, randomBytes, onEvent() {} });
  const at = (path: string, host = "127.0.0.1", ofPort = port) =>
    createSend({
      egress,
      address: async () => ({
        url: `http://${host}:${ofPort}${path}`,
        headers: { "X-Key": "k" },
        source: undefined,
      }),
    });
  try {
    assert.equal((await ask(at("/check"))).answer.decision, "allow");
    assert.equal((await ask(at("/check", "localhost"))).answer.decision, "allow");
    const reasonOf = async (send: SendToHook, timeoutMs?: number) => {
      const { answer } = await ask(send, timeoutMs === undefined ? {} : { timeoutMs });
      return answer.decision === "failed" ? answer.reason : answer.decision;
    };
    assert.match(await reasonOf(at("/moved")), /it redirects \(status 307\), which is not followed/);
    assert.match(await reasonOf(at("/cut")), /EGRESS_CONNECTION_LOST/);
    for (const path of ["/text", "/xjson", "/typeless"]) {
      assert.match(await reasonOf(at(path)), /^its answer has no content type of JSON/, path);
    }
    for (const path of ["/problem", "/charset"]) assert.equal(await reasonOf(at(path)), "allow");
    assert.match(await reasonOf(at("/mark")), /^its answer begins with a byte order mark$/);
    assert.match(await reasonOf(at("/large")), /its answer is larger than 1000 bytes/);
    assert.match(await reasonOf(at("/hang"), 50), /did not answer within/);
    assert.match(await reasonOf(at("/check", "127.0.0.1", 1)), /EGRESS_CONNECTION_LOST/);
    assert.match(await reasonOf(at("/check", "192.0.2.1")), /EGRESS_AUTHORITY_INVALID/);
    assert.equal(seen.filter((one) => one === "POST /check application/json k").length, 2);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
