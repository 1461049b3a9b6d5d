/** Long results: cut at the budget of their endpoint, read in parts by their client alone. */

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { ContentBlock, ToolResult } from "@toolcrib/tool";
import {
  dataOf,
  onHttp,
  type ScriptedServer,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  toolNamed,
} from "./gateway-harness.ts";

const lines = (count: number, word = "line") =>
  Array.from({ length: count }, (_, at) => `${word} ${at} of the text.`).join("\n");
const rows = Array.from({ length: 400 }, (_, at) => ({ id: at, name: `row ${at}` }));
const letter = { subject: "Hello", at: "2026-01-01T00:00:00Z", body: lines(2000), tags: ["a", "b"] };
/** A text that its schema describes to the letter. */
const key = "k".repeat(20_000);
const image = { type: "image", data: "aGk=", mimeType: "image/png" };

const results: { readonly [name: string]: ToolResult } = {
  long: {
    content: [{ type: "text", text: lines(2000) }, image, { type: "text", text: lines(500, "second") }],
  },
  short: { content: [{ type: "text", text: "short" }] },
  emoji: { content: [{ type: "text", text: "😀".repeat(3000) }] },
  rows: { content: [{ type: "text", text: JSON.stringify({ rows }) }], structuredContent: { rows } },
  unshown: { content: [{ type: "text", text: "see the rows" }], structuredContent: { rows } },
  typed: { content: [{ type: "text", text: JSON.stringify({ rows }) }], structuredContent: { rows } },
  letter: { content: [{ type: "text", text: "a letter" }], structuredContent: letter },
  rigid: { content: [{ type: "text", text: JSON.stringify({ key }) }], structuredContent: { key } },
  small: { content: [{ type: "text", text: lines(2000) }], structuredContent: { rows: [1] } },
  refused: { content: [{ type: "text", text: "no" }], structuredContent: { rows }, isError: true },
  file: {
    content: [
      { type: "resource", resource: { uri: "file:///a", mimeType: "text/plain", text: lines(2000) } },
    ],
  },
  tagged: {
    content: [{ type: "text", text: lines(2000) }],
    _meta: { "example.com/blob": "x".repeat(50_000) },
  },
  own: { content: [{ type: "text", text: lines(2000) }] },
  whole: { content: [{ type: "text", text: lines(2000) }] },
};

const ofRows = { properties: { rows: { type: "array" } }, required: ["rows"] };
/** The output schemas of tools that have one. */
const schemas: { readonly [name: string]: JsonObject } = {
  typed: ofRows,
  small: ofRows,
  refused: ofRows,
  letter: {
    properties: {
      subject: { type: "string" },
      at: { type: "string", format: "date-time" },
      body: { type: "string", minLength: 100 },
      tags: { type: "array", items: { type: "string" }, minItems: 2 },
    },
    required: ["subject", "at", "body", "tags"],
    additionalProperties: false,
  },
  rigid: { properties: { key: { type: "string", pattern: "^k{1000,}$" } }, required: ["key"] },
};

let server: ScriptedServer;
let test: TestGateway;

before(async () => {
  server = await startScriptedServer({
    tools: () =>
      Object.keys(results).map((name) =>
        toolNamed(
          name,
          schemas[name] === undefined ? {} : { outputSchema: { type: "object", ...schemas[name] } },
        ),
      ),
    call: (_request, name) => results[name] as unknown as JsonObject,
  });
  test = await startTestGateway(
    {
      tool_servers: [onHttp("s", server.url, { data_labels: ["confidential"] })],
      serve: { mode: "search", results: { token_budget: 1000 }, tools: { pinned: ["s:*"] } },
      profiles: { whole: { results: { token_budget: 0 } } },
      tools: { "s:own": { result_token_budget: 200 }, "s:whole": { result_token_budget: 0 } },
    },
    { clients: ["a", "b"] },
  );
});

