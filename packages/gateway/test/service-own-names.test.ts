/** Errors on the endpoint of one server name tools as that endpoint lists them. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { onHttp, startScriptedServer, startTestGateway, textOf, toolNamed } from "./gateway-harness.ts";

const required = { type: "object", properties: { id: { type: "string" } }, required: ["id"] } as const;

test("errors on the endpoint of a server have no prefix, and those on the endpoint of all have it", async () => {
  await using server = await startScriptedServer({
    tools: () => [
      toolNamed("strict", { inputSchema: required }),
      toolNamed("hang"),
      toolNamed("shape", { outputSchema: required }),
      { ...toolNamed("malformed"), inputSchema: {} },
    ],
    call(_request, name) {
      if (name === "hang") return new Promise(() => {});
      return { content: [], structuredContent: { id: 1 } };
    },
  });
  const limited = { ...onHttp("s", server.url), containment: { max_execution_seconds: 1 } };
  await using gateway = await startTestGateway({ tool_servers: [limited] });
  const answersOn = async (client: Awaited<ReturnType<typeof gateway.connect>>, prefix: string) => {
    const names = ["strict", "hang", "shape", "malformed", "strictt"];
    return Promise.all(
      names.map((name) => client.callTool({ name: `${prefix}${name}` }).then(textOf, String)),
    );
  };
  const expected = (prefix: string) => [
    new RegExp(`Invalid arguments for "${prefix}strict"`),
    new RegExp(`"${prefix}hang" did not answer within 1 s`),
    new RegExp(`The result of "${prefix}shape" does not match`),
    new RegExp(`The tool "${prefix}malformed" cannot be called: it is quarantined`),
    new RegExp(`Unknown tool: "${prefix}strictt" \\(did you mean "${prefix}strict"\\?\\)`),
  ];
  const own = await answersOn(await gateway.connect({ server: "s" }), "");
  for (const [at, pattern] of expected("").entries()) {
    assert.match(own[at] ?? "", pattern);
    assert.doesNotMatch(own[at] ?? "", /s__/);
  }
  const prefixed = await answersOn(await gateway.connect(), "s__");
  for (const [at, pattern] of expected("s__").entries()) assert.match(prefixed[at] ?? "", pattern);
});
