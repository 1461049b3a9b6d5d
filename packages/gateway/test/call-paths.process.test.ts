import { createRegistry } from "@toolcrib/registry";
/** Every outcome of a call, and its audit records. */

import assert from "node:assert/strict";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { CallOutcome } from "@toolcrib/gateway";
import { freePort, makeTemporaryDirectory, startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import type { CallContext } from "@toolcrib/tool";
import {
  callsIn,
  dataOf,
  echoStdio,
  onHttp,
  readAudit,
  somebody,
  startScriptedServer,
  startTestGateway,
  startWaitingServer,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

/** Summarizes the outcome of a call. */
function endOf(outcome: CallOutcome): string {
  if (outcome.kind === "denied") return `denied ${outcome.code}`;
  if (outcome.kind === "failed") return `failed ${(outcome.error as Error & { readonly code: string }).code}`;
  return outcome.result.isError === true ? "tool error" : "result";
}

describe("a call", () => {
  it("is recorded as an intent before its server receives it", async () => {
    let home = "";
    const seen: string[] = [];
    await using server = await startScriptedServer({
      tools: () => [toolNamed("look")],
      call() {
        seen.push(...callsIn(readAudit(home)));
        return { content: [] };
      },
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    home = test.home;
    const client = await test.connect();
    await Promise.all([1, 2, 3].map((n) => client.callTool({ name: "s__look", arguments: { n } })));
    // Each intent is written before its own call is dispatched, possibly together with others.
    assert.ok(seen.length >= 3, `seen: ${seen.join("; ")}`);
    assert.ok(seen.every((call) => /^s:look intent(, completed ok)?$/.test(call)));
    await test.stop();
    assert.deepEqual(callsIn(test.audit()), Array(3).fill("s:look intent, completed ok"));
  });

  it("has exactly one outcome", async () => {
    await using echo = await startEchoHttpServer();
    await using test = await startTestGateway({
      tool_servers: [
        onHttp("echo", echo.url),
        echoStdio("child"),
        onHttp("dead", `http://127.0.0.1:${await freePort()}/mcp`),
        onHttp("limited", echo.url, { containment: { max_execution_seconds: 1 } }),
      ],
      policy: { deny: ["echo:env"] },
      serve: { limits: { result_max_bytes: 10_000 } },
    });
    const { gateway } = test;
    const ends: string[] = [];
    const call = async (name: string, args = {}) => {
      ends.push(`${name} ${endOf(await gateway.call(somebody, name, args))}`);
    };
    await call("echo:echo", { text: "x" });
    await call("echo__structured", { value: 1 });
    await call("echo:fail");
    await call("echo:rpc_error");
    await call("echo:echo", { text: [] });
    await call("echo:env");
    await call("echo:bad_structured");
    await call("echo:large", { bytes: 20_000 });
    await call("limited:hang");
    await call("child:crash");
    assert.deepEqual(ends, [
      "echo:echo result",
      "echo__structured result",
      "echo:fail tool error",
      "echo:rpc_error failed UPSTREAM_ERROR",
      "echo:echo tool error",
      "echo:env denied POLICY_DENIED",
      "echo:bad_structured failed RESULT_INVALID",
      "echo:large failed RESULT_TOO_LARGE",
      "limited:hang failed CALL_TIMEOUT",
      "child:crash failed UPSTREAM_CLOSED",
    ]);
    // The deadline also cancels the call at the server.
    await waitUntil(() => echo.cancelledCount === 1);
    await test.stop();
    assert.deepEqual(callsIn(test.audit()), [
      "echo:echo intent, completed ok",
      "echo:structured intent, completed ok",
      "echo:fail intent, completed tool_error",
      "echo:rpc_error intent, completed failed UPSTREAM_ERROR",
      "echo:echo intent, completed tool_error ARGUMENTS_INVALID",
      "echo:env denied POLICY_DENIED",
      "echo:bad_structured intent, completed failed RESULT_INVALID",
      "echo:large intent, completed failed RESULT_TOO_LARGE",
      "limited:hang intent, completed failed CALL_TIMEOUT",
      "child:crash intent, completed failed UPSTREAM_CLOSED",
    ]);
  });

  it("is cancelled at its server when its client cancels it, disconnects, or aborts it", async () => {
    await using server = await startWaitingServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    const leaving = await test.connect();
    const modern = await test.connectModern();
    const cancel = new AbortController();
    const abort = new AbortController();
    const request = { name: "s__wait" };
    const settled = Promise.allSettled([
      test.gateway.call(somebody, "s:wait", {}, { signal: abort.signal }),
      client.callTool(request, undefined, { signal: cancel.signal }),
      modern.callTool(request, { signal: cancel.signal }),
      leaving.callTool(request),
    ]);
    await waitUntil(() => server.counts.waiting === 4);
    assert.equal(test.gateway.status().callsInFlight, 4);
    cancel.abort(new Error("changed my mind"));
    abort.abort();
    await (leaving.transport as StreamableHTTPClientTransport).terminateSession();
    await leaving.close();
    const [own] = await settled;
    assert.equal(own.status === "fulfilled" && endOf(own.value), "failed CALL_CANCELLED");
    await waitUntil(() => server.counts.cancelled === 4);
    await test.stop();
    assert.deepEqual(
      callsIn(test.audit()),
      Array(4).fill("s:wait intent, completed cancelled CALL_CANCELLED"),
    );
  });

  it("is rejected above the limit of calls in flight, where inner calls share the slot of their parent", async () => {
    await using echo = await startEchoHttpServer();
    await using test = await startTestGateway({
      tool_servers: [onHttp("echo", echo.url)],
      serve: { limits: { max_concurrent_calls: 1 } },
    });
    const { gateway } = test;
    const outer = gateway.call(somebody, "call_tool", { name: "echo__sleep", arguments: { ms: 50 } });
    const refused = await gateway.call(somebody, "echo:echo", { text: "x" });
    assert.equal(endOf(refused), "failed CALLS_OVERLOADED");
    assert.equal(endOf(await outer), "result");
    assert.equal(endOf(await gateway.call(somebody, "echo:echo", { text: "x" })), "result");
    await test.stop();
    assert.deepEqual(callsIn(test.audit()).sort(), [
      "echo:echo denied CALLS_OVERLOADED",
      "echo:echo intent, completed ok",
      "echo:sleep intent, completed ok",
      "toolcrib:call_tool intent, completed ok",
    ]);
  });

  it("is not made when it cannot be recorded", async () => {
    let callCount = 0;
    await using server = await startScriptedServer({
      tools: () => [toolNamed("count")],
      call() {
        callCount += 1;
        return { content: [] };
      },
    });
    await using test = await startTestGateway(
      { tool_servers: [onHttp("s", server.url)] },
      { isAwaited: false },
    );
    await test.gateway.ready();
    // A file at the path of the audit folder fails like a missing disk. The store checks for its segment every second.
    const folder = join(test.home, "audit");
    renameSync(folder, `${folder}.away`);
    writeFileSync(folder, "");
    const client = await test.connect();
    let acceptedCount = 0;
    const refused = await waitUntil(
      async () => {
        acceptedCount = callCount;
        const result = await client.callTool({ name: "s__count" });
        return result.isError === true && result;
      },
      { intervalMs: 100 },
    );
    assert.equal(refused._meta?.["toolcrib/code"], "AUDIT_UNAVAILABLE");
    assert.match(textOf(refused), /not made because it could not be recorded/);
    assert.equal(callCount, acceptedCount);
    const metrics = await (await fetch(new URL("/metrics", await test.endpoint()))).text();
    assert.match(metrics, /^toolcrib_calls_in_flight 0$/m);
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    await waitUntil(async () => (await client.callTool({ name: "s__count" })).isError !== true);
    assert.equal(callCount, acceptedCount + 1);
    await test.stop();
    const calls = callsIn(test.audit());
    assert.ok(calls.includes("s:count denied AUDIT_UNAVAILABLE"), calls.join("; "));
    assert.equal(calls.filter((one) => one === "s:count intent, completed ok").length, callCount);
  });

  it("is recorded with its caller, a digest that does not depend on the order of keys, and its duration", async () => {
    await using echo = await startEchoHttpServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("echo", echo.url)] });
    const client = await test.connect();
    const modern = await test.connectModern();
    await client.callTool({ name: "echo__echo", arguments: { text: "é", extra: { b: 1, a: [2] } } });
    await modern.callTool({ name: "echo__echo", arguments: { extra: { a: [2], b: 1 }, text: "é" } });
    await client.callTool({ name: "echo__echo", arguments: { text: "other" } });
    await test.stop();
    const intents = dataOf(test.audit(), "call.intent");
    const anonymous = { issuer: "toolcrib:anonymous", subject: "anonymous", name: "anonymous" };
    const [first, second, third] = intents.map(({ argumentsDigest }) => argumentsDigest);
    assert.match(String(first), /^sha256:[0-9a-f]{64}$/);
    assert.equal(first, second);
    assert.notEqual(first, third);
    assert.deepEqual(
      intents.slice(0, 2).map(({ client: by }) => by),
      [
        { ...anonymous, clientInfo: { name: "first", version: "1.0.0" } },
        { ...anonymous, clientInfo: { name: "second", version: "2.0.0" } },
      ],
    );
    assert.deepEqual(
      { server: intents[0]?.server, origin: intents[0]?.origin, rule: intents[0]?.rule },
      { server: "echo", origin: "server", rule: "default" },
    );
    for (const { durationMs, resultBytes } of dataOf(test.audit(), "call.completed")) {
      assert.ok(durationMs !== undefined && durationMs >= 0 && durationMs < 60_000);
      assert.ok(Number(resultBytes) > 10);
    }
  });

  it("is recorded with its arguments also when the client's name is long", async () => {
    await using echo = await startEchoHttpServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("echo", echo.url)] });
    const client = await test.connectModern();
    (client as unknown as { _clientInfo: object })._clientInfo = { name: "x".repeat(100_000), version: "1" };
    await client.callTool({ name: "echo__echo", arguments: { text: "what I did" } });
    await test.stop();
    const [intent] = dataOf(test.audit(), "call.intent");
    assert.deepEqual(intent?.preview, { text: "what I did" });
    assert.equal(intent?.client.clientInfo?.name.length, 100);
  });
});

