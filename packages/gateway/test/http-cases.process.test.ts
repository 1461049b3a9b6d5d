/**
 * Misbehaving HTTP servers, each used by the official client directly and
 * through the gateway: each case that works directly works through the gateway
 * too, and no call has its effect twice.
 */

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { RequestOptions } from "@modelcontextprotocol/sdk/shared/protocol.js";
import { leftOut, sampled, startRawServer } from "@toolcrib/testing";
import { startTestGateway } from "./gateway-harness.ts";
import { type HttpCase, httpCases } from "./http-cases.ts";

/** Milliseconds for each step of the direct client; a case that needs longer does not work. */
const directMs = 3000;
/** Milliseconds for each step through the gateway in a case that works directly; long, for slow machines. */
const workingMs = 60_000;

/** Every tenth case represents the table in `npm test`. */
const step = 10;

test(`the table has ${httpCases.length} cases, each with its own title`, () => {
  assert.ok(httpCases.length >= 150);
  assert.equal(new Set(httpCases.map(({ title }) => title)).size, httpCases.length);
});

/** The result of the call. */
interface Outcome {
  readonly works: boolean;
  readonly effects: number;
  readonly detail: string;
}

/** Lists and calls with the official client, directly. */
async function callDirectly(one: HttpCase): Promise<Outcome> {
  await using server = await startRawServer(one.answer);
  const url = new URL(server.url);
  const transport = one.kind === "sse" ? new SSEClientTransport(url) : new StreamableHTTPClientTransport(url);
  const client = new Client({ name: "direct", version: "1" });
  client.onerror = () => {};
  const limits = { timeout: directMs };
  return await outcomeOf(client, "act", { server, limits }, () => client.connect(transport, limits));
}

/** Lists and calls with the official client, through the gateway, until `signal` aborts. */
async function callThroughGateway(one: HttpCase, signal: AbortSignal): Promise<Outcome> {
  await using server = await startRawServer(one.answer);
  const { kind = "streamable_http" } = one;
  await using gateway = await startTestGateway(
    { tool_servers: [{ id: "s", trust_state: "certified", transport: { kind, url: server.url } }] },
    { isAwaited: false },
  );
  await Promise.race([gateway.gateway.ready(), once(signal, "abort")]);
  const client = await gateway.connect();
  return await outcomeOf(
    client,
    "s__act",
    { server, limits: { timeout: workingMs, signal } },
    async () => {},
  );
}

async function outcomeOf(
  client: Client,
  name: string,
  { server, limits }: { readonly server: { readonly effects: number }; readonly limits: RequestOptions },
  connect: () => Promise<void>,
): Promise<Outcome> {
  try {
    await connect();
    const { tools } = await client.listTools(undefined, limits);
    assert.ok(tools.some((tool) => tool.name === name));
    const result = await client.callTool({ name, arguments: {} }, undefined, limits);
    return { works: result.isError !== true, effects: server.effects, detail: JSON.stringify(result) };
  } catch (error) {
    return { works: false, effects: server.effects, detail: String(error) };
  } finally {
    await client.close();
  }
}

/** Returns a signal that aborts a while after the direct client failed, and never where it works. */
function endOf(calling: Promise<Outcome>): AbortSignal {
  const controller = new AbortController();
  void calling.then(({ works }) => {
    if (!works) setTimeout(() => controller.abort(), directMs).unref();
  });
  return controller.signal;
}

/** The servers break connections while the direct client still uses them; its rejections belong to no test. */
const ignore = (): void => {};
before(() => process.on("unhandledRejection", ignore));
after(() => process.off("unhandledRejection", ignore));

const cases = sampled(httpCases, step);
let workingCount = 0;

describe("an HTTP server", { concurrency: 4 }, () => {
  for (const one of cases) {
    test(one.title, async () => {
      const calling = callDirectly(one);
      const [direct, through] = await Promise.all([calling, callThroughGateway(one, endOf(calling))]);
      assert.ok(through.effects <= 1, `the call had its effect ${through.effects} times: ${through.detail}`);
      if (!direct.works) return;
      workingCount += 1;
      assert.ok(through.works, `it works directly, but not through the gateway: ${through.detail}`);
    });
  }
});

test("a third of the cases works directly, so that the comparison means something", () => {
  assert.ok(workingCount >= cases.length / 3, `${workingCount} of ${cases.length}`);
});

test("the other cases", leftOut(step), () => {});
