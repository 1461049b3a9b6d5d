/** Sessions of the legacy era over HTTP that continue after a restart, with the store of a home and raw clients. */

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { openSessionStore } from "@toolcrib/sessions";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import {
  type DemoHttp,
  type DemoHttpOptions,
  openRawSession,
  type RawAnswer,
  type RawSession,
  send,
  startDemoHttp,
  until,
} from "./demo-http.ts";
import { textOf } from "./demo-service.ts";

const shared = await makeTemporaryDirectory();
after(() => shared[Symbol.asyncDispose]());
let homes = 0;
const progressMeta = { progressToken: "token" };

function newHome(): string {
  homes += 1;
  return join(shared.path, `home-${homes}`);
}

interface Run extends DemoHttp {
  readonly problems: string[];
}

/** Runs a gateway on a home. Each run starts an hour after the one before. */
async function startRun(home: string, run: number, options: DemoHttpOptions = {}): Promise<Run> {
  const startsAt = 1_000_000 + run * 1000;
  const problems: string[] = [];
  const logger = { warn: (fields: object) => problems.push(String((fields as { reason: unknown }).reason)) };
  const store = openSessionStore(home, { now: () => startsAt, randomBytes, logger }, { writeDelayMs: 1 });
  const demo = await startDemoHttp({ ...options, store, startsAt });
  return {
    ...demo,
    problems,
    async [Symbol.asyncDispose]() {
      await demo[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    },
  };
}

/** The session of a client as it goes on at the address of another run. */
function at({ url }: Run, { headers }: Pick<RawSession, "headers">, extra: { [name: string]: string } = {}) {
  const all = { ...headers, ...extra };
  return {
    call: (id: number, name: string, given: object = {}, meta?: object) =>
      send(
        "POST",
        url,
        {
          jsonrpc: "2.0",
          id,
          method: "tools/call",
          params: { name, arguments: given, ...(meta && { _meta: meta }) },
        },
        all,
      ),
    get: (lastEventId?: string) =>
      send("GET", url, undefined, {
        ...all,
        accept: "text/event-stream",
        ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
      }),
    remove: () => send("DELETE", url, undefined, all),
    post: (body: object) => send("POST", url, body, all),
  };
}

const text = ({ messages }: RawAnswer) => textOf(messages.at(-1)?.result);
const eventFiles = (home: string) =>
  readdirSync(join(home, "sessions")).filter((name) => name.endsWith(".events"));

test("A session continues without a handshake, for its identity and its view only", async () => {
  const home = newHome();
  const options = { capabilities: { sampling: {} }, headers: { "x-user": "ann" } };
  let session: RawSession;
  {
    await using first = await startRun(home, 1);
    session = await openRawSession(first.url, options);
    await session.post({ jsonrpc: "2.0", id: 1, method: "logging/setLevel", params: { level: "error" } });
    for (let id = 2; id < 12; id += 1)
      assert.equal((await session.call(id, "echo")).type, "application/json");
  }
  // Plain calls write nothing.
  assert.deepEqual(eventFiles(home), []);
  await using second = await startRun(home, 2);
  const [other, view] = [at(second, session, { "x-user": "bob" }), { ...second, url: `${second.url}-2` }];
  for (const foreign of [other, at(view, session)]) {
    for (const refused of [await foreign.call(1, "echo"), await foreign.get(), await foreign.remove()]) {
      assert.equal(refused.status, 404);
      assert.equal(refused.messages[0]?.error?.code, -32001);
    }
  }
  // Several requests at the same time continue one session.
  const mine = at(second, session);
  const answers = await Promise.all([1, 2, 3].map((id) => mine.call(id, "who")));
  for (const answer of answers) {
    assert.equal(answer.status, 200);
    const who = JSON.parse(text(answer));
    assert.deepEqual(
      [who.identity, who.session, who.clientCapabilities],
      ["ann", session.id, { sampling: {} }],
    );
    assert.deepEqual(who.clientInfo, { name: "raw", version: "0" });
  }
  assert.equal(second.endpoint.stats().sessions, 1);
  const logged = await mine.call(4, "log");
  await logged.ended;
  const levels = logged.messages.flatMap(({ params }) => (params === undefined ? [] : [params["level"]]));
  assert.deepEqual(levels, ["error"]);
  const unknown = await at(second, { headers: { ...session.headers, "mcp-session-id": "x" } }).call(
    1,
    "echo",
  );
  assert.equal(unknown.status, 404);
  assert.deepEqual(second.problems, []);
});

test("DELETE ends a session for good, before and after a restart", async () => {
  const home = newHome();
  let ended: RawSession;
  let open: RawSession;
  {
    await using first = await startRun(home, 1);
    ended = await openRawSession(first.url);
    open = await openRawSession(first.url);
    assert.equal((await ended.remove()).status, 204);
  }
  await using second = await startRun(home, 2);
  assert.equal((await at(second, ended).call(1, "echo")).status, 404);
  assert.equal((await at(second, open).remove()).status, 204);
  assert.equal((await at(second, open).call(1, "echo")).status, 404);
  await waitUntil(() => readdirSync(join(home, "sessions")).length === 0);
});

test("A request that outlasts its gateway fails under its id, without a time to wait: it was begun", async () => {
  await using run = await startRun(newHome(), 1);
  const session = await openRawSession(run.url);
  const waiting = session.call(7, "wait", { name: "a" });
  await waitUntil(() => run.service.waiting.has("a"));
  await run.endpoint[Symbol.asyncDispose]();
  const answer = await waiting;
  assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, null]);
  assert.equal(answer.messages[0]?.id, 7);
  assert.match(answer.messages[0]?.error?.message ?? "", /shutting down/);
});

