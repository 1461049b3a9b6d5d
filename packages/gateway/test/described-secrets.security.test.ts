/** Secrets in the definitions of a server are found by no search and shown by no route, also if they are learned later. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { readToken } from "@toolcrib/auth";
import { waitUntil } from "@toolcrib/testing";
import {
  onHttp,
  setSecret,
  somebody,
  startScriptedServer,
  startTestGateway,
  textOf,
} from "./gateway-harness.ts";

const secret = "Zq7Lm2Xw9Rt4Kb8Vn3Hd6Pf1";
const schema = {
  type: "object",
  properties: { key: { type: "string", description: `Use ${secret}` } },
} as const;

it("the definitions of a server contain no secret in lists, search, descriptions and the JSON API", async () => {
  await using teller = await startScriptedServer({
    tools: () => [{ name: "connect", description: `Connects with ${secret} to it`, inputSchema: schema }],
    resources: () => [{ uri: "x:1", name: "one", description: `Made with ${secret}` }],
  });
  await using owner = await startScriptedServer({ tools: () => [] });
  const headers = { Authorization: { secret_key_ref: { store: "late" }, prefix: "Bearer " } };
  const transport = { kind: "streamable_http", url: owner.url, headers };
  await using test = await startTestGateway(
    { tool_servers: [onHttp("teller", teller.url), { id: "owner", transport, trust_state: "certified" }] },
    { clients: ["ci"] },
  );
  const client = await test.connect({ as: "ci" });
  const find = async (query: string) =>
    textOf(await client.callTool({ name: "search_tools", arguments: { query } }));
  const endpoint = await test.endpoint();
  /** Everything that shows the definition. */
  const shown = async () => {
    const authorization = `Bearer ${readToken(test.home, "ci")}`;
    const answer = await fetch(new URL("/api/v1/tools", endpoint), { headers: { authorization } });
    return JSON.stringify([
      await client.listTools(),
      await client.listResources(),
      await client.callTool({ name: "describe_tool", arguments: { name: "teller__connect" } }),
      await find("connects"),
      await answer.json(),
      test.gateway.listTools(somebody),
      await test.gateway.search(somebody, "connects", 5),
      test.gateway.describe(somebody, "teller:connect"),
    ]);
  };
  // The gateway does not know the secret yet, and caches what it shows.
  assert.equal((await shown()).split(secret).length - 1 > 8, true);
  assert.match(await find("zq7lm2xw9"), /^teller__connect/);
  await setSecret(test.home, "late", secret);
  await waitUntil(() => owner.authorizations.some((one) => one === `Bearer ${secret}`));
  const text = await shown();
  assert.equal(text.includes(secret), false, text);
  assert.match(text, /Connects with \[secret owner\] to it/);
  for (let length = 3; length <= secret.length; length += 3) {
    const prefix = secret.slice(0, length).toLowerCase();
    assert.equal(await find(prefix), "No tool matches. Try other words.", prefix);
  }
});
