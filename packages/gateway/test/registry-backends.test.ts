/** Backends and functions of a registry: registration, removal and errors. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { CodedError } from "@toolcrib/diagnostics";
import { type ClientTransport, McpError } from "@toolcrib/mcp";
import { createRegistry, type Registry } from "@toolcrib/registry";
import { makeTemporaryDirectory, startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import {
  callsIn,
  dataOf,
  readAudit,
  startScriptedServer,
  startWaitingServer,
  toolNamed,
} from "./gateway-harness.ts";

const anything = { type: "object" };

/** A server of the official SDK in this process. */
function startSdkServer(): {
  readonly server: Server;
  connect(): ClientTransport;
  readonly connections: number;
} {
  const server = new Server(
    { name: "sdk", version: "1" },
    { capabilities: { tools: { listChanged: true } } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [toolNamed("upper")] as never }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: "text", text: String(params.arguments?.["text"]).toUpperCase() }],
  }));
  let connections = 0;
  return {
    server,
    get connections() {
      return connections;
    },
    connect() {
      connections += 1;
      const [near, far] = InMemoryTransport.createLinkedPair();
      return {
        kind: "stdio",
        async open(receiver) {
          near.onmessage = (message) => receiver.message(message);
          near.onclose = () => receiver.closed(new McpError("MCP_CONNECTION_CLOSED", "The server is gone"));
          await server.connect(far);
          await near.start();
        },
        send: (message) => void near.send(message as never),
        close: () => near.close(),
      };
    },
  };
}

async function untilReady(registry: Registry, name: string): Promise<void> {
  await waitUntil(() => registry.health().backends[name]?.state === "ready");
}

/** The text of the bytes in a cause, which `inspect` shows as numbers. */
function bytesIn(error: unknown): string {
  const { cause } = error as { readonly cause?: { readonly body?: unknown; readonly cause?: unknown } };
  if (cause === undefined || cause === null) return "";
  return `${cause.body instanceof Uint8Array ? Buffer.from(cause.body).toString() : ""}${bytesIn(cause)}`;
}

