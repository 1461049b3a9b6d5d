import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { type EchoHttpServer, startEchoHttpServer, startEchoSseServer, waitUntil } from "@toolcrib/testing";
import {
  createCall,
  echoStdio,
  failureOf,
  type ResolvedTransport,
  startSource,
  type TestSource,
} from "./source-harness.ts";

const options = { pageSize: 7, tools: 20 };
const pageFlags = ["--page-size", "7", "--tools", "20"];

async function overHttp(server: EchoHttpServer, kind: "streamable_http" | "sse") {
  const transport: ResolvedTransport = { kind, url: server.url, headers: {} };
  return { transport, end: () => server[Symbol.asyncDispose]() };
}

const ways: {
  name: string;
  hasStreams: boolean;
  open: () => Promise<{ transport: ResolvedTransport; end: () => PromiseLike<void> }>;
}[] = [
  {
    name: "stdio",
    hasStreams: true,
    open: async () => ({ transport: echoStdio(...pageFlags), end: async () => {} }),
  },
  {
    name: "streamable HTTP with streams",
    hasStreams: true,
    open: async () => overHttp(await startEchoHttpServer({ ...options, resumable: true }), "streamable_http"),
  },
  {
    name: "streamable HTTP with JSON answers and without sessions",
    hasStreams: false,
    open: async () =>
      overHttp(
        await startEchoHttpServer({ ...options, answers: "auto", sessions: false }),
        "streamable_http",
      ),
  },
  {
    name: "HTTP with SSE",
    hasStreams: true,
    open: async () => overHttp(await startEchoSseServer(options), "sse"),
  },
];