after(async () => {
  await test[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

type Caller = { callTool(params: { name: string; arguments?: JsonObject }): Promise<unknown> };

const call = async (client: Caller, name: string, args: JsonObject = {}) =>
  (await client.callTool({ name, arguments: args })) as ToolResult;
const cursorIn = ({ content }: ToolResult) =>
  /read_more\((\{.*\})\)\]$/.exec(String(content.at(-1)?.["text"]))?.[1];

/** Reads a result to its end. */
async function readAll(client: Caller, first: ToolResult): Promise<{ texts: string; parts: ToolResult[] }> {
  const parts = [first];
  for (let part = first, cursor = cursorIn(part); cursor !== undefined; cursor = cursorIn(part)) {
    part = await call(client, "read_more", JSON.parse(cursor));
    parts.push(part);
  }
  return {
    texts: parts
      .flatMap(({ content }) => content.slice(0, -1))
      .map(textOfBlock)
      .join(""),
    parts,
  };
}

const textOfBlock = (block: ContentBlock) =>
  String(block["text"] ?? (block["resource"] as JsonObject | undefined)?.["text"] ?? "");

describe("a result above the budget", () => {
  it("is read in parts that are the whole text, cut at lines, in both eras", async () => {
    for (const client of [await test.connect({ as: "a" }), await test.connectModern({ as: "a" })]) {
      const first = await call(client, "s__long");
      assert.deepEqual(
        first.content.map(({ type }) => type),
        ["text", "image", "text"],
      );
      const { texts, parts } = await readAll(client, first);
      assert.equal(texts, lines(2000) + lines(500, "second"));
      assert.ok(parts.length > 10);
      for (const { content, _meta: meta } of parts) {
        // A part ends at a line, and has the labels of its origin.
        for (const { type, text } of content.slice(0, -1))
          if (type === "text") assert.match(String(text), /(\n|\.)$/);
        assert.deepEqual(meta?.["toolcrib/labels"], ["confidential"]);
      }
      assert.equal(String(parts.at(-1)?.content.at(-1)?.["text"]), "[This is the end of the result]");
      const { content } = await call(client, "s__short");
      assert.deepEqual(content, results["short"]?.content);
      const emoji = await readAll(client, await call(client, "s__emoji"));
      assert.equal(emoji.texts, "😀".repeat(3000));
      assert.ok(
        emoji.parts.every(
          ({ content }) =>
            !content.some(({ text }) => /[\uD800-\uDBFF](?![\uDC00-\uDFFF])/.test(String(text))),
        ),
      );
      assert.equal((await readAll(client, await call(client, "s__file"))).texts, lines(2000));
      // The result of call_tool is that of its tool.
      const called = await call(client, "call_tool", { name: "s__long" });
      assert.equal((await readAll(client, called)).texts, texts);
    }
  });

  it("has the beginning of structured content for clients that check it, and all of it as text", async () => {
    for (const client of [await test.connect({ as: "a" }), await test.connectModern({ as: "a" })]) {
      // From now on the client refuses what its schema forbids.
      await client.listTools();
      const typed = await call(client, "s__typed");
      const kept = (typed.structuredContent as { rows: JsonValue[] }).rows;
      assert.ok(kept.length > 20 && kept.length < 200, String(kept.length));
      assert.deepEqual(kept, rows.slice(0, kept.length));
      assert.equal(typed._meta?.["toolcrib/structuredContent"], "shortened");
      assert.deepEqual(JSON.parse((await readAll(client, typed)).texts), { rows });
      const short = await call(client, "s__letter");
      const { body, ...others } = short.structuredContent as typeof letter;
      assert.deepEqual({ ...others, body: letter.body }, letter);
      assert.ok(body.length < 10_000 && letter.body.startsWith(body.slice(0, -1)), String(body.length));
      assert.deepEqual(
        JSON.parse((await readAll(client, short)).texts.replace(/^a letter/, "")) as JsonValue,
        letter,
      );
      for (const name of ["s__rows", "s__unshown"]) {
        const first = await call(client, name);
        assert.equal(first.structuredContent, undefined, name);
        const { texts } = await readAll(client, first);
        assert.deepEqual(JSON.parse(texts.replace(/^see the rows/, "")) as JsonValue, { rows });
      }
      const small = await call(client, "s__small");
      assert.deepEqual(
        [small.structuredContent, small._meta?.["toolcrib/structuredContent"]],
        [{ rows: [1] }, undefined],
      );
      assert.equal((await readAll(client, small)).texts, lines(2000));
    }
  });

  it("has no structured content where no beginning of it is valid, and says that the call succeeded", async () => {
    for (const client of [await test.connect({ as: "a" }), await test.connectModern({ as: "a" })]) {
      await client.listTools();
      const first = await call(client, "s__rigid");
      assert.deepEqual([first.structuredContent, first.isError], [undefined, true]);
      assert.equal(first._meta?.["toolcrib/structuredContent"], "left out");
      const [note, ...content] = first.content;
      assert.match(String(note?.["text"]), /^\[The call succeeded: do not repeat it/);
      const { texts } = await readAll(client, { ...first, content });
      assert.deepEqual(JSON.parse(texts), { key });
      // The content of an error is not checked, so it is cut as text.
      const refused = await call(client, "s__refused");
      assert.deepEqual([refused.structuredContent, refused.isError], [undefined, true]);
      assert.deepEqual(JSON.parse((await readAll(client, refused)).texts.replace(/^no/, "")), { rows });
    }
  });

  it("never exceeds the budget with what a client receives, whatever the content", async () => {
    const client = await test.connect({ as: "a" });
    for (const name of Object.keys(results)) {
      if (name === "tagged" || name === "whole") continue;
      const { structuredContent, content } = await call(client, `s__${name}`);
      // A token has nine characters at the most, and texts and structured content have the budget each.
      const length = [...content.map(textOfBlock), JSON.stringify(structuredContent ?? {})].join("").length;
      assert.ok(length < 2 * 1000 * 9, `${name}: ${length}`);
    }
  });

  it("has the budget of its tool and endpoint, and none on the endpoint of a server", async () => {
    const client = await test.connect({ as: "a" });
    const sizeOf = (result: ToolResult) => String(result.content[0]?.["text"]).length;
    const ofEndpoint = sizeOf(await call(client, "s__long"));
    assert.ok(sizeOf(await call(client, "s__own")) < ofEndpoint / 3);
    assert.equal(sizeOf(await call(client, "s__whole")), lines(2000).length);
    const own = await test.connect({ as: "a", server: "s" });
    assert.equal(sizeOf(await call(own, "long")), lines(2000).length);
    const profile = await test.connect({ as: "a", profile: "whole" });
    assert.equal(sizeOf(await call(profile, "s__long")), lines(2000).length);
    assert.ok(!(await profile.listTools()).tools.some(({ name }) => name === "read_more"));
  });

  it("is read by its client alone, at its own endpoint, and by no invented cursor", async () => {
    const a = await test.connect({ as: "a" });
    const cursor = JSON.parse(cursorIn(await call(a, "s__long")) ?? "{}") as JsonObject;
    const refused = async (client: Caller, args: JsonObject) => {
      const { isError, content } = await call(client, "read_more", args);
      assert.equal(isError, true);
      assert.match(String(content[0]?.["text"]), /names no part of a result/);
    };
    await refused(await test.connect({ as: "b" }), cursor);
    await refused(await test.connect({ as: "a", profile: "whole" }), cursor);
    const [id, text] = String(cursor["cursor"]).split(".");
    for (const wrong of [
      "x",
      `${id}`,
      `${id}.9.0`,
      `${id}.${text}.999999999`,
      `${id}.-1.0`,
      `${"A".repeat(22)}.0.0`,
    ]) {
      await refused(a, { cursor: wrong });
    }
    assert.equal((await call(a, "read_more", cursor)).isError, undefined);
  });

  it("has the budget of the innermost tool, and keeps of its _meta the labels alone", async () => {
    const a = await test.connect({ as: "a" });
    const direct = await call(a, "s__own");
    const nested = await call(a, "call_tool", { name: "call_tool", arguments: { name: "s__own" } });
    assert.deepEqual(nested.content[0], direct.content[0]);
    const tagged = await call(a, "s__tagged");
    assert.equal(String(tagged["_meta"]?.["example.com/blob"]).length, 50_000);
    const more = await call(a, "read_more", JSON.parse(cursorIn(tagged) ?? "{}"));
    assert.deepEqual(more["_meta"], { "toolcrib/labels": ["confidential"] });
  });

  it("leaves room for others: the oldest results of a client give way to its newer ones", async () => {
    const a = await test.connect({ as: "a" });
    const b = await test.connect({ as: "b" });
    const kept = JSON.parse(cursorIn(await call(b, "s__long")) ?? "{}") as JsonObject;
    const oldest = JSON.parse(cursorIn(await call(a, "s__long")) ?? "{}") as JsonObject;
    for (let at = 0; at < 16; at += 1) await call(a, "s__long");
    assert.equal((await call(a, "read_more", oldest)).isError, true);
    assert.equal((await call(b, "read_more", kept)).isError, undefined);
  });

  it("is recorded, counted, and read as calls of the client", async () => {
    const { cutTokens } = test.gateway.status().discovery;
    assert.ok(cutTokens > 1000);
    const url = new URL("/metrics", await test.endpoint());
    const { readToken } = await import("@toolcrib/auth");
    const headers = { authorization: `Bearer ${readToken(test.home, "a")}` };
    assert.match(await (await fetch(url, { headers })).text(), /^toolcrib_result_tokens_cut [1-9]\d*$/m);
    await test.stop();
    const read = dataOf(test.audit(), "call.completed").filter(({ tool }) => tool === "toolcrib:read_more");
    assert.ok(read.length > 30);
  });
});