describe("a server that sends requests during a call", () => {
  it("reaches only the calling client, also from an inner call", async () => {
    await using echo = await startEchoHttpServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("echo", echo.url)] });
    const capabilities = { sampling: {}, elicitation: {}, roots: {} };
    const asked: string[] = [];
    const connect = async (name: string) => {
      const client = await test.connect({ capabilities });
      client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => {
        asked.push(`${name} ${JSON.stringify(params.messages[0]?.content)}`);
        return { role: "assistant", content: { type: "text", text: `for ${name}` }, model: "m" };
      });
      client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: `file:///${name}` }] }));
      return client;
    };
    const [first, second] = [await connect("first"), await connect("second")];
    const bare = await test.connect();
    const answers = await Promise.all([
      first.callTool({ name: "echo__ask_sampling", arguments: { prompt: "one" } }),
      second.callTool({
        name: "call_tool",
        arguments: { name: "echo:ask_sampling", arguments: { prompt: "two" } },
      }),
      second.callTool({ name: "echo__ask_roots" }),
    ]);
    assert.match(textOf(answers[0]), /"for first"/);
    assert.match(textOf(answers[1]), /"for second"/);
    assert.match(textOf(answers[2]), /file:\/\/\/second/);
    assert.deepEqual(asked.sort(), [
      'first {"type":"text","text":"one"}',
      'second {"type":"text","text":"two"}',
    ]);
    await assert.rejects(bare.callTool({ name: "echo__ask_sampling" }), /does not support sampling/);
  });
});