for (const { name, hasStreams, open } of ways) {
  describe(`createUpstreamServer() over ${name}`, () => {
    let source: TestSource;
    let end: () => PromiseLike<void>;
    before(async () => {
      const way = await open();
      end = way.end;
      source = await startSource({ transport: way.transport, tags: ["Web Search", "b"] });
    });
    after(async () => {
      await source[Symbol.asyncDispose]();
      await end();
    });

    test("lists all pages as tools of its namespace", () => {
      const { server } = source;
      const names = server.tools().map(({ definition }) => definition.name);
      assert.ok(names.includes("echo") && names.includes("tool_0020"), names.join());
      assert.equal(new Set(names).size, names.length);
      const { definition, ...tool } = source.tool("echo");
      assert.equal(definition.description, "Returns its text");
      assert.deepEqual(tool, {
        id: "s:echo",
        namespace: "s",
        tags: ["b", "web-search"],
        origin: "server",
        sourceId: "s",
      });
      assert.deepEqual(source.changes, ["tools", "resources", "prompts", "health"]);
      assert.equal(server.facts().serverInfo?.["name"], "echo");
      assert.equal(server.facts().restarts, 0);
    });

    test("calls tools, with structured content and error results", async () => {
      assert.equal(await source.text("echo", { text: "grüße ✓" }), "grüße ✓");
      const structured = await source.call("structured", { value: 4 });
      assert.deepEqual(structured.structuredContent, { value: 4, doubled: 8 });
      const failed = await source.call("fail", { message: "no" });
      assert.equal(failed.isError, true);
    });

    test("keeps the code and data of a JSON-RPC error", async () => {
      const error = await failureOf(source.call("rpc_error", { code: -32099, message: "not today" }));
      assert.equal(error.code, "UPSTREAM_ERROR");
      assert.equal(error.message, "not today");
      assert.deepEqual(error.data, { server: "s", rpcCode: -32099, rpcData: { tool: "rpc_error" } });
    });

    test("passes progress on in order, and only if the caller wants it", async () => {
      const call = createCall({ wantsProgress: true });
      await source.call("progress", { steps: 200 }, call);
      assert.deepEqual(
        call.progressed.map(({ progress }) => progress),
        Array.from({ length: 200 }, (_, index) => index + 1),
      );
      assert.deepEqual(call.progressed[0], { progress: 1, total: 200, message: "step 1" });
      const deaf = createCall();
      await source.call("progress", { steps: 2 }, deaf);
      assert.deepEqual(deaf.progressed, []);
    });

    test("passes the caller's _meta on, without the progress token of another hop", async () => {
      const seen = JSON.parse(await source.text("request", {}, createCall({ meta: { "example.com/x": 1 } })));
      assert.deepEqual(seen.meta, { "example.com/x": 1 });
    });

    test("cancels a call at the server, and rejects it at once", async () => {
      const stopping = new AbortController();
      const call = source.call("hang", {}, createCall({ signal: stopping.signal }));
      const before = Number(await source.text("cancelled"));
      const reason = new Error("The deadline passed");
      stopping.abort(reason);
      assert.equal(await failureOf(call), reason);
      await waitUntil(async () => Number(await source.text("cancelled")) === before + 1);
      assert.equal(source.server.health().state, "ready");
    });

    test("sends nothing for a call that is already cancelled", async () => {
      const reason = new Error("too late");
      const call = createCall({ signal: AbortSignal.abort(reason) });
      assert.equal(await failureOf(source.call("echo", { text: "x" }, call)), reason);
    });

    test("accepts a large result", async () => {
      const text = await source.text("large", { bytes: 3_000_000 });
      assert.equal(text.length, 3_000_000);
    });

    test("returns one result for each call, also if the server sends further responses", async () => {
      assert.equal(await source.text("twice"), "first");
      // A JSON body contains only the response, so nothing precedes it.
      if (hasStreams) {
        assert.equal(await source.text("unknown_answer"), "for the caller");
        assert.equal(await source.text("invalid_message"), "after an invalid message");
      }
      assert.equal(await source.text("echo", { text: "still here" }), "still here");
    });

    test("keeps many calls apart", async () => {
      const texts = Array.from({ length: 50 }, (_, index) => `call ${index}`);
      assert.deepEqual(await Promise.all(texts.map((text) => source.text("echo", { text }))), texts);
    });

    test("reads resources, templates, prompts and completion", async () => {
      const { features } = source.server;
      assert.deepEqual(
        features.resources().map(({ uri }) => uri),
        ["echo://hello", "echo://watched", "echo://note"],
      );
      assert.deepEqual(
        features.resourceTemplates().map(({ uriTemplate }) => uriTemplate),
        ["echo://greeting/{name}"],
      );
      assert.deepEqual(
        features.prompts().map(({ name: prompt }) => prompt),
        ["plain", "greet"],
      );
      const call = createCall();
      const read = await features.request("resources/read", { uri: "echo://hello" }, call);
      assert.deepEqual(read["contents"], [
        { uri: "echo://hello", mimeType: "text/plain", text: "Hello, world" },
      ]);
      const prompt = await features.request(
        "prompts/get",
        { name: "greet", arguments: { name: "Ada" } },
        call,
      );
      assert.equal(prompt["description"], "A greeting");
      const ref = { type: "ref/prompt", name: "greet" };
      const completed = await features.request(
        "completion/complete",
        { ref, argument: { name: "name", value: "a" } },
        call,
      );
      assert.deepEqual(completed["completion"], { values: ["Ada", "Alan"], total: 2, hasMore: false });
      const missing = await failureOf(features.request("resources/read", { uri: "echo://none" }, call));
      assert.deepEqual([missing.code, missing.data["rpcCode"]], ["UPSTREAM_ERROR", -32002]);
    });
  });
}

test("stderrTail() returns the last lines of standard error", async () => {
  await using source = await startSource({
    transport: echoStdio(),
    scrub: (text) => text.replaceAll("hunter2", "[secret]"),
  });
  await source.call("stderr_noise", { lines: 3, line: "password hunter2" });
  await waitUntil(() => source.server.stderrTail(10).length >= 3);
  assert.deepEqual(source.server.stderrTail(2), ["password [secret]", "password [secret]"]);
});

test("a call whose stream breaks gets its response on the resumed stream", async () => {
  await using echo = await startEchoHttpServer({ resumable: true });
  await using source = await startSource({
    transport: { kind: "streamable_http", url: echo.url, headers: {} },
  });
  assert.equal(await source.text("break_stream", { ms: 20 }), "answered after the stream broke");
});