describe("a backend", () => {
  it("can use a custom transport, which is created for each connection", async () => {
    const sdk = startSdkServer();
    await using registry = createRegistry();
    registry.registerBackend({ name: "mem", transport: sdk.connect, retryInterval: 10 });
    await registry.start();
    assert.equal(await registry.execute("mem:upper", { text: "hi" }), "HI");
    await sdk.server.close();
    await waitUntil(() => sdk.connections === 2);
    await untilReady(registry, "mem");
    assert.equal(await registry.execute("mem:upper", { text: "again" }), "AGAIN");
  });

  it("fails a call with the reason where its transport throws when it sends", async () => {
    const sdk = startSdkServer();
    await using registry = createRegistry();
    const transport = (): ClientTransport => {
      const inner = sdk.connect();
      return {
        ...inner,
        send(message) {
          if ("method" in message && message.method === "tools/call")
            throw new RangeError("the pipe is too long");
          return inner.send(message);
        },
      };
    };
    registry.registerBackend({ name: "mem", transport });
    await registry.start();
    await assert.rejects(registry.execute("mem:upper", { text: "hi" }), {
      code: "REGISTRY_EXECUTION_FAILED",
      message: /"mem:upper" failed: .*the pipe is too long/,
      data: { cause: "CALL_FAILED" },
    });
  });

  it("fails a call with an error that has its secret nowhere, whatever a transport or a function throws", async () => {
    const secret = "key\"o'f`\\mine-7431";
    const circular = new Error("it calls itself");
    circular.cause = new Error(`again with ${secret}`, { cause: circular });
    let deepObject: object = { key: secret };
    for (let depth = 0; depth < 30; depth += 1) deepObject = { deepObject };
    const shared = { key: secret };
    const coded = new McpError("MCP_REMOTE_ERROR", "it refuses", { rpcCode: -32099 });
    const nested = (depth: number): Error =>
      depth === 0 ? new Error(secret) : new Error(`at ${depth}`, { cause: nested(depth - 1) });
    const thrown: { readonly [name: string]: unknown } = {
      text: `no access with ${secret}`,
      message: new Error(`no access with ${secret}`),
      cause: new Error("no access", { cause: new Error("refused", { cause: secret }) }),
      "deep causes": nested(30),
      "circular causes": circular,
      "own field": Object.assign(new Error("not found"), { spawnargs: ["--key", secret] }),
      errors: new AggregateError([new Error("one"), new Error(secret)], "both"),
      object: new Error("no access", { cause: { request: { headers: { all: [{ key: secret }] } } } }),
      list: new Error("no access", { cause: [...Array(150).fill("x"), secret] }),
      "long text": new Error("no access", { cause: { body: "x".repeat(20_000) + secret } }),
      "longer text": new Error("no access", { cause: { body: "x".repeat(200_000) + secret } }),
      "text beyond what is searched": new Error("no access", { cause: { body: "x".repeat(2e6) + secret } }),
      "long own field": Object.assign(new Error("no access"), { body: "x".repeat(200_000) + secret }),
      "field of a coded error": Object.assign(coded, { request: { key: secret } }),
      "deep object": new Error("no access", { cause: deepObject }),
      "deep own field": Object.assign(new Error("no access"), { deepObject }),
      "long list": new Error("no access", { cause: [...Array(1500).fill("x"), secret] }),
      "hidden field": new Error("no access", {
        cause: Object.defineProperty({}, "key", { value: secret }),
      }),
      "hidden own field": Object.defineProperty(new Error("no access"), "key", { value: secret }),
      accessor: new Error("no access", {
        cause: Object.defineProperty({}, "key", { get: () => secret, enumerable: true }),
      }),
      "name of a field": new Error("no access", { cause: { [secret]: 1 } }),
      symbol: new Error("no access", { cause: { [Symbol(secret)]: 1 } }),
      map: new Error("no access", { cause: new Map([["key", new Set([secret])]]) }),
      proxy: new Error("no access", { cause: new Proxy({ key: secret }, {}) }),
      bytes: new Error("no access", { cause: { body: Buffer.from(secret) } }),
      "own inspection": new Error("no access", { cause: { [inspect.custom]: () => secret } }),
      "state of a class": new Error("no access", { cause: new Headers({ "x-api-key": secret }) }),
      "one object in two places": Object.assign(new CodedError("TEST", "no", { cause: shared }), {
        request: shared,
      }),
    };
    const sdk = startSdkServer();
    let failure: unknown;
    const transport = (): ClientTransport => {
      const inner = sdk.connect();
      const send: ClientTransport["send"] = (message) => {
        if ("method" in message && message.method === "tools/call") throw failure;
        return inner.send(message);
      };
      return { ...inner, send };
    };
    await using registry = createRegistry();
    registry.registerBackend({ name: "mem", transport, headers: { "X-Api-Key": secret } });
    await registry.start();
    registry.registerLocal("fail", "Fails", anything, () => {
      throw failure;
    });
    for (const [name, value] of Object.entries(thrown)) {
      failure = value;
      for (const tool of ["mem:upper", "fail"]) {
        const error = await registry.execute(tool, { text: "hi" }).then(
          () => assert.fail(name),
          (one: unknown) => one,
        );
        const all = {
          depth: 50,
          maxArrayLength: null,
          maxStringLength: null,
          showHidden: true,
          getters: true,
        };
        assert.doesNotMatch(inspect(error, all), /mine-7431/, `${tool}: ${name}`);
        assert.doesNotMatch(bytesIn(error), /mine-7431/, `${tool}: ${name}`);
      }
    }
    // What has no secret is passed on as it is; what is too large to be searched is not, and takes no time.
    const causesOf = async (value: Error) => {
      failure = value;
      const causes: unknown[] = [];
      let one: unknown = await registry.execute("mem:upper", { text: "hi" }).catch((error: unknown) => error);
      for (; one instanceof Error; one = one.cause) causes.push(one);
      return [...causes, one];
    };
    const fine = Object.assign(new RangeError("no", { cause: { list: [1, { at: new Date(0) }] } }), {
      port: 7,
    });
    assert.ok((await causesOf(fine)).includes(fine));
    class Holder {
      readonly #key = secret;
      read() {
        return this.#key;
      }
    }
    for (const cause of [new Holder(), new Proxy({}, { get: () => secret })])
      assert.match(
        String((await causesOf(new Error("no", { cause }))).at(-1)),
        /cannot be searched for secrets/,
      );
    const rows = Array.from({ length: 90_000 }, (_, id) => ({ id, row: { text: "text" } }));
    assert.match(
      String((await causesOf(new Error("no", { cause: { rows } }))).at(-1)),
      /^\[removed: too large/,
    );
  });

  it("is connected when it is registered after the start, and removed when it is unregistered", async () => {
    await using echo = await startEchoHttpServer();
    await using registry = createRegistry();
    const changes: string[] = [];
    registry.onChange(({ kind, backend }) => void changes.push(backend ?? kind));
    await registry.start();
    registry.registerBackend({ name: "late", url: echo.url });
    await untilReady(registry, "late");
    assert.ok(registry.getTool("late:echo"));
    assert.equal(registry.search("returns its text", 1)[0]?.id, "late:echo");
    await registry.unregisterBackend("late");
    assert.equal(registry.getTool("late:echo"), undefined);
    assert.deepEqual(registry.search("returns its text"), []);
    assert.deepEqual(registry.namespaces(), []);
    assert.deepEqual(registry.health().backends, {});
    assert.equal(echo.sessionCount, 0);
    await assert.rejects(registry.execute("late:echo", { text: "x" }), { code: "REGISTRY_TOOL_NOT_FOUND" });
    await assert.rejects(registry.unregisterBackend("late"), { code: "REGISTRY_BACKEND_NOT_FOUND" });
    assert.ok(changes.includes("late") && changes.includes("tools"));
    registry.registerBackend({ name: "late", url: echo.url });
    await untilReady(registry, "late");
    assert.equal(await registry.execute("late:echo", { text: "back" }), "back");
  });

  it("that is unreachable does not prevent the others from starting, and is stopped after its retries", async () => {
    await using echo = await startEchoHttpServer();
    await using registry = createRegistry();
    registry.registerBackend({
      name: "gone",
      url: "http://127.0.0.1:9/mcp",
      maxRetries: 2,
      retryInterval: 5,
    });
    registry.registerBackend({ name: "here", url: echo.url });
    await registry.start();
    assert.equal(await registry.execute("here:echo", { text: "x" }), "x");
    await waitUntil(() => registry.health().backends["gone"]?.state === "stopped");
    assert.match(registry.health().backends["gone"]?.reason ?? "", /127\.0\.0\.1:9/);
  });

  it("receives its headers, and they appear in no output", async () => {
    await using server = await startScriptedServer({
      tools: () => [toolNamed("leak")],
      call: () => ({ content: [{ type: "text", text: "you are Bearer backend-secret" }] }),
    });
    await using registry = createRegistry();
    registry.registerBackend({
      name: "remote",
      url: server.url,
      headers: { Authorization: "Bearer backend-secret" },
    });
    await registry.start();
    assert.equal(await registry.execute("remote:leak"), "you are [secret remote]");
    assert.ok(server.authorizations.every((value) => value === "Bearer backend-secret"));
  });

  it("returns its own error, with the JSON-RPC code in the cause", async () => {
    await using echo = await startEchoHttpServer();
    await using registry = createRegistry();
    registry.registerBackend({ name: "echo", url: echo.url });
    await registry.start();
    await assert.rejects(registry.execute("echo:rpc_error", { code: -32050, message: "no" }), {
      code: "REGISTRY_EXECUTION_FAILED",
      message: '"echo:rpc_error" failed: no',
      data: { server: "echo", rpcCode: -32050, rpcData: { tool: "rpc_error" }, cause: "UPSTREAM_ERROR" },
    });
  });

  it("accepts the same names as a tool server", () => {
    const registry = createRegistry();
    for (const name of ["", "a__b", "a_", "-a", "toolcrib", "Saved", "x".repeat(41), "a b"]) {
      const register = () => registry.registerBackend({ name, url: "http://127.0.0.1:9/" });
      assert.throws(register, { code: "REGISTRY_INVALID_REQUEST" }, name);
    }
    for (const url of [
      "",
      "127.0.0.1",
      "file:///x",
      "stdio:///usr/bin/server",
      "http://user:x@host/",
      "sse:",
    ]) {
      const register = () => registry.registerBackend({ name: "a", url });
      assert.throws(register, { code: "REGISTRY_INVALID_REQUEST" }, url);
    }
  });
});

describe("start() and stop()", () => {
  it("can be called in any order and at any time", async () => {
    await using echo = await startEchoHttpServer();
    const registry = createRegistry();
    registry.registerBackend({ name: "echo", url: echo.url });
    const starting = registry.start();
    await assert.rejects(registry.start(), { code: "REGISTRY_ALREADY_STARTED" });
    await Promise.all([registry.stop(), registry.stop(), starting]);
    assert.equal(echo.sessionCount, 0);
    assert.equal(registry.health().state, "stopped");
    await assert.rejects(registry.execute("echo:echo"), { code: "REGISTRY_NOT_STARTED" });
    await assert.rejects(registry.start(), { code: "REGISTRY_ALREADY_STARTED" });
    assert.throws(() => registry.registerBackend({ name: "b", url: echo.url }), {
      code: "REGISTRY_NOT_STARTED",
    });
    assert.throws(() => registry.serveHttp(), { code: "REGISTRY_NOT_STARTED" });
    const never = createRegistry();
    await never.stop();
  });

  it("leave the audit trail complete, also when they overlap", async () => {
    await using directory = await makeTemporaryDirectory();
    const first = createRegistry({ auditHome: directory.path });
    const starting = first.start();
    await Promise.all([first.stop(), starting]);
    const registry = createRegistry({ auditHome: directory.path });
    registry.registerLocal("hi", "Says hi", anything, () => "hi");
    await registry.start();
    await registry.execute("hi");
    await registry.stop();
    assert.deepEqual(callsIn(readAudit(directory.path)), ["hi intent, completed ok"]);
  });

  it("end calls in flight", async () => {
    await using server = await startWaitingServer();
    const registry = createRegistry();
    registry.registerBackend({ name: "s", url: server.url });
    await registry.start();
    const call = assert.rejects(registry.execute("s:wait"), { code: "REGISTRY_EXECUTION_FAILED" });
    await waitUntil(() => server.counts.waiting === 1);
    await registry.stop();
    await call;
  });
});

describe("a function", () => {
  it("may return any value, which the program receives as JSON", async () => {
    await using registry = createRegistry();
    const kept = { list: [1] };
    class Point {
      readonly x = 1;
      readonly hidden = undefined;
    }
    const values: readonly (readonly [name: string, value: unknown, expected: unknown])[] = [
      ["text", "plain", "plain"],
      ["nothing", undefined, []],
      ["null", null, "null"],
      ["number", 5, "5"],
      ["array", [1, { a: 2 }], '[1,{"a":2}]'],
      ["object", kept, { list: [1] }],
      ["instance", new Point(), { x: 1 }],
      ["date", new Date(0), '"1970-01-01T00:00:00.000Z"'],
      ["map", new Map([["a", 1]]), {}],
      ["function", () => 1, "() => 1"],
      ["promise", Promise.resolve({ later: true }), { later: true }],
      ["result", { content: [{ type: "text", text: "as it is" }] }, "as it is"],
      [
        "blocks",
        { content: [{ type: "image", data: "", mimeType: "image/png" }] },
        [{ type: "image", data: "", mimeType: "image/png" }],
      ],
      ["content of its own", { content: ["a", "b"] }, { content: ["a", "b"] }],
    ];
    for (const [name, value] of values) {
      registry.registerLocal(name.replaceAll(" ", "_"), "Returns it", anything, () => value);
    }
    await registry.start();
    for (const [name, , expected] of values) {
      assert.deepEqual(await registry.execute(name.replaceAll(" ", "_")), expected, name);
    }
    const result = (await registry.execute("object")) as typeof kept;
    kept.list.push(2);
    assert.deepEqual(result, { list: [1] });
  });

  it("that throws, or returns a value that is not JSON, produces a tool error", async () => {
    await using registry = createRegistry();
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const failing: readonly (readonly [name: string, run: () => unknown, message: RegExp])[] = [
      [
        "error",
        () => {
          throw new Error("the disk is full");
        },
        /^"error" failed: the disk is full$/,
      ],
      [
        "text",
        () => {
          throw "just text";
        },
        /^"text" failed: just text$/,
      ],
      ["later", () => Promise.reject(new TypeError("later")), /^"later" failed: later$/],
      ["circle", () => circle, /circular/i],
      ["big", () => ({ n: 1n }), /BigInt/],
    ];
    for (const [name, run] of failing) registry.registerLocal(name, "Fails", anything, run);
    await registry.start();
    for (const [name, , message] of failing) {
      await assert.rejects(registry.execute(name), { code: "REGISTRY_EXECUTION_FAILED", message });
    }
  });

  it("must return values that match its output schema", async () => {
    await using registry = createRegistry();
    const outputSchema = { type: "object", properties: { n: { type: "number" } }, required: ["n"] };
    registry.registerLocal("good", "Good", anything, () => ({ n: 1 }), { outputSchema });
    registry.registerLocal("bad", "Bad", anything, () => ({ n: "1" }), { outputSchema });
    await registry.start();
    assert.deepEqual(await registry.execute("good"), { n: 1 });
    await assert.rejects(registry.execute("bad"), /does not match the tool's output schema/);
  });

  it("runs a hundred times concurrently, each with its own arguments, id and outcome", async () => {
    await using directory = await makeTemporaryDirectory();
    await using registry = createRegistry({ auditHome: directory.path });
    const ids = new Set<string>();
    registry.registerLocal("wait", "Waits", anything, async ({ n }, { callId }) => {
      ids.add(callId);
      await delay(Number(n) % 7);
      return { n };
    });
    await registry.start();
    const numbers = Array.from({ length: 100 }, (_, n) => n);
    const results = await Promise.all(numbers.map((n) => registry.execute("wait", { n })));
    assert.deepEqual(
      results,
      numbers.map((n) => ({ n })),
    );
    await registry.stop();
    assert.equal(ids.size, 100);
    const records = readAudit(directory.path);
    assert.deepEqual(new Set(dataOf(records, "call.completed").map(({ callId }) => callId)), ids);
  });

  it("can be removed, after which it is not found, and registered again", async () => {
    await using registry = createRegistry();
    const register = (answer: string) => registry.registerLocal("f", "Answers", anything, () => answer);
    register("one");
    await registry.start();
    assert.equal(await registry.execute("f"), "one");
    assert.equal(registry.unregisterLocal("f"), true);
    assert.equal(registry.unregisterLocal("f"), false);
    await assert.rejects(registry.execute("f"), { code: "REGISTRY_TOOL_NOT_FOUND" });
    assert.deepEqual(registry.listTools().tools, []);
    register("two");
    assert.equal(await registry.execute("f"), "two");
    assert.throws(() => register("three"), { code: "REGISTRY_INVALID_REQUEST" });
  });

  it("cannot use the namespace of Toolcrib's own tools, nor replace one of them", async () => {
    await using registry = createRegistry();
    for (const namespace of ["toolcrib", "Toolcrib"]) {
      const register = () => registry.registerLocal("x", "X", anything, () => 1, { namespace });
      assert.throws(register, { code: "REGISTRY_INVALID_REQUEST" });
    }
    registry.registerLocal("call_tool", "Mine", anything, () => "mine");
    await registry.start();
    await assert.rejects(registry.execute("call_tool", {}), /must have required property 'name'/);
  });

  it("is not affected by a listener that throws", async () => {
    const errors: object[] = [];
    const logger = { debug() {}, info() {}, warn() {}, error: (fields: object) => void errors.push(fields) };
    await using registry = createRegistry({ logger });
    registry.onChange(() => {
      throw new Error("mine");
    });
    registry.registerLocal("f", "F", anything, () => "f");
    await registry.start();
    assert.equal(await registry.execute("f"), "f");
    assert.equal(errors.length, 1);
  });
});