describe("hundreds of calls that are cancelled at any time", () => {
  it("each have exactly one outcome", async () => {
    await using echo = await startEchoHttpServer();
    await using test = await startTestGateway({
      tool_servers: [onHttp("echo", echo.url)],
      policy: { deny: ["echo:env"] },
      serve: { limits: { max_concurrent_calls: 60 } },
    });
    const client = await test.connect();
    const requests = [
      { name: "echo__sleep", arguments: { ms: 5 } },
      { name: "echo__echo", arguments: { text: "x" } },
      { name: "echo__env", arguments: {} },
      { name: "echo__fail", arguments: {} },
      { name: "call_tool", arguments: { name: "echo__sleep", arguments: { ms: 3 } } },
      { name: "echo__echo", arguments: {} },
    ];
    const calls = Array.from({ length: 300 }, async (_, at) => {
      const abort = new AbortController();
      const request = requests[at % requests.length] ?? assert.fail();
      const call = client.callTool(request, undefined, { signal: abort.signal });
      if (at % 3 === 0) setTimeout(() => abort.abort(), at % 20);
      await call.catch(() => {});
    });
    await Promise.all(calls);
    await waitUntil(() => test.gateway.status().callsInFlight === 0);
    await test.stop();
    const ends = callsIn(test.audit());
    const odd = ends.filter((one) => !/^\S+ (intent, completed [^,]+|denied \w+)$/.test(one));
    assert.deepEqual(odd, []);
    assert.ok(ends.length >= 250, `only ${ends.length} calls came in`);
    for (const end of ["completed ok", "tool_error", "POLICY_DENIED"]) {
      assert.ok(
        ends.some((one) => one.includes(end)),
        `none ended with ${end}`,
      );
    }
  });
});

