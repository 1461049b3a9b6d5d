/** The stdio transport on the server side, with raw clients: streams in this process, and a child process with real pipes. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { LineDecoder, metaKeys, type StdioServer, startStdioServer } from "@toolcrib/mcp";
import { runProcess, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import { callOf, initializeOf, modernMeta, type WireMessage } from "./demo-http.ts";
import { createDemoService, type DemoService, textOf } from "./demo-service.ts";
import type { StdioServerOptions } from "./option-types.ts";

interface Pipe extends AsyncDisposable {
  readonly service: DemoService;
  readonly server: StdioServer;
  readonly input: PassThrough;
  readonly output: PassThrough;
  readonly messages: WireMessage[];
  readonly unexpected: string[];
  send(message: unknown): void;
  /** Waits for the answer to `id`. */
  answerTo(id: unknown): Promise<WireMessage>;
}

function openPipe(options: Partial<StdioServerOptions> = {}): Pipe {
  const service = createDemoService();
  const input = new PassThrough();
  const output = new PassThrough();
  const messages: WireMessage[] = [];
  const unexpected: string[] = [];
  const receiver = {
    message: (value: unknown) => messages.push(value as WireMessage),
    invalid: (reason: string) => assert.fail(reason),
  };
  const decoder = new LineDecoder(receiver, 1 << 26);
  output.on("data", (chunk: Buffer) => decoder.write(chunk));
  const server = startStdioServer(
    service,
    { input, output },
    {
      view: "pipe",
      identity: localIdentity("stdio", "local"),
      sessionId: "s",
      onUnexpected: (reason) => unexpected.push(reason),
      ...options,
    },
  );
  return {
    service,
    server,
    input,
    output,
    messages,
    unexpected,
    send: (message) => input.write(`${typeof message === "string" ? message : JSON.stringify(message)}\n`),
    answerTo: (id) =>
      waitUntil(() => messages.find((message) => message.id === id && message.method === undefined), {
        what: `an answer to ${JSON.stringify(id)} comes`,
      }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

async function openSession(version: string, options?: Partial<StdioServerOptions>): Promise<Pipe> {
  const pipe = openPipe(options);
  pipe.send(initializeOf(version, { sampling: {} }));
  await pipe.answerTo("init");
  pipe.send({ jsonrpc: "2.0", method: "notifications/initialized" });
  return pipe;
}

function modernCall(id: string | number, name: string, given = {}, meta = {}) {
  return callOf(id, name, given, modernMeta(meta));
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("Requests of a session are answered with their ids; before initialize they are refused, ping is not", async () => {
  await using pipe = openPipe();
  pipe.send({ jsonrpc: "2.0", id: "p", method: "ping" });
  pipe.send(callOf(0, "echo"));
  assert.deepEqual((await pipe.answerTo("p")).result, {});
  assert.match((await pipe.answerTo(0)).error?.message ?? "", /before "initialize"/);
  pipe.send(initializeOf("2025-06-18"));
  assert.equal((await pipe.answerTo("init")).result?.["protocolVersion"], "2025-06-18");
  for (const id of [1, "1", "", -1]) {
    pipe.send(callOf(id, "echo", { text: `${typeof id} ${id}` }));
    assert.equal(textOf((await pipe.answerTo(id)).result), `${typeof id} ${id}`);
  }
  pipe.send({ ...initializeOf("2025-06-18"), id: "again" });
  assert.match((await pipe.answerTo("again")).error?.message ?? "", /already initialized/);
});

test("Batches are accepted in 2025-03-26 and refused in 2025-11-25", async () => {
  const batch = [callOf(1, "echo", { text: "one" }), callOf(2, "echo", { text: "two" })];
  await using old = await openSession("2025-03-26", { maxInFlight: 2 });
  old.send(batch);
  assert.equal(textOf((await old.answerTo(1)).result), "one");
  assert.equal(textOf((await old.answerTo(2)).result), "two");
  for (const refused of [[], [...batch, callOf(3, "echo")]]) {
    old.messages.length = 0;
    old.send(refused);
    assert.equal((await old.answerTo(null)).error?.code, -32600);
  }
  await using recent = await openSession("2025-11-25");
  recent.send(batch);
  assert.equal((await recent.answerTo(null)).error?.code, -32600);
  assert.equal(recent.service.count, 0);
});

test("Lines that are not JSON are answered with -32700 and null, and the next ones are read", async () => {
  await using pipe = await openSession("2025-11-25", { lineMaxBytes: 2000 });
  for (const line of ["{nonsense", "x".repeat(3000), `${"[".repeat(1000)}${"]".repeat(999)}`]) {
    pipe.messages.length = 0;
    pipe.send(line);
    assert.equal((await pipe.answerTo(null)).error?.code, -32700);
  }
  pipe.messages.length = 0;
  pipe.send("42");
  assert.equal((await pipe.answerTo(null)).error?.code, -32600);
  assert.equal(pipe.unexpected.length, 4);
  pipe.send(callOf(1, "echo", { text: "fine" }));
  assert.equal(textOf((await pipe.answerTo(1)).result), "fine");
});

test("Both eras share one pipe: each request is answered in its own, and cancelled in its own", async () => {
  await using pipe = await openSession("2025-11-25");
  pipe.send(callOf(1, "wait", { name: "legacy" }));
  pipe.send(modernCall(2, "wait", { name: "modern" }));
  await waitUntil(() => pipe.service.waiting.size === 2);
  assert.equal(pipe.service.waiting.get("legacy")?.era, "legacy");
  assert.equal(pipe.service.waiting.get("modern")?.era, "modern");
  const cancel = (requestId: unknown) =>
    pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
  cancel(2);
  await waitUntil(() => pipe.service.aborted.length === 1);
  // The id is free, for the other era too.
  pipe.send(callOf(2, "wait", { name: "second" }));
  await waitUntil(() => pipe.service.waiting.has("second"));
  cancel(2);
  cancel(1);
  await waitUntil(() => pipe.service.aborted.length === 3);
  pipe.send(modernCall(3, "echo", { text: "still" }));
  assert.equal((await pipe.answerTo(3)).result?.["resultType"], "complete");
  assert.equal(pipe.messages.filter(({ id }) => id === 1 || id === 2).length, 0);
});

test("Structured content that is not an object is sent to modern clients only", async () => {
  await using pipe = await openSession("2025-11-25");
  const [list, object] = [{ value: [1] }, { value: { a: 1 } }];
  pipe.send(callOf(1, "structured", list));
  pipe.send(callOf(2, "structured", object));
  pipe.send(modernCall(3, "structured", list));
  const resultOf = async (id: number) => (await pipe.answerTo(id)).result as { structuredContent?: unknown };
  assert.equal("structuredContent" in (await resultOf(1)), false);
  assert.deepEqual((await resultOf(2)).structuredContent, { a: 1 });
  assert.deepEqual((await resultOf(3)).structuredContent, [1]);
  pipe.send(callOf(4, "structured", { value: [1, { a: 2 }], isBare: true }));
  assert.deepEqual(await resultOf(4), { content: [{ type: "text", text: '[1,{"a":2}]' }] });
});

test("An id in use is refused across the eras, without that id", async () => {
  await using pipe = await openSession("2025-11-25");
  pipe.send(callOf(1, "wait", { name: "a" }));
  pipe.send(modernCall(1, "echo"));
  assert.match((await pipe.answerTo(null)).error?.message ?? "", /Request id 1 is already in use/);
  pipe.send(callOf(1, "echo", { deep: JSON.parse(`${"[".repeat(300)}${"]".repeat(300)}`) }));
  const nulls = () => pipe.messages.filter(({ id }) => id === null);
  await waitUntil(() => nulls().length === 2);
  pipe.service.release("a");
  assert.equal(textOf((await pipe.answerTo(1)).result), "released a");
  assert.equal(pipe.messages.filter(({ id }) => id === 1).length, 1);
});

test("Modern requests with a wrong version, without capabilities or with an unknown method are refused", async () => {
  await using pipe = openPipe();
  pipe.send(modernCall("v", "echo", {}, { [metaKeys.protocolVersion]: "1900-01-01" }));
  const { error } = await pipe.answerTo("v");
  assert.equal(error?.code, -32022);
  assert.match(JSON.stringify(error?.data?.["supported"]), /"2026-07-28"/);
  pipe.send(modernCall("c", "echo", {}, { [metaKeys.clientCapabilities]: null }));
  assert.equal((await pipe.answerTo("c")).error?.code, -32602);
  pipe.send({ ...modernCall("m", "echo"), method: "ping" });
  assert.equal((await pipe.answerTo("m")).error?.code, -32601);
});

test("A progress token that would come back as another number is refused", async () => {
  await using pipe = await openSession("2025-11-25");
  const changed = [
    ...["9007199254740992", "9007199254740993", "-9007199254740993", "1e400"],
    ...[
      "1.00000000000000001",
      "0.10000000000000000001",
      "9007199254740991.1",
      "1e-400",
      `1.${"0".repeat(1200)}1`,
    ],
  ];
  for (const token of changed) {
    for (const [id, call] of [
      [`modern ${token}`, modernCall],
      [`legacy ${token}`, callOf],
    ] as const) {
      const message = call(id, "progress", { steps: 1 }, { progressToken: "TOKEN" });
      pipe.send(JSON.stringify(message).replace('"TOKEN"', token));
      const { error } = await pipe.answerTo(id);
      assert.equal(error?.code, -32602);
      assert.match(error?.message ?? "", /"progressToken" in "_meta" must be a string, or a number up to 90/);
    }
  }
  assert.ok(pipe.messages.every(({ method }) => method !== "notifications/progress"));
  pipe.send(modernCall(1, "progress", { steps: 1 }, { progressToken: Number.MAX_SAFE_INTEGER }));
  await pipe.answerTo(1);
  assert.equal(pipe.messages.at(-2)?.params?.["progressToken"], Number.MAX_SAFE_INTEGER);
});

test("A progress token comes back as the number that it is, however it is written", async () => {
  await using pipe = await openSession("2025-11-25");
  const tokens: readonly (readonly [text: string, token: number])[] = [
    ["1.0", 1],
    ["1e2", 100],
    ["1E+2", 100],
    ["120e-1", 12],
    ["-0", 0],
    ["-7.00", -7],
    ["9007199254740991.0", Number.MAX_SAFE_INTEGER],
    ["1.5", 1.5],
  ];
  for (const [text, token] of tokens) {
    for (const [id, call] of [
      [`modern ${text}`, modernCall],
      [`legacy ${text}`, callOf],
    ] as const) {
      const message = call(id, "progress", { steps: 1 }, { progressToken: "TOKEN" });
      pipe.send(JSON.stringify(message).replace('"TOKEN"', text));
      assert.equal((await pipe.answerTo(id)).error, undefined, text);
      assert.equal(pipe.messages.at(-2)?.params?.["progressToken"], token, text);
    }
  }
  // The last of equal names counts, an escaped name is the same, and a number elsewhere is none.
  const echo = (id: string, params: string) =>
    `{"jsonrpc":"2.0","id":"${id}","method":"tools/call","params":${params}}`;
  const call = '"name":"echo","arguments":{"text":"a","progressToken":1.00000000000000001}';
  const bad = '"progressToken":1.00000000000000001';
  for (const [params, isRefused] of [
    [`{${call},"_meta":{${bad}}}`, true],
    [`{${call},"_meta":{"\\u0070rogress\\u0054oken":1.00000000000000001}}`, true],
    [`{"_meta":{${bad},"x":[{"progressToken":2.0}]},${call}}`, true],
    [`{${call},"_meta":{"progressToken":1}}`, false],
    [`{${call},"_meta":{${bad},"progressToken":2.0}}`, false],
    [`{"_meta":{${bad}},${call},"_meta":{"progressToken":2}}`, false],
    [`{${call},"_meta":{"progressToken":3,"more":{${bad}}}}`, false],
    [`{${call},"_meta":{"more":[{${bad}}],"progressToken":3.0}}`, false],
  ] as const) {
    const id = `names ${params}`.replaceAll(/["\\]/g, "'");
    pipe.send(echo(id, params));
    assert.equal((await pipe.answerTo(id)).error?.code, isRefused ? -32602 : undefined, params);
  }
});

test("Progress and result are in order, and nothing follows the answer to a request", async () => {
  await using pipe = openPipe();
  pipe.send(modernCall(1, "progress", { steps: 50 }, { progressToken: "t" }));
  await pipe.answerTo(1);
  assert.deepEqual(
    pipe.messages.map(({ params, id }) => params?.["progress"] ?? id),
    [...Array.from({ length: 50 }, (_, index) => index + 1), 1],
  );
  pipe.messages.length = 0;
  pipe.send(modernCall(2, "late", {}, { progressToken: "t", [metaKeys.logLevel]: "debug" }));
  pipe.send(callOf("x", "late"));
  await Promise.all([pipe.answerTo(2), pipe.answerTo("x")]);
  pipe.service.sendLate();
  // The answer to a ping follows everything that was sent before.
  pipe.send({ jsonrpc: "2.0", id: "p", method: "ping" });
  await pipe.answerTo("p");
  assert.deepEqual(
    pipe.messages.map(({ method }) => method),
    [undefined, undefined, undefined],
  );
});

test("A request to the client is answered among requests with the same ids", async () => {
  await using pipe = await openSession("2025-11-25");
  pipe.send(callOf(1, "ask", { method: "sampling/createMessage" }));
  const question = await waitUntil(() =>
    pipe.messages.find(({ method }) => method === "sampling/createMessage"),
  );
  // Our own ids begin at 1 too.
  assert.equal(question.id, 1);
  pipe.send({ jsonrpc: "2.0", id: 1, result: { said: "hello" } });
  assert.equal(textOf((await pipe.answerTo(1)).result), '{"said":"hello"}');
});

test("Subscriptions share the pipe: each acknowledged first and tagged with its own id", async () => {
  await using pipe = openPipe();
  const listen = (id: string | number) =>
    pipe.send({
      jsonrpc: "2.0",
      id,
      method: "subscriptions/listen",
      params: { notifications: { toolsListChanged: true }, _meta: modernMeta() },
    });
  const of = (id: unknown) =>
    pipe.messages.filter(({ params, result }) => {
      const meta = (params ?? result)?.["_meta"] as { [key: string]: unknown } | undefined;
      return meta?.[metaKeys.subscriptionId] === id;
    });
  listen("a");
  listen(7);
  await waitUntil(() => of("a").length === 2 && of(7).length === 2);
  for (const id of ["a", 7]) {
    assert.deepEqual(
      of(id).map(({ method }) => method),
      ["notifications/subscriptions/acknowledged", "notifications/tools/list_changed"],
    );
  }
  pipe.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "a" } });
  await waitUntil(() => pipe.service.listeners.size === 1);
  // The server ends the stream with an answer.
  await pipe.server[Symbol.asyncDispose]();
  assert.equal((await pipe.answerTo(7)).result?.["resultType"], "complete");
  assert.equal(of("a").length, 2);
  assert.equal(pipe.service.listeners.size, 0);
});

test("A client that closes its end still gets its answers, and change streams end", async () => {
  await using pipe = await openSession("2025-11-25");
  pipe.send({
    jsonrpc: "2.0",
    id: "sub",
    method: "subscriptions/listen",
    params: { notifications: {}, _meta: modernMeta() },
  });
  pipe.send(callOf(1, "wait", { name: "a" }));
  pipe.send(modernCall(2, "wait", { name: "b" }));
  await waitUntil(() => pipe.service.waiting.size === 2);
  pipe.input.end();
  let hasEnded = false;
  void pipe.server.ended.then(() => {
    hasEnded = true;
  });
  await turn();
  assert.equal(hasEnded, false);
  pipe.service.release("a");
  pipe.service.release("b");
  await pipe.server.ended;
  assert.equal(textOf((await pipe.answerTo(1)).result), "released a");
  assert.equal(textOf((await pipe.answerTo(2)).result), "released b");
  assert.equal((await pipe.answerTo("sub")).result?.["resultType"], "complete");
  assert.equal(pipe.service.sessions.size, 0);
});

test("Requests without an answer are abandoned after the grace period for a closed input", async () => {
  await using pipe = await openSession("2025-11-25", { endGraceMs: 10 });
  pipe.send(callOf(1, "wait", { name: "a" }));
  await waitUntil(() => pipe.service.waiting.size === 1);
  pipe.input.end();
  await pipe.server.ended;
  assert.equal(pipe.service.aborted.length, 1);
});

test("A broken pipe at either end ends the server", async () => {
  const ways: ((pipe: Pipe) => void)[] = [
    ({ input }) => input.destroy(),
    ({ input }) => input.destroy(new Error("EIO")),
    ({ output }) => output.destroy(),
    ({ output }) => output.destroy(new Error("EPIPE")),
  ];
  for (const breakIt of ways) {
    await using pipe = await openSession("2025-11-25");
    pipe.send(callOf(1, "wait", { name: "a" }));
    await waitUntil(() => pipe.service.waiting.size === 1);
    breakIt(pipe);
    await pipe.server.ended;
    assert.equal(pipe.service.aborted.length, 1);
    assert.equal(pipe.service.sessions.size, 0);
  }
});

test("Disposal ends the server, is safe to repeat, and stops reading", async () => {
  const pipe = await openSession("2025-11-25");
  await pipe.server[Symbol.asyncDispose]();
  await pipe.server[Symbol.asyncDispose]();
  await pipe.server.ended;
  pipe.send(callOf(1, "echo"));
  await turn();
  assert.equal(pipe.service.count, 0);
});

test("A process whose input ends answers all requests, to the last byte", async () => {
  const lines = [
    initializeOf("2025-11-25"),
    ...Array.from({ length: 20 }, (_, id) => callOf(id, "large", { bytes: 100_000 })),
  ].map((message) => JSON.stringify(message));
  const { stdout, stderr, code } = await runProcess(
    process.execPath,
    [
      ...process.execArgv.filter((argument) => argument.startsWith("--conditions")),
      fileURLToPath(new URL("./demo-stdio.ts", import.meta.url)),
    ],
    { stdin: `\ufeff${lines.join("\r\n")}\r\n` },
  );
  const answers = stdout
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as WireMessage);
  assert.deepEqual(
    new Set(answers.map(({ id }) => id)),
    new Set(["init", ...Array.from({ length: 20 }, (_, id) => id)]),
  );
  assert.ok(answers.slice(1).every(({ result }) => textOf(result).length === 100_000));
  assert.equal(stderr, "");
  assert.equal(code, 0);
});

test("While a client does not read its answers, its requests are not read; it gets all answers later", async () => {
  const service = createDemoService();
  const input = new PassThrough();
  // Nothing reads this stream yet, so written data stays in it.
  const output = new PassThrough({ highWaterMark: 16 * 1024 });
  await using server = startStdioServer(
    service,
    { input, output },
    { view: "v", identity: localIdentity("stdio", "local"), sessionId: "s", unreadMaxBytes: 256 * 1024 },
  );
  input.write(`${JSON.stringify(initializeOf("2025-11-25"))}\n`);
  for (let id = 0; id < 200; id += 1) {
    input.write(`${JSON.stringify(callOf(id, "large", { bytes: 64 * 1024 }))}\n`);
    await turn();
  }
  // All answers together are 13 MB.
  assert.ok(output.writableLength < 1024 * 1024, `${output.writableLength} bytes wait`);
  assert.ok(service.count < 20, `${service.count} requests were read`);
  const ids = new Set<unknown>();
  const decoder = new LineDecoder(
    { message: (value) => ids.add((value as WireMessage).id), invalid: (reason) => assert.fail(reason) },
    1 << 26,
  );
  output.on("data", (chunk: Buffer) => decoder.write(chunk));
  await waitUntil(() => ids.size === 201);
  input.end();
  await server.ended;
});

test("A client that never reads while its calls send notifications is disconnected", async () => {
  const service = createDemoService();
  const input = new PassThrough();
  const output = new PassThrough();
  const unexpected: string[] = [];
  await using server = startStdioServer(
    service,
    { input, output },
    {
      view: "v",
      identity: localIdentity("stdio", "local"),
      sessionId: "s",
      unreadMaxBytes: 1024,
      onUnexpected: (reason) => unexpected.push(reason),
    },
  );
  const closed = once(output, "close");
  input.write(`${JSON.stringify(initializeOf("2025-11-25"))}\n`);
  input.write(`${JSON.stringify(callOf(1, "wait", { name: "a" }))}\n`);
  await waitUntil(() => service.waiting.has("a"));
  const request = service.waiting.get("a");
  for (let count = 0; count < 1000 && !output.destroyed; count += 1) {
    request?.notify("notifications/message", { level: "info", data: "x".repeat(1000) });
    await turn();
  }
  await closed;
  await server.ended;
  assert.match(unexpected.join(), /does not read its answers/);
  assert.equal(service.aborted.length, 1);
});
