/** Sessions of legacy clients: each gets from a server through its own session what a direct connection gives. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { waitUntil } from "@toolcrib/testing";
import {
  echoStdio,
  onHttp,
  startScriptedServer,
  startTestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";

const interactive = { ...echoStdio("echo"), interactive: true };

test("the time that a person takes to answer does not count towards the deadline of the call", async () => {
  const server = { ...interactive, containment: { max_execution_seconds: 4 } };
  await using gateway = await startTestGateway({ tool_servers: [server] });
  const client = await gateway.connect({ capabilities: { elicitation: {} } });
  client.setRequestHandler(ElicitRequestSchema, async () => {
    await sleep(5000);
    return { action: "accept", content: { name: "Ada" } };
  });
  // Starts the session of this client, which takes a part of the deadline.
  const isStarted = async () =>
    !(await client.callTool({ name: "echo__echo", arguments: { text: "x" } })).isError;
  await waitUntil(isStarted, { what: "a call ends within its deadline" });
  const [late, result] = await Promise.all([
    client.callTool({ name: "echo__hang", arguments: {} }),
    client.callTool({ name: "echo__ask_elicitation", arguments: {} }),
  ]);
  assert.match(textOf(result), /Ada/);
  assert.match(textOf(late), /did not answer within 4 s/);
});

test("a tool that a server lists in the session of one client is listed for that client and no other", async () => {
  await using gateway = await startTestGateway({ tool_servers: [interactive] }, { clients: ["ada", "bob"] });
  const capabilities = { elicitation: {} };
  const ada = await gateway.connect({ as: "ada", capabilities });
  const bob = await gateway.connect({ as: "bob", capabilities });
  await ada.callTool({ name: "echo__change_tools", arguments: { add: "fresh" } });
  const lists = async (client: typeof ada) =>
    (await client.listTools()).tools.some(({ name }) => name === "echo__fresh");
  await waitUntil(() => lists(ada), { what: "the tool is listed for Ada" });
  assert.equal(await lists(bob), false);
  await ada.callTool({ name: "echo__fresh", arguments: {} });
  await ada.close();
});

test("what is left out of the list of one client's session says nothing about the list of all", async () => {
  await using gateway = await startTestGateway({ tool_servers: [interactive] });
  const client = await gateway.connect({ capabilities: { elicitation: {} } });
  const add = (name: string, silent: boolean) =>
    client.callTool({ name: "echo__change_tools", arguments: { add: name, silent } });
  await add("n".repeat(2000), true);
  await add("fresh", false);
  const isListed = async () => (await client.listTools()).tools.some(({ name }) => name === "echo__fresh");
  await waitUntil(isListed, { what: "the list of the session is read" });
  const [server] = gateway.gateway.status().servers;
  assert.deepEqual([server?.health.state, server?.health.reason], ["ready", undefined]);
  await client.close();
});

test("a page to visit reaches only a client that declares it", async () => {
  await using gateway = await startTestGateway({ tool_servers: [interactive] });
  for (const [elicitation, isAsked] of [
    [{}, false],
    [{ form: {} }, false],
    [{ url: {} }, true],
  ] as const) {
    const client = await gateway.connect({ capabilities: { elicitation } });
    let askedCount = 0;
    client.setRequestHandler(ElicitRequestSchema, async () => {
      askedCount += 1;
      return { action: "accept" };
    });
    const call = client.callTool({ name: "echo__ask_elicitation", arguments: { url: "https://a.test/" } });
    // The client of the SDK refuses it, too: the error has to be that of the gateway.
    if (isAsked) await call;
    else await assert.rejects(call, /does not support elicitation\.url/);
    assert.equal(askedCount, isAsked ? 1 : 0, JSON.stringify(elicitation));
  }
});

test("null passes for an optional argument of a server, and not for a required one", async () => {
  const received: unknown[] = [];
  await using server = await startScriptedServer({
    tools: () => [
      toolNamed("note", {
        inputSchema: {
          type: "object",
          properties: { text: { type: "string" }, tag: { type: "string" } },
          required: ["text"],
        },
      }),
    ],
    call(_request, _name, args) {
      received.push(args);
      return { content: [{ type: "text", text: "done" }] };
    },
  });
  await using gateway = await startTestGateway({
    tool_servers: [onHttp("s", server.url, { validation: "strict" })],
  });
  const client = await gateway.connect();
  const call = async (args: Record<string, unknown>) =>
    textOf(await client.callTool({ name: "s__note", arguments: args }));
  assert.equal(await call({ text: "a", tag: null }), "done");
  assert.match(await call({ text: null }), /Invalid arguments/);
  assert.deepEqual(received, [{ text: "a", tag: null }]);
});