describe("an inner call", () => {
  it("is recorded under its parent, and forwards progress, logs and cancellation", async () => {
    await using echo = await startEchoHttpServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("echo", echo.url)] });
    const client = await test.connect();
    const steps: unknown[] = [];
    const nested = {
      name: "call_tool",
      arguments: {
        name: "toolcrib:call_tool",
        arguments: { name: "echo__progress", arguments: { steps: 2 } },
      },
    };
    const result = await client.callTool(nested, undefined, {
      onprogress: ({ progress }) => void steps.push(progress),
    });
    assert.equal(textOf(result), "2 steps");
    assert.deepEqual(steps, [1, 2]);
    await test.stop();
    const [outer, middle, inner] = dataOf(test.audit(), "call.intent");
    assert.deepEqual(
      [outer, middle, inner].map((one) => [one?.tool, one?.depth]),
      [
        ["toolcrib:call_tool", 0],
        ["toolcrib:call_tool", 1],
        ["echo:progress", 2],
      ],
    );
    assert.equal(outer?.parentId, undefined);
    assert.equal(middle?.parentId, outer?.callId);
    assert.equal(inner?.parentId, middle?.callId);
    assert.equal(inner?.client.clientInfo?.name, "first");
  });

  it("has exactly the permissions of its caller", async () => {
    const { issuer, subject } = somebody;
    await using echo = await startEchoHttpServer();
    await using test = await startTestGateway({
      tool_servers: [onHttp("echo", echo.url)],
      policy: {
        deny: ["echo:env"],
        clients: { somebody: { identity: { issuer, subject }, allow: ["echo:echo"] } },
      },
    });
    const { gateway } = test;
    for (const name of ["echo:env", "echo:request"]) {
      const outcome = await gateway.call(somebody, "call_tool", { name, arguments: {} });
      assert.equal(endOf(outcome), "failed POLICY_DENIED");
    }
    const allowed = await gateway.call(somebody, "call_tool", {
      name: "echo:echo",
      arguments: { text: "hi" },
    });
    assert.equal(endOf(allowed), "result");
    await test.stop();
    assert.deepEqual(callsIn(test.audit()), [
      "toolcrib:call_tool intent, completed failed POLICY_DENIED",
      "echo:env denied POLICY_DENIED",
      "toolcrib:call_tool intent, completed failed POLICY_DENIED",
      "echo:request denied POLICY_DENIED",
      "toolcrib:call_tool intent, completed ok",
      "echo:echo intent, completed ok",
    ]);
  });

  it("ends with the reason of its parent", async () => {
    await using server = await startWaitingServer();
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const abort = new AbortController();
    const outer = test.gateway.call(somebody, "call_tool", { name: "s__wait" }, { signal: abort.signal });
    await waitUntil(() => server.counts.waiting === 1);
    abort.abort();
    assert.equal(endOf(await outer), "failed CALL_CANCELLED");
    await waitUntil(() => server.counts.cancelled === 1);
    await test.stop();
    assert.deepEqual(callsIn(test.audit()), [
      "toolcrib:call_tool intent, completed cancelled CALL_CANCELLED",
      "s:wait intent, completed cancelled CALL_CANCELLED",
    ]);
  });

  it("is limited in depth", async () => {
    await using test = await startTestGateway({});
    let request: { name: string; arguments: object } = { name: "search_tools", arguments: { query: "x" } };
    const wrap = () => {
      request = { name: "call_tool", arguments: request };
    };
    for (let depth = 1; depth <= 16; depth += 1) wrap();
    assert.equal(
      endOf(await test.gateway.call(somebody, request.name, request.arguments as never)),
      "result",
    );
    wrap();
    const tooDeep = await test.gateway.call(somebody, request.name, request.arguments as never);
    assert.equal(endOf(tooDeep), "failed CALL_TOO_DEEP");
    await test.stop();
    const calls = callsIn(test.audit());
    assert.equal(calls.length, 17 + 18);
    assert.equal(calls.filter((one) => one === "toolcrib:search_tools denied CALL_TOO_DEEP").length, 1);
  });
});

