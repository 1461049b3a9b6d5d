/** Tools, resources and prompts as policies see them: the facts that the operator declared, and what the gateway believes. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { PolicyTarget } from "@toolcrib/policy";
import { onHttp, somebody, startScriptedServer, startTestGateway, toolNamed } from "./gateway-harness.ts";

/** A target in one line. Of what it does, the letters that are true: reads only, destroys, idempotent, open world. */
function lineOf(target: PolicyTarget): string {
  const { kind, id, name, wireName, server, origin, version, tags } = target;
  const does = [
    target.isReadOnly ? "r" : "",
    target.isDestructive ? "d" : "",
    target.isIdempotent ? "i" : "",
    target.isOpenWorld ? "o" : "",
  ].join("");
  const { transport, trustState, mutabilityClass, labels } = server;
  const facts = `${server.id} ${transport} ${trustState} ${mutabilityClass} ${JSON.stringify(labels)}`;
  return `${kind} ${id} ${name} ${wireName} | ${facts} | ${origin} "${version}" ${tags.join(",")} | ${does}`;
}

test("policies see the declared facts of a source, and believe annotations as far as it is trusted", async () => {
  const annotations = { readOnlyHint: true, openWorldHint: false };
  await using scripted = await startScriptedServer({
    tools: () => [toolNamed("view", { annotations }), toolNamed("change")],
    resources: () => [{ uri: "memo://a", name: "a" }],
    templates: () => [{ uriTemplate: "memo://{id}", name: "memo" }],
    prompts: () => [{ name: "plan" }],
  });
  await using unverified = await startScriptedServer({ tools: () => [toolNamed("view", { annotations })] });
  await using setting = await startTestGateway({
    tool_servers: [
      onHttp("a", scripted.url, { trust_state: "certified", labels: { team: "web" } }),
      onHttp("u", unverified.url, { trust_state: "unverified", first_contact: "pin" }),
    ],
    execution: { enabled: true },
  });
  const { gateway } = setting;
  const saved = await gateway.call(somebody, "toolcrib:save_tool", {
    name: "mine",
    description: "Looks",
    code: "return a.view()",
    inputSchema: { type: "object" },
  });
  assert.ok(saved.kind === "result" && saved.result.isError !== true, JSON.stringify(saved));
  const { targets, digest } = gateway.policySituation();
  assert.equal(digest, undefined, "without policy files there is no digest");
  const shown = targets.filter(({ id }) => /^(?:[au]|saved):|^toolcrib:search/.test(id));
  const a = 'a streamable_http certified unknown {"team":"web"}';
  assert.deepEqual(shown.map(lineOf), [
    'tool toolcrib:search_tools search_tools search_tools | toolcrib none none unknown {} | meta "" meta | ri',
    `tool a:view view a__view | ${a} | server ""  | ri`,
    `tool a:change change a__change | ${a} | server ""  | do`,
    'tool u:view view u__view | u streamable_http unverified unknown {} | server ""  | do',
    'tool saved:mine mine mine | saved none none unknown {} | saved "" saved | ri',
    `resource a:resources/memo://a memo://a a__resources/memo://a | ${a} | server ""  | rio`,
    `resource a:resources/memo://{id} memo://{id} a__resources/memo://{id} | ${a} | server ""  | rio`,
    `prompt a:prompts/plan plan a__prompts/plan | ${a} | server ""  | rio`,
  ]);
});

test("long names of one server do not hide those of another", async () => {
  const nearly = "a".repeat(900);
  const honest = `memo://${"a".repeat(310)}`;
  await using long = await startScriptedServer({
    tools: () => [toolNamed("view")],
    resources: () => Array.from({ length: 200 }, (_, n) => ({ uri: `memo://${nearly}${n}`, name: `n${n}` })),
  });
  await using plain = await startScriptedServer({
    tools: () => [toolNamed("view")],
    resources: () => [{ uri: honest, name: "a" }],
  });
  await using setting = await startTestGateway(
    {
      tool_servers: [
        onHttp("long", long.url, {
          transport: {
            kind: "streamable_http",
            url: long.url,
            headers: { "X-Key": { secret_key_ref: "key" } },
          },
        }),
        onHttp("plain", plain.url),
      ],
    },
    { secrets: { key: `${"a".repeat(300)}Q` } },
  );
  const { targets } = setting.gateway.policySituation();
  const ofPlain = targets.filter(({ server }) => server.id === "plain");
  assert.deepEqual(
    ofPlain.map(({ name, wireName }) => [name, wireName]),
    [
      ["view", "plain__view"],
      [honest, `plain__resources/${honest}`],
    ],
  );
});
