/**
 * MCP servers behind TLS, with HTTP/1.1 and HTTP/2, each used by the official client directly
 * and through the gateway: each case that works directly works through the gateway too, and no
 * call has its effect twice.
 */

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  leftOut,
  makeTemporaryDirectory,
  sampled,
  type TemporaryDirectory,
  writeFiles,
} from "@toolcrib/testing";
import { Agent, fetch as undiciFetch } from "undici";
import { startTestGateway } from "./gateway-harness.ts";
import { authority, type SecureCase, type SecureServer, secureCases } from "./secure-cases.ts";

/** Milliseconds for each step of the direct client; a case that needs longer does not work. */
const directMs = 3000;
/** Milliseconds for each step through the gateway in a case that works directly; long, for slow machines. */
const workingMs = 60_000;

interface Outcome {
  readonly works: boolean;
  readonly effects: number;
  readonly detail: string;
}

let directory: TemporaryDirectory;
let caFile = "";
before(async () => {
  directory = await makeTemporaryDirectory();
  await writeFiles(directory.path, { "ca.pem": authority.certificate });
  caFile = directory.join("ca.pem");
});
after(() => directory[Symbol.asyncDispose]());

/** The servers break connections while the direct client still uses them; its rejections belong to no test. */
const ignore = (): void => {};
before(() => process.on("unhandledRejection", ignore));
after(() => process.off("unhandledRejection", ignore));

async function callDirectly(one: SecureCase): Promise<Outcome> {
  await using server = await one.start();
  // The fetch of Node, which offers HTTP/2 too, with the authority of the case.
  const dispatcher = new Agent({ connect: { ca: authority.certificate } });
  const trusting = ((url: string, init: object) =>
    undiciFetch(url, { ...init, dispatcher })) as unknown as typeof fetch;
  const transport = new StreamableHTTPClientTransport(new URL(server.url), { fetch: trusting });
  const client = new Client({ name: "direct", version: "1" });
  client.onerror = ignore;
  try {
    return await outcomeOf(server, async () => {
      await client.connect(transport, { timeout: directMs });
      await client.listTools(undefined, { timeout: directMs });
      return await client.callTool({ name: "act", arguments: {} }, undefined, { timeout: directMs });
    });
  } finally {
    await client.close();
    await dispatcher.destroy();
  }
}

async function callThroughGateway(one: SecureCase, isExpected: boolean): Promise<Outcome> {
  await using server = await one.start();
  const transport = { kind: "streamable_http", url: server.url, ca_file: caFile };
  await using gateway = await startTestGateway(
    { tool_servers: [{ id: "s", trust_state: "certified", transport }] },
    { isAwaited: false },
  );
  await gateway.gateway.ready();
  const client = await gateway.connect();
  const limits = { timeout: isExpected ? workingMs : directMs };
  return await outcomeOf(server, async () => {
    const { tools } = await client.listTools(undefined, limits);
    assert.ok(tools.some(({ name }) => name === "s__act"));
    return await client.callTool({ name: "s__act", arguments: {} }, undefined, limits);
  });
}

async function outcomeOf(
  server: SecureServer,
  call: () => Promise<{ readonly [name: string]: unknown }>,
): Promise<Outcome> {
  try {
    const result = await call();
    return { works: result["isError"] !== true, effects: server.effects, detail: JSON.stringify(result) };
  } catch (error) {
    return { works: false, effects: server.effects, detail: String(error) };
  }
}

/** Every fifth case represents the table in `npm test`. */
const step = 5;
const cases = sampled(secureCases, step);
let workingCount = 0;

describe("a server behind TLS", { concurrency: 4 }, () => {
  for (const one of cases) {
    test(one.title, async () => {
      const direct = await callDirectly(one);
      const through = await callThroughGateway(one, direct.works);
      const allowed = one.isDeceptive === true ? 2 : 1;
      assert.ok(
        through.effects <= allowed,
        `the call had its effect ${through.effects} times: ${through.detail}`,
      );
      if (!direct.works) return;
      workingCount += 1;
      assert.ok(through.works, `it works directly, but not through the gateway: ${through.detail}`);
    });
  }
});

test("half of the cases work directly, so that the comparison means something", () => {
  assert.ok(workingCount >= cases.length / 2, `${workingCount} of ${cases.length}`);
});

test("the other cases", leftOut(step), () => {});
