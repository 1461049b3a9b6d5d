/** The bound of what responses hold together while they are read: none of them keeps the others from being read. */

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { waitUntil } from "@toolcrib/testing";
import { openHttp, startScripted } from "./upstreams.ts";

const chunk = "x".repeat(64 * 1024);

/** A server of tools by name, and a connection whose unfinished responses may hold 128 KiB, and messages 2 MiB. */
async function setUp(
  tools: { readonly [name: string]: (response: ServerResponse, end: string) => unknown },
  stalledMs: number,
) {
  const server = await startScripted(({ body, response }) => {
    const tool = tools[String(body.params?.["name"])];
    if (body.method !== "tools/call" || tool === undefined) return false;
    response.writeHead(200, { "content-type": "application/json" });
    response.write('{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"');
    tool(response, `"}]},"id":${JSON.stringify(body.id)}}`);
    return true;
  });
  const reading = { maxBytes: 128 * 1024, whenTaken: () => undefined, stalledMs };
  const transport = { reading, messageMaxBytes: 2 * 1024 * 1024 };
  const upstream = await openHttp(server.url, { transport });
  return {
    upstream,
    async [Symbol.asyncDispose]() {
      await upstream[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

const whole = (response: ServerResponse, end: string) => response.end(chunk.repeat(8) + end);

/** A tool whose answers stop after a text until the test ends them. */
function stalling(text: string) {
  const ends: (() => void)[] = [];
  const tool = (response: ServerResponse, end: string) => {
    response.write(text, () => ends.push(() => response.end(end)));
  };
  return { tool, ends, end: () => ends.forEach((end) => void end()) };
}

/** A tool whose answers bring one byte at a time after a text until the test ends them. */
function trickling(text: string) {
  const ends: (() => void)[] = [];
  const tool = (response: ServerResponse, end: string) => {
    response.write(text, () => {
      const timer = setInterval(() => response.write("x"), 20);
      response.once("close", () => clearInterval(timer));
      ends.push(() => {
        clearInterval(timer);
        response.end(end);
      });
    });
  };
  return { tool, ends, end: () => ends.forEach((end) => void end()) };
}

test("responses that trickle keep no others from being read, and end", async () => {
  const trickled = trickling(chunk.repeat(4));
  await using setting = await setUp({ trickled: trickled.tool, whole }, 60_000);
  const { call } = setting.upstream;
  const kept = Array.from({ length: 3 }, () => call("trickled"));
  await waitUntil(() => trickled.ends.length === kept.length);
  await delay(100);
  const texts = await Promise.all(Array.from({ length: 8 }, () => call("whole")));
  assert.deepEqual(
    texts.map(({ length }) => length),
    texts.map(() => 8 * chunk.length),
  );
  trickled.end();
  for (const text of await Promise.all(kept)) assert.ok(text.length >= 4 * chunk.length);
});

test("responses that trickle and use up the room for the largest message are broken off until there is some", async () => {
  const trickled = trickling(chunk.repeat(20));
  await using setting = await setUp({ trickled: trickled.tool, whole }, 300);
  const { call } = setting.upstream;
  const kept = Promise.allSettled([call("trickled"), call("trickled")]);
  await waitUntil(() => trickled.ends.length === 2);
  const texts = await Promise.all(Array.from({ length: 8 }, () => call("whole")));
  assert.equal(texts.length, 8);
  trickled.end();
  const results = await kept;
  const lost = results.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  assert.ok(lost.length > 0);
  for (const { code, message } of lost) {
    assert.equal(code, "MCP_CONNECTION_CLOSED");
    assert.match(message, /sends next to nothing more of an unfinished response/);
  }
});

for (const [size, text] of [
  ["a byte", "x"],
  ["more than the limit", chunk.repeat(4)],
] as const)
  test(`responses that stall after ${size} keep no others from being read, and end`, async () => {
    const stalled = stalling(text);
    await using setting = await setUp({ stalled: stalled.tool, whole }, 60_000);
    const { call } = setting.upstream;
    const kept = Array.from({ length: 3 }, () => call("stalled"));
    await waitUntil(() => stalled.ends.length === kept.length);
    // Their bytes are read before those of the others.
    await delay(100);
    const texts = await Promise.all(Array.from({ length: 8 }, () => call("whole")));
    assert.deepEqual(
      texts.map(({ length }) => length),
      texts.map(() => 8 * chunk.length),
    );
    stalled.end();
    assert.deepEqual(await Promise.all(kept), new Array(3).fill(text));
  });

test("responses that stall and use up the room for the largest message are broken off, the largest first", async () => {
  const [large, larger] = [stalling(chunk.repeat(8)), stalling(chunk.repeat(30))];
  await using setting = await setUp({ large: large.tool, larger: larger.tool, whole }, 300);
  const { call } = setting.upstream;
  const lost = assert.rejects(call("larger"), {
    code: "MCP_CONNECTION_CLOSED",
    message: /sends next to nothing more of an unfinished response, which keeps others from being read/,
  });
  const kept = call("large");
  const texts = await Promise.all(Array.from({ length: 8 }, () => call("whole")));
  assert.equal(texts.length, 8);
  await lost;
  large.end();
  assert.equal((await kept).length, 8 * chunk.length);
});