test("A stream is resumed after a restart: its answer, or an error for a request that was in flight", async () => {
  const home = newHome();
  const lost = { answered: "", inFlight: "", standalone: "" };
  let session: RawSession;
  let other: RawSession;
  {
    await using first = await startRun(home, 1, { http: { keepAliveMs: 10 } });
    session = await openRawSession(first.url);
    other = await openRawSession(first.url);
    const standalone = await session.get();
    await session.call(1, "announce", { n: 1 });
    await until(standalone, 1);
    lost.standalone = standalone.events.at(-1)?.id ?? "";
    standalone.close();
    await waitUntil(() => first.responses.size === 0);
    await session.call(2, "announce", { n: 2 });
    for (const [id, name] of [
      [3, "answered"],
      [4, "inFlight"],
    ] as const) {
      const answer = await session.call(id, "wait", { name }, progressMeta);
      await waitUntil(() => answer.events.length > 0);
      lost[name] = answer.events.at(-1)?.id ?? "";
      answer.close();
    }
    await waitUntil(() => first.responses.size === 0);
    first.service.waiting.get("answered")?.progress({ progress: 1 });
    first.service.release("answered");
    await waitUntil(() => first.endpoint.stats().inFlight === 1);
  }
  for (const run of [2, 3]) {
    await using next = await startRun(home, run);
    const mine = at(next, session);
    const answered = await mine.get(lost.answered);
    await answered.ended;
    assert.deepEqual(
      answered.messages.map(({ params, result }) => params?.["progress"] ?? textOf(result)),
      [1, "released answered"],
    );
    const inFlight = await mine.get(lost.inFlight);
    await inFlight.ended;
    const [error] = inFlight.messages;
    assert.equal(inFlight.messages.length, 1);
    assert.equal(error?.id, 4);
    assert.match(
      error?.error?.message ?? "",
      /restarted before it answered, and the call may have been executed/,
    );
    const standalone = await mine.get(lost.standalone);
    await until(standalone, 1);
    assert.deepEqual(standalone.messages[0]?.params, { given: { n: 2 } });
    standalone.close();
    // The ids of one session mean nothing in another one.
    for (const id of [lost.answered, lost.standalone]) {
      const foreign = await at(next, other).get(id);
      await Promise.race([foreign.ended, new Promise((resolve) => setTimeout(resolve, 50))]);
      assert.ok(foreign.messages.every(({ result, params }) => result === undefined && params === undefined));
      foreign.close();
    }
    assert.deepEqual(next.problems, []);
  }
});

test("Questions of an earlier run are not asked again, and their late answers fit no later question", async () => {
  const home = newHome();
  const capabilities = { sampling: {} };
  const ask = { method: "sampling/createMessage", params: { q: 1 } };
  let session: RawSession;
  let lastEventId = "";
  let firstId: unknown;
  {
    await using first = await startRun(home, 1);
    session = await openRawSession(first.url, { capabilities });
    const asked = await session.call(1, "ask", ask);
    const [question] = await until(asked, 1);
    firstId = question?.id;
    lastEventId = asked.events[0]?.id ?? "";
    asked.close();
  }
  await using second = await startRun(home, 2);
  const mine = at(second, session);
  const resumed = await mine.get(lastEventId);
  await resumed.ended;
  assert.deepEqual(
    resumed.messages.map(({ method, id }) => [method, id]),
    [[undefined, 1]],
  );
  const asked = await mine.call(2, "ask", ask);
  const [question] = await until(asked, 1);
  assert.notEqual(question?.id, firstId);
  await mine.post({ jsonrpc: "2.0", id: firstId, result: { from: "the first question" } });
  await mine.post({ jsonrpc: "2.0", id: question?.id, result: { from: "the second question" } });
  await asked.ended;
  assert.match(text(asked), /the second question/);
});
