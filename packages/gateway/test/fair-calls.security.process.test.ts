/** One server that hangs, or one client with many calls, leaves room for the calls of others. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Gateway } from "@toolcrib/gateway";
import type { JsonObject } from "@toolcrib/json";
import { startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import { type Identity, localIdentity } from "@toolcrib/tool";
import {
  echoStdio,
  onHttp,
  startScriptedServer,
  startTestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

const greedy = localIdentity("token", "greedy");
const other = localIdentity("token", "other");

/** Starts calls that do not end by themselves, and counts how they were refused. */
function hang(gateway: Gateway, identity: Identity, server: string, count: number) {
  const abort = new AbortController();
  const codes: string[] = [];
  const calls = Array.from({ length: count }, async () => {
    const options = { signal: abort.signal };
    const outcome = await gateway.call(identity, `${server}:sleep`, { ms: 600_000 }, options);
    if (outcome.kind === "failed") codes.push((outcome.error as { readonly code?: string }).code ?? "none");
  });
  return {
    codes,
    async end() {
      abort.abort();
      await Promise.all(calls);
    },
  };
}

async function echo(gateway: Gateway, identity: Identity, server: string): Promise<string> {
  const outcome = await gateway.call(identity, `${server}:echo`, { text: "x" });
  return outcome.kind === "result" ? textOf(outcome.result) : JSON.stringify(outcome);
}

const limits = (more: JsonObject) => ({ serve: { limits: more } });

test("calls to a server that hangs fill its own queue only, and one client's share of it only", async () => {
  await using remote = await startEchoHttpServer();
  await using running = await startTestGateway({
    tool_servers: [echoStdio("hung"), onHttp("well", remote.url)],
    ...limits({ max_calls_per_server: 8, max_queued_calls_per_server: 8, max_concurrent_calls: 64 }),
  });
  const { gateway } = running;
  const calls = hang(gateway, greedy, "hung", 20);
  await waitUntil(() => calls.codes.length === 12);
  assert.deepEqual(new Set(calls.codes), new Set(["UPSTREAM_QUEUE_SHARE"]));
  assert.equal(gateway.status().callsInFlight, 8);
  assert.equal(await echo(gateway, greedy, "well"), "x");
  for (const server of ["hung", "well"]) assert.equal(await echo(gateway, other, server), "x");
  await calls.end();
  assert.equal(await echo(gateway, greedy, "hung"), "x");
});

test("waiting calls start in turn among clients when earlier calls end", async () => {
  await using running = await startTestGateway({
    tool_servers: [echoStdio("s")],
    ...limits({ max_calls_per_server: 1, max_queued_calls_per_server: 100 }),
  });
  const { gateway } = running;
  const ends: string[] = [];
  const call = async (identity: Identity, name: string) => {
    const outcome = await gateway.call(identity, "s:sleep", { ms: 5 });
    assert.equal(outcome.kind, "result");
    ends.push(name);
  };
  const first = Array.from({ length: 20 }, () => call(greedy, "greedy"));
  await Promise.all([call(other, "other"), call(other, "other"), ...first]);
  assert.deepEqual(ends.slice(0, 5).sort(), ["greedy", "greedy", "greedy", "other", "other"]);
});

test("calls over the share of a client are refused, and those of another client are not", async () => {
  await using running = await startTestGateway({
    tool_servers: [echoStdio("a"), echoStdio("b")],
    ...limits({ max_concurrent_calls: 8 }),
  });
  const { gateway } = running;
  const calls = [hang(gateway, greedy, "a", 3), hang(gateway, greedy, "b", 3)];
  await waitUntil(() => calls.flatMap(({ codes }) => codes).length === 2);
  assert.deepEqual(
    calls.flatMap(({ codes }) => codes),
    ["CALLS_SHARE_EXCEEDED", "CALLS_SHARE_EXCEEDED"],
  );
  for (const server of ["a", "b"]) assert.equal(await echo(gateway, other, server), "x");
  await Promise.all(calls.map((one) => one.end()));
});

test("the status names a server that answers no call, until it answers again", async () => {
  await using running = await startTestGateway(
    { tool_servers: [echoStdio("s")] },
    { upstreamLimits: { silentAfterMs: 20 } },
  );
  const { gateway } = running;
  const reason = () => gateway.status().servers[0]?.health.reason ?? "";
  const calls = hang(gateway, greedy, "s", 2);
  await waitUntil(() => /has answered no call for \d+ s; 2 calls in flight, 0 waiting/.test(reason()));
  assert.equal(gateway.status().servers[0]?.health.state, "ready");
  await calls.end();
  assert.equal(reason(), "");
});

test("a call that reports progress without end relays a limited part of it, and its result", async () => {
  const count = 20_000;
  await using server = await startScriptedServer({
    tools: () => [toolNamed("report")],
    call(request) {
      for (let progress = 1; progress <= count; progress += 1) request.progress({ progress });
      return { content: [{ type: "text", text: "done" }] };
    },
  });
  await using running = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
  let received = 0;
  const onProgress = () => {
    received += 1;
  };
  const outcome = await running.gateway.call(greedy, "s:report", {}, { onProgress });
  assert.equal(outcome.kind === "result" && textOf(outcome.result), "done");
  assert.ok(received >= 2000 && received < count, `${received} were relayed`);
});
