/** Hooks, toolspecs, packages, labels of data and subscriptions under another configuration of a running gateway. */

import assert from "node:assert/strict";
import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import { makeTemporaryDirectory, sampleCatalog, waitUntil, writeFiles } from "@toolcrib/testing";
import {
  configIn,
  configOf,
  dataOf,
  onHttp,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  toolNamed,
} from "./gateway-harness.ts";
import { answering, outcomeOf, shell } from "./hooks-harness.ts";
import { echoManifest, echoTest, putPackages, startLoopbackServer } from "./package-harness.ts";
import { canary, entry, startTestApi, startToolspecGateway } from "./toolspec-harness.ts";

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

test("toolspecs come, stay and go with the configuration, the first one too", async () => {
  await using api = await startTestApi();
  await using directory = await makeTemporaryDirectory();
  const catalog = Object.entries(sampleCatalog("acme", "beta"));
  writeFiles(directory.path, Object.fromEntries(catalog.map(([path, text]) => [`catalog/${path}`, text])));
  const secrets = { "acme-token": canary, "beta-token": `${canary}-of-beta` };
  await using gateway = await startTestGateway({ egress: api.egress }, { secrets, files: {} });
  const load = async (...toolspecs: readonly JsonObject[]) => {
    const document = { toolspecs: [...toolspecs], egress: api.egress, serve };
    const config = await configIn(directory.path, document);
    const { applied, needsRestart, error } = await gateway.gateway.applyConfig(config, ["toolcrib.json"]);
    assert.deepEqual([needsRestart, error], [[], undefined]);
    return applied;
  };
  const call = (id: string) => outcomeOf(gateway, `${id}:list_repos`, { owner: "a" });
  assert.deepEqual(await load(entry("acme")), ["toolspecs.acme"]);
  await waitUntil(async () => (await call("acme")).includes("/owners/a/repos"));
  assert.deepEqual(await load(entry("acme"), entry("beta")), ["toolspecs.beta"]);
  await waitUntil(() => gateway.gateway.status().toolspecs.every(({ health }) => health.state === "ready"));
  assert.match(await call("acme"), /\/owners\/a\/repos/);
  // With a secret that does not exist, it is as after a start: not offered, with the reason.
  assert.deepEqual(await load(entry("acme", "missing"), entry("beta")), ["toolspecs.acme"]);
  await waitUntil(() => gateway.gateway.status().toolspecs[0]?.health.state === "unavailable");
  assert.match(await call("acme"), /^TOOL_/);
  assert.deepEqual(await load(), ["toolspecs.acme", "toolspecs.beta"]);
  assert.match(await call("beta"), /^TOOL_NOT_FOUND/);
  await gateway.stop();
  assert.equal(JSON.stringify([gateway.logger.records, gateway.audit()]).includes(canary), false);
});

test("calls of a toolspec that leaves end with their results, also those that have not reached it", async () => {
  const held: ServerResponse[] = [];
  await using api = await startTestApi((_request, response) => void held.push(response));
  const files = Object.fromEntries(
    Object.entries(sampleCatalog("acme")).map(([path, text]) => [`catalog/${path}`, text]),
  );
  const secrets = { "acme-token": canary };
  await using gateway = await startToolspecGateway(api, [entry("acme")], { secrets, files });
  const call = () => outcomeOf(gateway, "acme:list_repos", { owner: "a" });
  const first = call();
  await waitUntil(() => held.length === 1);
  // It is admitted, and its intent is not on record yet.
  const second = call();
  assert.deepEqual(await apply(gateway, { egress: api.egress, serve }), ["toolspecs.acme"]);
  assert.match(await call(), /^TOOL_NOT_FOUND/);
  await waitUntil(() => held.length === 2);
  for (const response of held) {
    response.writeHead(200, { "content-type": "application/json" });
    response.end('"answered"');
  }
  assert.match(await first, /answered/);
  assert.match(await second, /answered/);
});

test("labels of data that a changed configuration declares count from its first call on", async () => {
  const server = (text: string) =>
    startScriptedServer({
      tools: () => [toolNamed("say")],
      call: () => ({ content: [{ type: "text", text }] }),
    });
  await using personal = await server("a name");
  await using open = await server("sent");
  const declared = (id: string, url: string, more: JsonObject = {}) =>
    onHttp(id, url, { trust_state: "certified", ...more });
  const servers = (more: JsonObject) => [declared("crm", personal.url, more), declared("web", open.url)];
  await using gateway = await startTestGateway({ tool_servers: servers({}) });
  const restarts = () => gateway.gateway.status().servers.map(({ restarts: count }) => count);
  assert.equal(await outcomeOf(gateway, "crm:say"), "a name");
  await apply(gateway, { tool_servers: servers({ data_labels: ["personal"] }), serve });
  assert.equal(await outcomeOf(gateway, "crm:say"), "a name");
  await gateway.stop();
  const labels = dataOf(gateway.audit(), "call.completed").map(({ labels: ofResult }) => ofResult);
  assert.deepEqual(labels, [undefined, ["personal"]]);
  assert.deepEqual(restarts(), [0, 0]);
});

test("a server that gets the id of an installed package replaces it, as at a start, until it leaves", async () => {
  await using directory = await makeTemporaryDirectory();
  await using server = await startLoopbackServer();
  await using other = await startScriptedServer({ tools: () => [toolNamed("say")] });
  const home = join(directory.path, "home");
  putPackages(home, [{ manifest: echoManifest, files: { "tests/echo.test.json": echoTest } }]);
  const endpoint = { url: `${server.url}/mcp/echo` };
  const packages = { packages: { "demo.echo": { endpoint, trust_state: "verified" } }, serve };
  await using gateway = await startTestGateway(packages, { home });
  const offered = () => {
    const { servers, packages: ofHome } = gateway.gateway.status();
    return [servers.length, ofHome.length];
  };
  assert.deepEqual(offered(), [0, 1]);
  await apply(gateway, { ...packages, tool_servers: [onHttp("demo.echo", other.url)] });
  assert.deepEqual(offered(), [1, 0]);
  await apply(gateway, packages);
  await waitUntil(() => offered().join() === "0,1");
});

test("packages are switched off and on, and get other settings", async () => {
  await using directory = await makeTemporaryDirectory();
  await using server = await startLoopbackServer();
  const home = join(directory.path, "home");
  putPackages(home, [{ manifest: echoManifest, files: { "tests/echo.test.json": echoTest } }]);
  const settings = { endpoint: { url: `${server.url}/mcp/echo` }, trust_state: "verified" };
  const packages = (more: JsonObject) => ({ packages: { "demo.echo": { ...settings, ...more } }, serve });
  await using gateway = await startTestGateway(packages({}), { home });
  const call = () => outcomeOf(gateway, "demo.echo", { message: "hello" });
  assert.doesNotMatch(await call(), /^TOOL_/);
  assert.deepEqual(await apply(gateway, packages({ enabled: false })), ["packages.demo.echo"]);
  assert.match(await call(), /^TOOL_UNAVAILABLE: .* is disabled/);
  await apply(gateway, packages({ labels: { team: "x" } }));
  await waitUntil(async () => !/^TOOL_/.test(await call()));
  assert.deepEqual(gateway.gateway.status().packages[0]?.labels, { team: "x" });
});