describe("a misbehaving function", () => {
  it("does not delay the response when it ignores its signal, and its later output is dropped", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = join(directory.path, "home");
    await using registry = createRegistry({ auditHome: home });
    let context: CallContext | undefined;
    const never = Promise.withResolvers<void>();
    registry.registerLocal("deaf", "Ignores its signal", { type: "object" }, (_args, given) => {
      context = given;
      return never.promise;
    });
    await registry.start();
    const abort = new AbortController();
    const heard: unknown[] = [];
    const execution = registry.execute(
      "deaf",
      {},
      {
        signal: abort.signal,
        onProgress: (params) => heard.push(params),
      },
    );
    await waitUntil(() => context !== undefined);
    context?.progress({ progress: 1 });
    abort.abort(new Error("enough"));
    await assert.rejects(execution, /The call was cancelled: enough/);
    context?.progress({ progress: 2 });
    await assert.rejects(
      () => (context as CallContext).ask("roots/list", {}, abort.signal),
      /requested after the end of its call/,
    );
    never.resolve();
    assert.deepEqual(heard, [{ progress: 1 }]);
    await registry.stop();
    assert.deepEqual(callsIn(readAudit(home)), ["deaf intent, completed cancelled CALL_CANCELLED"]);
  });

  it("receives no arguments that are not JSON, and the refusal is recorded", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = join(directory.path, "home");
    await using registry = createRegistry({ auditHome: home });
    registry.registerLocal("any", "Takes anything", { type: "object" }, () => "called");
    await registry.start();
    const circle: { self?: unknown } = {};
    circle.self = circle;
    for (const args of [circle, { big: 1n }, { call: () => 1 }, { number: Number.NaN }]) {
      await assert.rejects(registry.execute("any", args as never), { code: "REGISTRY_INVALID_REQUEST" });
    }
    await registry.stop();
    assert.deepEqual(callsIn(readAudit(home)), Array(4).fill("any denied PARAMS_INVALID"));
  });

  it("is not called while the audit trail is closed", async () => {
    await using directory = await makeTemporaryDirectory();
    const home = join(directory.path, "home");
    writeFileSync(home, "a file is in the way");
    await using registry = createRegistry({ auditHome: home });
    let callCount = 0;
    registry.registerLocal("count", "Counts", { type: "object" }, () => {
      callCount += 1;
    });
    const starting = registry.start();
    // Before the home is open, neither its trail can be written nor its pauses are known.
    await assert.rejects(registry.execute("count"), /what the operator paused is not known yet/);
    assert.equal(callCount, 0);
    await assert.rejects(starting, { code: "STORE_HOME_UNUSABLE" });
    assert.equal(registry.health().state, "new");
    rmSync(home);
    await registry.start();
    await registry.execute("count");
    assert.equal(callCount, 1);
  });
});
