/** Results and errors of servers: forwarded unchanged, or replaced by an error with a reason and a hint. */

import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { McpError } from "@toolcrib/mcp";
import { checkGolden, freePort, startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";
import {
  askModern,
  echoStdio,
  onHttp,
  startScriptedServer,
  startTestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

describe("a result", () => {
  it("that is invalid in MCP is replaced by an error that names server, tool and member", async () => {
    const text = { type: "text", text: "x" };
    const cases: readonly (readonly [result: JsonObject, problem: string])[] = [
      [{ content: "x" }, "content is not a list"],
      [{ content: [text, "x"] }, "content[1] is not an object"],
      [{ content: [{ text: "x" }] }, "content[0].type is not a string"],
      [{ content: [{ type: "zzz" }] }, 'content[0].type is not a type of content in MCP: "zzz"'],
      [{ content: [{ type: "text" }] }, "content[0].text is not a string"],
      [{ content: [{ type: "text", text: { a: 1 } }] }, "content[0].text is not a string"],
      [{ content: [{ type: "image", mimeType: "image/png" }] }, "content[0].data is not a string"],
      [{ content: [{ type: "audio", data: "aGk=" }] }, "content[0].mimeType is not a string"],
      [{ content: [{ type: "resource_link", name: "y" }] }, "content[0].uri is not a string"],
      [
        { content: [{ type: "resource", resource: { uri: "x://y" } }] },
        "content[0].resource has neither text nor blob",
      ],
      [{ content: [text], isError: "yes" }, "isError is neither true nor false"],
      [{ content: [text], _meta: "x" }, "_meta is not an object"],
    ];
    await using server = await startScriptedServer({
      tools: () => [toolNamed("give")],
      call: (_request, _name, args) => cases[Number(args["at"])]?.[0] ?? {},
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    for (const [at, [, problem]] of cases.entries()) {
      const result = await client.callTool({ name: "s__give", arguments: { at } });
      assert.equal(result.isError, true, problem);
      const reason = `The server "s" answered a call of its tool "give" with an invalid result: ${problem}.`;
      assert.ok(textOf(result).includes(reason), textOf(result));
    }
    assert.deepEqual(await client.callTool({ name: "s__give", arguments: { at: 99 } }), { content: [] });
  });

  it("cannot pose as an answer of the gateway", async () => {
    const _meta = {
      "toolcrib/code": "ARGUMENTS_INVALID",
      "toolcrib/callId": "1",
      "toolcrib/other": true,
      "example.org/kept": 1,
    };
    const kept = { "example.org/kept": 1 };
    const result = { content: [{ type: "text", text: "no", _meta }], isError: true, _meta };
    await using server = await startScriptedServer({
      tools: () => [{ ...toolNamed("give"), _meta }],
      resources: () => [{ uri: "x://r", name: "r", _meta }],
      prompts: () => [{ name: "p", _meta }],
      call(request) {
        request.progress({ progress: 1, _meta });
        return result as unknown as JsonObject;
      },
      other: ({ method }) => (method === "prompts/get" ? { messages: [], _meta } : undefined),
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    const answer = await client.callTool({ name: "s__give", arguments: {} });
    assert.deepEqual(answer["_meta"], kept);
    assert.deepEqual(answer["content"], [{ type: "text", text: "no", _meta: kept }]);
    const { tools } = await client.listTools();
    assert.deepEqual(tools.find(({ name }) => name === "s__give")?._meta, kept);
    assert.deepEqual((await client.listResources()).resources[0]?._meta, kept);
    assert.deepEqual((await client.listPrompts()).prompts[0]?._meta, kept);
    assert.deepEqual((await client.getPrompt({ name: "s__p" }))._meta, kept);
    const heard: unknown[] = [];
    const onProgress = (params: JsonObject) => heard.push(params["_meta"]);
    await test.gateway.call(localIdentity("token", "x"), "s:give", {}, { onProgress });
    assert.deepEqual(heard, [kept]);
    await test.stop();
    const completed = test.audit().filter(({ type }) => type === "call.completed");
    assert.deepEqual(
      completed.map(({ data }) => (data as { code?: string }).code),
      [undefined, undefined, undefined],
    );
  });

  it("is forwarded to the client unchanged", async () => {
    const results: JsonObject[] = [
      { content: [] },
      { content: [{ type: "text", text: "plain" }] },
      {
        content: [
          { type: "text", text: "<b>&\u0000\u202e", annotations: { audience: ["user"], priority: 0.5 } },
          { type: "image", data: "aGk=", mimeType: "image/png" },
          { type: "audio", data: "aGk=", mimeType: "audio/wav" },
          { type: "resource_link", uri: "x://y", name: "y" },
          { type: "resource", resource: { uri: "x://y", blob: "aGk=" } },
        ],
        structuredContent: { a: [1, null, true, { "": "x" }] },
        _meta: { "example.org/kept": { x: 1 } },
        futureField: { kept: true },
      },
      { content: [{ type: "text", text: "went wrong" }], isError: true, structuredContent: { why: 1 } },
    ];
    await using server = await startScriptedServer({
      tools: () => [toolNamed("give")],
      call: (_request, _name, { at }) => results[Number(at)],
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const url = await test.endpoint();
    for (const [at, expected] of results.entries()) {
      const { result } = await askModern(url, "tools/call", { name: "s__give", arguments: { at } });
      const { resultType, _meta, ...rest } = result ?? {};
      const { _meta: expectedMeta, ...expectedRest } = expected;
      assert.deepEqual(rest, expectedRest);
      assert.equal(resultType, "complete");
      const { "io.modelcontextprotocol/serverInfo": serverInfo, ...meta } = _meta as JsonObject;
      assert.deepEqual(meta, expectedMeta ?? {});
      assert.equal((serverInfo as JsonObject)["name"], "toolcrib");
    }
  });

  it("without content gets empty content, and an invalid response is refused", async () => {
    const answers: unknown[] = [{}, { structuredContent: { a: 1 } }, null, "text", [1]];
    await using server = await startScriptedServer({
      tools: () => [toolNamed("give")],
      call: (_request, _name, { at }) => answers[Number(at)],
    });
    await using test = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
    const client = await test.connect();
    const give = (at: number) => client.callTool({ name: "s__give", arguments: { at } });
    assert.deepEqual(await give(0), { content: [] });
    assert.deepEqual(await give(1), { content: [], structuredContent: { a: 1 } });
    for (const at of [2, 3, 4]) {
      const result = await give(at);
      assert.equal(result.isError, true);
      assert.match(textOf(result), /is not a result|not valid/, `answer ${at}`);
    }
  });
});

describe("a server's own JSON-RPC error", () => {
  it("keeps its code, message and data, through every method and era", async () => {
    const rpcData = { reason: ["quota"], code: "THEIRS" };
    await using server = await startScriptedServer({
      tools: () => [toolNamed("refuse")],
      resources: () => [{ uri: "x://r", name: "r" }],
      prompts: () => [{ name: "p" }],
      other({ method }) {
        if (method.includes("list")) return undefined;
        throw new McpError("MCP_REMOTE_ERROR", "Come back tomorrow", { rpcCode: -32099, rpcData });
      },
    });
    await using bare = await startEchoHttpServer();
    await using test = await startTestGateway({
      tool_servers: [onHttp("s", server.url), onHttp("bare", bare.url)],
    });
    const client = await test.connect();
    const expected = { code: -32099, message: "MCP error -32099: Come back tomorrow", data: rpcData };
    const requests = [
      () => client.callTool({ name: "s__refuse" }),
      () => client.callTool({ name: "call_tool", arguments: { name: "s:refuse" } }),
      () => client.readResource({ uri: "x://r" }),
      () => client.getPrompt({ name: "s__p" }),
      () => client.subscribeResource({ uri: "x://r" }),
    ];
    for (const request of requests) await assert.rejects(request, expected);
    const { error } = await askModern(await test.endpoint(), "tools/call", { name: "s__refuse" });
    assert.deepEqual(error, { code: -32099, message: "Come back tomorrow", data: rpcData });
    await assert.rejects(
      client.callTool({ name: "bare__rpc_error", arguments: { code: -32602, message: "no" } }),
      { code: -32602, message: "MCP error -32602: no", data: { tool: "rpc_error" } },
    );
  });
});

describe("a failed call", () => {
  it("is a result with the reason and a hint", async () => {
    await using echo = await startEchoHttpServer();
    const port = await freePort();
    await using test = await startTestGateway(
      {
        tool_servers: [
          onHttp("echo", echo.url, { validation: "strict" }),
          echoStdio("child"),
          onHttp("dead", `http://127.0.0.1:${port}/mcp`),
          onHttp("limited", echo.url, { containment: { max_execution_seconds: 1 } }),
        ],
        serve: { limits: { result_max_bytes: 10_000 } },
      },
      { upstreamLimits: { reconnectMinMs: 10_000 } },
    );
    const client = await test.connect();
    const lines: string[] = [];
    const add = async (what: string, name: string, given: object = {}) => {
      const result = await client.callTool({ name, arguments: { ...given } });
      assert.equal(result.isError, true);
      const { "toolcrib/code": code, "toolcrib/callId": callId, ...rest } = result._meta as JsonObject;
      assert.deepEqual(rest, {});
      assert.match(String(callId), /^[0-9a-f]{8}-[0-9a-f]{4}-7/);
      const text = textOf(result)
        .replaceAll(String(port), "PORT")
        .replace(/again in \d+ s/, "again in N s")
        .replace(/after [\d.]+ m?s/, "after N s");
      lines.push(`${what}: ${code}\n  ${text.replaceAll("\n", "\n  ")}\n`);
    };
    await add("arguments that do not fit", "echo__echo", { text: 5, other: 1 });
    await add("arguments that are missing", "echo__structured");
    await add("a result that breaks its schema", "echo__bad_structured");
    await add("a result that is too large", "echo__large", { bytes: 20_000 });
    await add("a deadline", "limited__hang");
    await add("a server that crashes", "child__crash", { code: 7 });
    await waitUntil(() => test.gateway.status().servers[1]?.health.state !== "ready");
    await add("a server that is away", "child__echo", { text: "x" });
    checkGolden(join(import.meta.dirname, "golden/call-failures.txt"), lines.join("\n"));
  });
});
