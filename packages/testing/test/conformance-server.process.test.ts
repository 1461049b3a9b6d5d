import assert from "node:assert/strict";
import { test } from "node:test";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioClientTransportV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import {
  conformanceHttpPath,
  conformanceStdioPath,
  fixtureCommand,
  startServerProcess,
} from "@toolcrib/testing";

const info = { name: "test", version: "1.0.0" };

function createClient(pin?: string): Client {
  const client = new Client(info, {
    capabilities: { sampling: {}, elicitation: {}, roots: {} },
    ...(pin === undefined ? {} : { versionNegotiation: { mode: { pin } } }),
  });
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: "Paris" },
  }));
  client.setRequestHandler("elicitation/create", () => ({
    action: "accept",
    content: { name: "Ada", color: "red", ok: true, response: "yes" },
  }));
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///tmp" }] }));
  return client;
}

/** The results of the tools, which are the same on all transports and protocols. */
async function checkTools(client: Client, rows: readonly (readonly [name: string, expected: RegExp])[]) {
  for (const [name, expected] of rows) {
    const result = await client.callTool({ name, arguments: {} });
    assert.match(JSON.stringify(result.content), expected, name);
  }
}

const inEveryProtocol = [
  ["test_simple_text", /simple text/],
  ["test_multiple_content_types", /image\/png.*test:\/\/mixed/],
  ["test_error_handling", /intentionally/],
  ["test_input_required_result_elicitation", /Hello, Ada!/],
  ["test_input_required_result_sampling", /Paris/],
  ["test_input_required_result_list_roots", /file:\/\/\/tmp/],
  ["test_input_required_result_multiple_inputs", /Paris.*Ada, 1 roots/],
  ["test_input_required_result_multi_round", /Ada likes red/],
  ["test_input_required_result_tampered_state", /intact/],
] as const;

test("the conformance server serves both eras over stdio", async () => {
  for (const pin of [undefined, "2026-07-28"]) {
    const client = createClient(pin);
    await client.connect(new StdioClientTransport(fixtureCommand(conformanceStdioPath)));
    try {
      assert.equal(client.getProtocolEra(), pin === undefined ? "legacy" : "modern");
      await checkTools(client, inEveryProtocol);
      assert.equal((await client.listResources()).resources.length, 3);
      assert.equal((await client.listPrompts()).prompts.length, 5);
      if (pin === undefined) {
        await client.subscribeResource({ uri: "test://watched-resource" });
        await client.setLoggingLevel("debug");
      }
    } finally {
      await client.close();
    }
  }
});

test("the conformance server serves both eras on one URL", async () => {
  const { command, args } = fixtureCommand(conformanceHttpPath);
  await using server = await startServerProcess(command, args);
  for (const pin of [undefined, "2026-07-28"]) {
    const client = createClient(pin);
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    await checkTools(client, inEveryProtocol);
    await client.close();
  }
  const foreign = { "content-type": "application/json", origin: "http://evil.example.com" };
  assert.equal((await fetch(server.url, { method: "POST", headers: foreign, body: "{}" })).status, 403);
  assert.deepEqual(await server.stop(), { code: 0, signal: null });
});

test("the conformance server sends requests to SDK v1", async () => {
  const client = new ClientV1(info, { capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({
    action: "accept",
    content: { response: params.message },
  }));
  await client.connect(new StdioClientTransportV1(fixtureCommand(conformanceStdioPath)));
  try {
    const result = await client.callTool({ name: "test_elicitation", arguments: { message: "well?" } });
    assert.match(JSON.stringify(result.content), /action=accept.*well\?/);
  } finally {
    await client.close();
  }
});
