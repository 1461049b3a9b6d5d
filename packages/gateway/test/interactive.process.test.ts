/** Servers with `interactive: false`: clients that can be asked share one process, and no question reaches them. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { echoStdio, startTestGateway, textOf } from "./gateway-harness.ts";

test("clients that can be asked share the process of a server that is not interactive", async () => {
  await using directory = await makeTemporaryDirectory();
  const log = directory.join("starts.log");
  const server = { ...echoStdio("quiet", "--start-log", log), interactive: false };
  await using test = await startTestGateway({ tool_servers: [server] });
  const capabilities = { elicitation: {}, roots: { listChanged: true }, sampling: {} };
  const clients = await Promise.all([1, 2, 3].map(() => test.connect({ capabilities })));
  let askedCount = 0;
  for (const client of clients) {
    client.setRequestHandler(ElicitRequestSchema, async () => {
      askedCount += 1;
      return { action: "accept", content: { name: "Ada" } };
    });
  }
  const call = async (at: number, name: string, args = {}) =>
    clients[at]?.callTool({ name: `quiet__${name}`, arguments: args });
  const answers = await Promise.all([0, 1, 2].map((at) => call(at, "echo", { text: `client ${at}` })));
  assert.deepEqual(answers.map(textOf), ["client 0", "client 1", "client 2"]);
  await assert.rejects(call(0, "ask_elicitation"), /was refused: .*interactive: false/);
  assert.equal(askedCount, 0);
  assert.equal(readFileSync(log, "utf8").trim().split("\n").length, 1);
  const initialized = JSON.parse(textOf(await call(0, "received", { method: "initialize" })));
  assert.deepEqual(initialized[0].params.capabilities, {});
});
