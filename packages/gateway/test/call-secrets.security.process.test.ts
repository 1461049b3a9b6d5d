/** A server that leaks its own secret: the gateway removes it from every output, in every encoding. */

import assert from "node:assert/strict";
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { describe, it } from "node:test";
import { LoggingMessageNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import type { JsonObject } from "@toolcrib/json";
import { McpError } from "@toolcrib/mcp";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import {
  dataOf,
  echoStdio,
  onHttp,
  somebody,
  startScriptedServer,
  startTestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

/** Contains characters that each encoding changes. */
const secret = `s3cr3t/+&"k'!=(x) ~`;

/** Encodings in which a server may leak a secret. */
const encodings: readonly (readonly [name: string, encode: (value: string) => string])[] = [
  ["plain", (value) => value],
  ["JSON", (value) => JSON.stringify(value)],
  ["JSON in JSON", (value) => JSON.stringify(JSON.stringify(value))],
  ["percent", encodeURIComponent],
  ["percent, lower case", (value) => encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase())],
  [
    "percent, strict",
    (value) => encodeURIComponent(value).replace(/[!'()]/g, (one) => `%${one.charCodeAt(0).toString(16)}`),
  ],
  ["form", (value) => new URLSearchParams({ v: value }).toString().slice(2)],
  ["HTML", (value) => value.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/'/g, "&#39;")],
  ["hexadecimal", (value) => Buffer.from(value).toString("hex")],
  ["hexadecimal, upper case", (value) => Buffer.from(value).toString("hex").toUpperCase()],
  ["base64", (value) => Buffer.from(value).toString("base64")],
  ["base64 of user:secret", (value) => Buffer.from(`user:${value}`).toString("base64")],
  ["base64 of a longer text", (value) => Buffer.from(`key: ${value} and more`).toString("base64")],
  ["base64 of JSON", (value) => Buffer.from(JSON.stringify({ key: value })).toString("base64")],
  ["base64 of a URL", (value) => Buffer.from(`?k=${encodeURIComponent(value)}&l=1`).toString("base64url")],
  ["hexadecimal of JSON", (value) => Buffer.from(JSON.stringify([value])).toString("hex")],
  ["base64url", (value) => Buffer.from(value).toString("base64url")],
  ["reversed", (value) => [...value].reverse().join("")],
  ["upper case", (value) => value.toUpperCase()],
  ["percent, in full", (value) => Buffer.from(value).toString("hex").replace(/../g, "%$&")],
  ["percent, twice", (value) => encodeURIComponent(encodeURIComponent(value))],
  ["Unicode escapes", (value) => Buffer.from(value).toString("hex").replace(/../g, "\\u00$&")],
  ["decimal entities", (value) => [...value].map((one) => `&#${one.charCodeAt(0)};`).join("")],
  ["base64 in lines", (value) => Buffer.from(value).toString("base64").replace(/.{8}/g, "$&\r\n")],
  ["hexadecimal with colons", (value) => (Buffer.from(value).toString("hex").match(/../g) ?? []).join(":")],
  [
    "hexadecimal with 0x",
    (value) => (Buffer.from(value).toString("hex").match(/../g) ?? []).map((byte) => `0x${byte}`).join(", "),
  ],
];

/** Asserts that the text contains no ten characters in a row of `encoded`, which would help to guess it. */
function assertGone(shown: string, encoded: string, where: string): void {
  const bare = encoded.replace(/[=\\"]+$/, "");
  for (let at = 0; at + 10 <= bare.length; at += 1) {
    const piece = bare.slice(at, at + 10);
    // Inside a longer text, the first and last characters of base64 also encode that text.
    if (at < 9 || at + 19 > bare.length) continue;
    assert.ok(!shown.includes(piece), `${where} shows ${piece} of ${encoded}: ${shown}`);
  }
  assert.ok(!shown.includes(bare), `${where} shows ${encoded}: ${shown}`);
}

/** A server whose responses all contain `leak()`. */
function startLeakingServer(leak: () => string) {
  const leaking = (): JsonObject => ({
    content: [{ type: "text", text: `before ${leak()} after` }],
    structuredContent: { list: [{ [`key ${leak()}`]: leak() }] },
    _meta: { note: leak() },
  });
  return startScriptedServer({
    tools: () => [
      toolNamed("leak", { description: `Is called with ${leak()}` }),
      toolNamed("fail"),
      toolNamed("refuse"),
      toolNamed("chat"),
    ],
    resources: () => [{ uri: "leak://r", name: leak() }],
    templates: () => [],
    prompts: () => [{ name: "leak", description: leak() }],
    instructions: `Use ${leak()}`,
    call(request, name) {
      if (name === "fail") return { ...leaking(), isError: true };
      if (name === "refuse") {
        throw new McpError("MCP_REMOTE_ERROR", `no access with ${leak()}`, {
          rpcCode: -32099,
          rpcData: { tried: [leak()] },
        });
      }
      if (name === "chat") {
        request.progress({ progress: 1, message: leak() });
        request.notify("notifications/message", { level: "error", data: { [leak()]: [leak()] } });
      }
      return leaking();
    },
    other({ method }) {
      if (method === "resources/read") return { contents: [{ uri: "leak://r", text: leak() }] };
      if (method === "prompts/get") {
        return { messages: [{ role: "user", content: { type: "text", text: leak() } }] };
      }
      return undefined;
    },
  });
}

/** A server that refuses every handshake and leaks the secret in the error. */
async function startRefusingServer(): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(async (request, response) => {
    const { id = null } = (await json(request)) as JsonObject;
    const error = { code: -32000, message: `wrong key: ${secret}` };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id, error }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

describe("a secret that the gateway resolved", () => {
  it("is removed from everything that a server sends, in every encoding", async () => {
    let leak = "";
    await using server = await startLeakingServer(() => leak);
    const headers = { "X-Api-Key": { secret_key_ref: { env: "LEAKED_KEY" } } };
    const declared = onHttp("s", server.url);
    const transport = { ...(declared["transport"] as JsonObject), headers };
    await using test = await startTestGateway(
      { tool_servers: [{ ...declared, transport }] },
      { environment: { LEAKED_KEY: secret } },
    );
    const client = await test.connect();
    const heard: unknown[] = [];
    client.setNotificationHandler(LoggingMessageNotificationSchema, (one) => void heard.push(one.params));
    await client.setLoggingLevel("debug");
    for (const [name, encode] of encodings) {
      leak = encode(secret);
      const results = await Promise.allSettled([
        client.callTool({ name: "s__leak" }),
        client.callTool({ name: "s__fail" }),
        client.callTool({ name: "s__refuse" }),
        client.callTool({ name: "s__chat" }, undefined, { onprogress: (one) => void heard.push(one) }),
        client.readResource({ uri: "leak://r" }),
        client.getPrompt({ name: "s__leak" }),
        client.callTool({ name: "call_tool", arguments: { name: "s:leak" } }),
      ]);
      const shown = results.map((one) =>
        one.status === "fulfilled" ? one.value : { ...one.reason, message: one.reason.message },
      );
      for (const one of [...shown, ...heard]) {
        const text = JSON.stringify(one);
        assert.match(text, /\[secret s\]/, name);
        assertGone(text, leak, name);
        assertGone(text, JSON.stringify(leak).slice(1, -1), name);
      }
      assert.equal(heard.splice(0).length, 2);
    }
    await test.stop();
    for (const [, encode] of encodings) {
      assertGone(JSON.stringify(test.logger.records), encode(secret), "the log");
      assertGone(JSON.stringify(test.audit()), encode(secret), "the audit");
    }
  });

  it("is removed from content items across which it is split", async () => {
    const parts = [secret.slice(0, 7), secret.slice(7, 12), secret.slice(12)];
    const encoded = Buffer.from(secret).toString("base64");
    const texts = [...parts, "between", encoded.slice(0, 9), encoded.slice(9)];
    await using server = await startScriptedServer({
      tools: () => [toolNamed("leak")],
      call: () => ({ content: texts.map((text) => ({ type: "text", text: `${text}` })) }),
    });
    const headers = { "X-Api-Key": { secret_key_ref: { env: "LEAKED_KEY" } } };
    const declared = onHttp("s", server.url);
    await using test = await startTestGateway(
      { tool_servers: [{ ...declared, transport: { ...(declared["transport"] as JsonObject), headers } }] },
      { environment: { LEAKED_KEY: secret } },
    );
    const client = await test.connect();
    const { content } = await client.callTool({ name: "s__leak" });
    const shown = (content as readonly { readonly text: string }[]).map(({ text }) => text);
    const hidden = "[secret s]";
    assert.deepEqual(shown, [hidden, hidden, hidden, "between", hidden, hidden]);
  });

  it("is removed from lists", async () => {
    await using server = await startLeakingServer(() => secret);
    const headers = { "X-Api-Key": { secret_key_ref: { env: "LEAKED_KEY" } } };
    const declared = onHttp("s", server.url);
    await using test = await startTestGateway(
      { tool_servers: [{ ...declared, transport: { ...(declared["transport"] as JsonObject), headers } }] },
      { environment: { LEAKED_KEY: secret } },
    );
    for (const client of [await test.connect(), await test.connect({ server: "s" })]) {
      const shown = [
        await client.listTools(),
        await client.listResources(),
        await client.listPrompts(),
        client.getInstructions(),
        await client.callTool({ name: "describe_tool", arguments: { name: "s__leak" } }).catch(() => secret),
      ];
      for (const one of shown.slice(0, 4)) {
        assert.match(JSON.stringify(one), /\[secret s\]/);
        assertGone(JSON.stringify(one), JSON.stringify(secret).slice(1, -1), "a list");
      }
    }
    const client = await test.connect();
    const found = await client.callTool({ name: "search_tools", arguments: { query: "leak" } });
    assert.match(JSON.stringify(found), /\[secret s\]/);
    assertGone(JSON.stringify(found), secret, "search");
  });

  it("is removed from a server's standard error, and from the reason why it is unavailable", async () => {
    await using refusing = await startRefusingServer();
    const { url } = refusing;
    const key = { secret_key_ref: { env: "LEAKED_KEY" } };
    const childKey = { secret_key_ref: { env: "CHILD_KEY" } };
    const child = echoStdio("child");
    await using test = await startTestGateway(
      {
        tool_servers: [
          { id: "refusing", transport: { kind: "streamable_http", url, headers: { "X-Api-Key": key } } },
          { ...child, transport: { ...(child["transport"] as JsonObject), env: { API_KEY: childKey } } },
        ],
      },
      { environment: { LEAKED_KEY: secret, CHILD_KEY: "the-key-of-the-child" } },
    );
    const { gateway } = test;
    const env = await gateway.call(somebody, "child:env", { name: "API_KEY" });
    assert.equal(env.kind === "result" && textOf(env.result), "[secret child]");
    await gateway.call(somebody, "child:stderr_noise", { line: "my key is the-key-of-the-child", lines: 3 });
    await waitUntil(() => gateway.serverLog("child", 10).length >= 3);
    for (const line of gateway.serverLog("child", 3)) assert.equal(line, "my key is [secret child]");
    const reason = gateway.status().servers[0]?.health.reason ?? "";
    assert.match(reason, /wrong key: \[secret refusing\]/);
    const log = JSON.stringify(test.logger.records);
    assert.match(log, /wrong key: \[secret/);
    assertGone(log, JSON.stringify(secret).slice(1, -1), "the log");
    const failed = await gateway.call(somebody, "refusing:x", {});
    assertGone(JSON.stringify(failed), secret, "an outcome");
  });

  it("is in no cause of an error that a program or --debug receives", async () => {
    await using server = await startScriptedServer({
      tools: () => [toolNamed("refuse")],
      call() {
        throw new McpError("MCP_REMOTE_ERROR", `no access with ${secret}`, { rpcCode: -32099 });
      },
    });
    const declared = onHttp("s", server.url);
    const headers = { "X-Api-Key": { secret_key_ref: { env: "LEAKED_KEY" } } };
    await using test = await startTestGateway(
      { tool_servers: [{ ...declared, transport: { ...(declared["transport"] as JsonObject), headers } }] },
      { environment: { LEAKED_KEY: secret } },
    );
    const outcome = await test.gateway.call(somebody, "s:refuse", {});
    assert.equal(outcome.kind, "failed");
    let count = 0;
    for (let at: unknown = outcome.error; at instanceof Error; at = at.cause) {
      count += 1;
      assert.match(at.message, /\[secret s\]/);
      assertGone(`${at.message} ${at.stack}`, secret, `cause ${count}`);
    }
    assert.ok(count > 0);
  });

  it("is still removed after a new secret replaces it", async () => {
    await using directory = await makeTemporaryDirectory();
    const file = join(directory.path, "key");
    const put = (value: string) => {
      writeFileSync(file, `${value}\n`, { mode: 0o600 });
      chmodSync(file, 0o600);
    };
    put("the-first-key");
    const child = echoStdio("child");
    const env = { API_KEY: { secret_key_ref: { file } } };
    await using test = await startTestGateway({
      tool_servers: [{ ...child, transport: { ...(child["transport"] as JsonObject), env } }],
    });
    const { gateway } = test;
    put("the-second-key");
    await gateway.call(somebody, "child:crash", {});
    await waitUntil(() => gateway.status().servers[0]?.restarts === 1);
    const text = "the-first-key and the-second-key";
    const outcome = await gateway.call(somebody, "child:echo", { text });
    assert.equal(outcome.kind === "result" && textOf(outcome.result), "[secret child] and [secret child]");
  });

  it("is removed from a preview before it is truncated, and from ids that contain it", async () => {
    const child = echoStdio("child");
    const env = { API_KEY: { secret_key_ref: { env: "LEAKED_KEY" } } };
    await using test = await startTestGateway(
      { tool_servers: [{ ...child, transport: { ...(child["transport"] as JsonObject), env } }] },
      { environment: { LEAKED_KEY: "abcdefghijklmnopqrstuvwxyz0123456789" } },
    );
    const client = await test.connect();
    const key = "abcdefghijklmnopqrstuvwxyz0123456789";
    await client.callTool({ name: "child__echo", arguments: { text: `${"x".repeat(100)}${key}` } });
    await client.readResource({ uri: `echo://greeting/${key}` });
    await client.readResource({ uri: `nothing://${key}` }).catch(() => {});
    await test.stop();
    assert.ok(!JSON.stringify(test.audit()).includes("abcdefghij"));
    const [call, read] = dataOf(test.audit(), "call.intent");
    assert.match(String((call?.preview as JsonObject | undefined)?.["text"]), /^x{100}\[secret child\]$/);
    assert.equal(read?.tool, "child:resources/echo://greeting/[secret child]");
  });
});

describe("the scrubber", () => {
  it("finds numbers, lines of a key, a token without its scheme, and the longest of several secrets", async () => {
    const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ";
    const answers = [
      { n: 12345678, m: 12345 },
      `log: ${line}`,
      "got token-of-a-header",
      "12345678-and-more",
      "12345",
    ];
    await using server = await startScriptedServer({
      tools: () => [toolNamed("give")],
      call: (_request, _name, { at }) => ({
        content: [],
        structuredContent: { given: answers[Number(at)] },
      }),
    });
    const declared = onHttp("s", server.url);
    const secretRef = (name: string) => ({ secret_key_ref: { env: name } });
    const headers = {
      "X-Pin-Key": secretRef("PIN"),
      "X-Short-Key": secretRef("SHORT"),
      "X-Long-Key": secretRef("LONG"),
      Authorization: secretRef("HEADER"),
    };
    const child = echoStdio("pem");
    await using test = await startTestGateway(
      {
        tool_servers: [
          { ...declared, transport: { ...(declared["transport"] as JsonObject), headers } },
          {
            ...child,
            transport: { ...(child["transport"] as JsonObject), env: { A_KEY: secretRef("PEM") } },
          },
        ],
      },
      {
        environment: {
          PIN: "12345678",
          SHORT: "12345",
          LONG: "12345678-and-more",
          HEADER: "Bearer token-of-a-header",
          PEM: `-----BEGIN PRIVATE KEY-----\n${line}\n-----END PRIVATE KEY-----\n`,
        },
      },
    );
    const given: unknown[] = [];
    for (const at of answers.keys()) {
      const outcome = await test.gateway.call(somebody, "s:give", { at });
      given.push(outcome.kind === "result" && (outcome.result.structuredContent as JsonObject)["given"]);
    }
    assert.deepEqual(given, [
      { n: "[secret s]", m: 12345 },
      "log: [secret pem]",
      "got [secret s]",
      "[secret s]",
      "12345",
    ]);
  });

  it("finds secrets under keys such as __proto__ too", async () => {
    await using server = await startScriptedServer({
      tools: () => [toolNamed("give")],
      call: () => JSON.parse('{"content":[],"structuredContent":{"__proto__":{"constructor":"the-secret"}}}'),
    });
    const declared = onHttp("s", server.url);
    const headers = { "X-Api-Key": { secret_key_ref: { env: "KEY" } } };
    await using test = await startTestGateway(
      { tool_servers: [{ ...declared, transport: { ...(declared["transport"] as JsonObject), headers } }] },
      { environment: { KEY: "the-secret" } },
    );
    const outcome = await test.gateway.call(somebody, "s:give", {});
    assert.equal(
      JSON.stringify(outcome.kind === "result" && outcome.result.structuredContent),
      '{"__proto__":{"constructor":"[secret s]"}}',
    );
    assert.equal(({} as { readonly constructor: unknown }).constructor, Object);
  });
});

describe("the preview in the audit", () => {
  it("omits values of credential-like names and credential-like values, and truncates long values", async () => {
    const child = echoStdio("child");
    await using test = await startTestGateway({ tool_servers: [child] });
    const args = {
      text: "y".repeat(1000),
      password: "hunter2",
      newPasswordConfirmation: "hunter2",
      api_key: "k",
      "X-Api-Key": "k",
      secretAccessKey: { nested: "k" },
      sessionId: "abc",
      pin: 1234,
      header: "Authorization: Bearer abcdefghijklmnop",
      note: "my token is ghp_abcdefghijklmnopqrstuvwxyz0123",
      keyboard: "qwertz",
      list: Array.from({ length: 20 }, (_, at) => at),
      deep: { a: { b: { c: { d: 1 } } } },
      nothing: null,
      passphrase: null,
    };
    await test.gateway.call(somebody, "child:echo", args);
    await test.stop();
    const [intent] = dataOf(test.audit(), "call.intent");
    assert.deepEqual(intent?.preview, {
      text: `${"y".repeat(120)}… (1000 characters)`,
      password: "[redacted]",
      newPasswordConfirmation: "[redacted]",
      api_key: "[redacted]",
      "X-Api-Key": "[redacted]",
      secretAccessKey: "[redacted]",
      sessionId: "[redacted]",
      pin: "[redacted]",
      header: "Authorization: Bearer [redacted]",
      note: "my token is [redacted]",
      keyboard: "qwertz",
      list: [...Array.from({ length: 16 }, (_, at) => at), "… (20 items)"],
      deep: { a: { b: { c: "…" } } },
      nothing: null,
      passphrase: null,
    });
    assert.ok(JSON.stringify(intent).length < 2000);
    assert.ok(!readFileSync(join(test.home, "audit", "001-00000001.jsonl"), "utf8").includes("hunter2"));
  });

  it("keeps each of several arguments whose names begin alike", async () => {
    await using test = await startTestGateway({ tool_servers: [echoStdio("child")] });
    const name = "n".repeat(200);
    await test.gateway.call(somebody, "child:echo", { [`${name}1`]: "first", [`${name}2`]: "second" });
    await test.stop();
    const [intent] = dataOf(test.audit(), "call.intent");
    assert.deepEqual(Object.values(intent?.preview ?? {}), ["first", "second"]);
  });

  it("stays short and fast for wide and deep arguments", async () => {
    await using test = await startTestGateway({ tool_servers: [echoStdio("child")] });
    const wide = (depth: number): unknown =>
      depth === 0 ? "z".repeat(50) : Array.from({ length: 16 }, () => wide(depth - 1));
    await test.gateway.call(somebody, "child:echo", { text: "first", wide: wide(4) as never });
    await test.stop();
    const [intent] = dataOf(test.audit(), "call.intent");
    const preview = intent?.preview as JsonObject | undefined;
    assert.equal(preview?.["text"], "first");
    assert.ok(JSON.stringify(preview).length < 20_000);
  });

  it("searches a bounded part of the arguments, and shows nothing of a secret that the bound divides", async () => {
    const child = echoStdio("child");
    const env = { API_KEY: { secret_key_ref: { env: "LEAKED_KEY" } } };
    await using test = await startTestGateway(
      {
        tool_servers: [{ ...child, transport: { ...(child["transport"] as JsonObject), env } }],
        policy: { deny: ["child:env"] },
      },
      { environment: { LEAKED_KEY: secret } },
    );
    // The first text ends within a secret wherever it is cut.
    const long = secret.repeat(200_000 / secret.length);
    const wide = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`k${at}`, "%25".repeat(100_000)]));
    const outcome = await test.gateway.call(somebody, "child:env", { long, wide, last: "shown" });
    assert.equal(outcome.kind, "denied");
    await test.stop();
    const [denied] = dataOf(test.audit(), "call.denied");
    const preview = denied?.preview as JsonObject | undefined;
    assert.match(String(preview?.["long"]), /^(?:\[secret [^\]]+\])+.*… \(\d+ characters\)$/);
    assert.ok(!JSON.stringify(preview).includes(secret.slice(0, 6)));
    assert.equal(preview?.["…"], "3 members");
  });
});
