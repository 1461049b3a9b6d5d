/** Hooks, toolspecs, policy files and subscriptions under another configuration of a running gateway. */

import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { waitUntil } from "@toolcrib/testing";
import {
  configOf,
  onHttp,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  toolNamed,
} from "./gateway-harness.ts";
import { answering, outcomeOf, shell } from "./hooks-harness.ts";

const serve = { listen: "127.0.0.1:0", auth: "none" };

async function apply(test: TestGateway, document: JsonObject): Promise<readonly string[]> {
  const { applied, error } = await test.gateway.applyConfig(configOf(document), ["toolcrib.json"]);
  assert.equal(error, undefined);
  return applied;
}

test("hooks of another configuration are asked by the calls that begin under it", async () => {
  let calls = 0;
  await using server = await startScriptedServer({
    tools: () => [toolNamed("say")],
    call() {
      calls += 1;
      return { content: [{ type: "text", text: "done" }] };
    },
  });
  const document = { tool_servers: [onHttp("s", server.url, { trust_state: "certified" })], serve };
  await using gateway = await startTestGateway(document);
  const deny = shell("no", answering({ decision: "deny", message: "not now" }));
  assert.deepEqual(await apply(gateway, { ...document, hooks: { before_call: [deny] } }), ["hooks"]);
  assert.match(await outcomeOf(gateway, "s:say"), /not now/);
  assert.equal(calls, 0);
  assert.equal(gateway.gateway.status().hooks?.length, 1);
  assert.deepEqual(await apply(gateway, document), ["hooks"]);
  assert.equal(await outcomeOf(gateway, "s:say"), "done");
  assert.equal(gateway.gateway.status().hooks, undefined);
});

test("a session keeps its subscriptions when the server of the resource is replaced", async () => {
  const start = () =>
    startScriptedServer({
      tools: () => [toolNamed("say")],
      resources: () => [{ uri: "note://1", name: "note" }],
      other: ({ method }) =>
        method === "resources/subscribe" || method === "resources/unsubscribe" ? {} : undefined,
    });
  await using first = await start();
  await using second = await start();
  const declared = (url: string) => [onHttp("s", url, { trust_state: "certified" })];
  await using gateway = await startTestGateway({ tool_servers: declared(first.url) });
  const client = await gateway.connect();
  const updates: string[] = [];
  client.fallbackNotificationHandler = async ({ method }) => {
    updates.push(method);
  };
  await client.subscribeResource({ uri: "note://1" });
  await apply(gateway, { tool_servers: declared(second.url), serve });
  const isUpdate = (method: string) => method === "notifications/resources/updated";
  // It is notified to read the resource again, and of each update of the new server.
  await waitUntil(() => updates.some(isUpdate));
  const count = updates.filter(isUpdate).length;
  await waitUntil(() => {
    second.notify("notifications/resources/updated", { uri: "note://1" });
    return updates.filter(isUpdate).length > count;
  });
});
