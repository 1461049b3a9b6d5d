/** Tool servers with `validation: upstream`, which convert arguments of other types themselves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { echoStdio, startTestGateway, textOf } from "./gateway-harness.ts";

test("arguments that a server can convert itself reach a verified server unchanged, and no other server", async () => {
  const servers = [
    { ...echoStdio("plain"), trust_state: "unverified", first_contact: "pin" },
    { ...echoStdio("verified"), trust_state: "verified" },
    { ...echoStdio("strict"), trust_state: "verified", validation: "strict" },
    { ...echoStdio("lenient"), trust_state: "unverified", first_contact: "pin", validation: "upstream" },
  ];
  await using setting = await startTestGateway({
    tool_servers: servers,
    policy: { waive_approval: ["lenient:*"] },
  });
  const client = await setting.connect();
  const callOf = async (server: string, args: { readonly [name: string]: unknown }) =>
    client.callTool({ name: `${server}__structured`, arguments: args });
  for (const server of ["plain", "strict"]) {
    assert.match(
      textOf(await callOf(server, { value: "21" })),
      /^Invalid arguments.*\/value must be number/s,
    );
  }
  for (const server of ["verified", "lenient"]) {
    // The tool doubles a number, and takes any other value for 0: it got the text.
    const { structuredContent } = await callOf(server, { value: "21" });
    assert.deepEqual(structuredContent, { value: 0, doubled: 0 });
    assert.match(textOf(await callOf(server, { value: "twenty" })), /\/value must be number/);
    assert.match(textOf(await callOf(server, {})), /must have required property/);
  }
});
