/** Answers about tools that exist and are not offered: in `tools/call`, the meta-tools and composites. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort, slowTest, waitUntil } from "@toolcrib/testing";
import {
  onHttp,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  textOf,
  toolNamed,
} from "./gateway-harness.ts";
import { canary, entry, startTestApi, startToolspecGateway } from "./toolspec-harness.ts";

const secrets = { "acme-token": canary };

/** Returns what a client reads that calls `name`: by its name, through the meta-tools, and in a program. */
async function answersAbout(gateway: TestGateway, name: string, as?: string): Promise<readonly string[]> {
  const client = await gateway.connect(as === undefined ? {} : { as });
  // Programs answer with JSON.
  const call = async (tool: string, given: object) =>
    (await client.callTool({ name: tool, arguments: { ...given } }).then(textOf, String)).replaceAll(
      '\\"',
      '"',
    );
  return [
    await call(name, {}),
    await call("call_tool", { name }),
    await call("describe_tool", { name }),
    await call("eval_starlark", { code: `return ${name.replace("__", ".")}()` }),
    await call("eval_starlark", { code: `return tools["${name}"]()` }),
    await call("eval_starlark", { code: `n = "${name}"\nreturn tools[n]()` }),
  ];
}

test(
  "a toolspec's tool that is not enabled is answered with how to enable it, which works",
  slowTest,
  async () => {
    await using api = await startTestApi();
    await using gateway = await startToolspecGateway(api, [entry("acme")], { secrets });
    const expected = [
      'it is not enabled; to enable it, write tools: [default, add_repo] in the entry "acme" of toolspecs',
    ];
    for (const answer of await answersAbout(gateway, "acme__add_repo"))
      assert.ok(answer.includes(expected[0] as string), answer);
    const client = await gateway.connect({ server: "acme" });
    await assert.rejects(client.callTool({ name: "add_repo" }), /it is not enabled/);

    const more = { tools: ["default", "add_repo"] };
    await using other = await startToolspecGateway(api, [entry("acme", "acme-token", more)], { secrets });
    const listed = (await (await other.connect({ server: "acme" })).listTools()).tools.map(
      ({ name }) => name,
    );
    assert.deepEqual(listed, ["list_repos", "get_repo", "add_repo"]);

    await using some = await startToolspecGateway(
      api,
      [entry("acme", "acme-token", { tools: ["get_repo"] })],
      {
        secrets,
      },
    );
    for (const answer of await answersAbout(some, "acme__add_repo"))
      assert.match(answer, /add add_repo to "tools" in the entry "acme"/);
  },
);

test("a tool that is not enabled does not exist for a client that may not use it", async () => {
  await using api = await startTestApi();
  await using gateway = await startToolspecGateway(api, [entry("acme")], {
    secrets,
    document: { policy: { deny: ["acme:add_repo"] } },
  });
  for (const answer of await answersAbout(gateway, "acme__add_repo"))
    assert.match(answer, /Unknown tool|has no tool add_repo|No tool is named/);
});

test("a quarantined tool is explained", async () => {
  await using server = await startScriptedServer({
    tools: () => [toolNamed("good"), { ...toolNamed("bad"), inputSchema: {} }],
  });
  await using gateway = await startTestGateway({ tool_servers: [onHttp("s", server.url)] });
  for (const answer of await answersAbout(gateway, "s__bad"))
    assert.match(answer, /it is quarantined: "s:bad" is malformed: inputSchema\.type is missing/);
});

test("the server of a tool is named if it is not available, unless the client may not use it", async () => {
  const url = `http://127.0.0.1:${await freePort()}/mcp`;
  const tool_servers = [onHttp("github", url), onHttp("my-server", url)];
  await using gateway = await startTestGateway(
    { tool_servers, policy: { deny: ["my-server:*"] } },
    { isAwaited: false },
  );
  await waitUntil(() =>
    gateway.gateway.status().servers.every(({ health }) => health.state === "unavailable"),
  );
  for (const answer of await answersAbout(gateway, "github__search"))
    assert.match(
      answer,
      /the server "github" is not available; its operator sees the reason with toolcrib status/,
    );
  const client = await gateway.connect();
  const evaluate = async (code: string) =>
    textOf(await client.callTool({ name: "eval_starlark", arguments: { code } }));
  assert.match(
    await evaluate("return github.search()"),
    /undefined: github \(the server \\?"github\\?" is not/,
  );
  assert.match(await evaluate("return my_server.search()"), /undefined: my_server/);
  assert.doesNotMatch(await evaluate("return my_server.search()"), /not available/);
  for (const answer of await answersAbout(gateway, "my-server__search"))
    assert.doesNotMatch(answer, /not available/);
});
