import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { openSecretStore } from "@toolcrib/secrets";
import { sampleManifest, sampleToolspec, waitUntil } from "@toolcrib/testing";
import {
  callsIn,
  dataOf,
  echoStdio,
  setSecret,
  somebody,
  type TestGateway,
  textOf,
  untilListed,
} from "./gateway-harness.ts";
import { canary, entry, startTestApi, startToolspecGateway } from "./toolspec-harness.ts";

const secrets = { "acme-token": canary, "beta-token": `${canary}-of-beta` };

/** Tools of `acme` that are enabled by default, with their wire names. */
const acmeTools = ["acme__list_repos", "acme__get_repo"];

async function namesOf(gateway: TestGateway, server?: string): Promise<string[]> {
  const client = await gateway.connect(server === undefined ? {} : { server });
  return (await client.listTools()).tools.map(({ name }) => name);
}

test("a toolspec is listed and called like any tool, with its secret, which appears nowhere", async () => {
  await using api = await startTestApi();
  await using gateway = await startToolspecGateway(api, [entry("acme")], { secrets });
  const client = await gateway.connect();
  const { tools } = await client.listTools();
  const listed = tools.filter(({ name }) => name.startsWith("acme__"));
  assert.deepEqual(
    listed.map(({ name, annotations }) => [name, annotations?.readOnlyHint]),
    acmeTools.map((name) => [name, true]),
  );
  const result = await client.callTool({
    name: "acme__list_repos",
    arguments: { owner: "a/b", limit: "3" },
  });
  const target = "/owners/a%2Fb/repos?limit=3";
  assert.deepEqual(result.structuredContent, { method: "GET", target });
  const [request] = api.server.requests;
  assert.deepEqual([request?.target, request?.servername], [target, "api.acme.example"]);
  assert.deepEqual(api.headersNamed("authorization"), [`Bearer ${canary}`]);

  const refused = await client.callTool({ name: "acme__list_repos", arguments: { owner: ".." } });
  assert.equal(refused.isError, true);
  assert.equal(api.server.requests.length, 1, "nothing was sent");

  await gateway.stop();
  const audit = gateway.audit();
  assert.deepEqual(callsIn(audit), [
    "acme:list_repos intent, completed ok",
    "acme:list_repos intent, completed tool_error",
  ]);
  const [intent] = dataOf(audit, "call.intent");
  assert.deepEqual([intent?.origin, intent?.server, intent?.containment], ["toolspec", "acme", "egress"]);
  assert.deepEqual(dataOf(audit, "secret.used"), [
    {
      server: "acme",
      callId: intent?.callId,
      host: "api.acme.example",
      credential: "token",
      secret: "acme-token",
    },
  ]);
  const [started] = dataOf(audit, "server.started");
  assert.deepEqual([started?.server, started?.transport, started?.toolCount], ["acme", "toolspec", 2]);
  const everything = JSON.stringify([audit, gateway.logger.records, result, refused]);
  assert.doesNotMatch(everything, /c4nary/);
});

test("a toolspec has its own endpoint, is found by search, described, and listed in the status", async () => {
  await using api = await startTestApi();
  const toolspecs = [
    entry("acme", "acme-token", { labels: { team: "core" } }),
    entry("beta", { env: "BETA" }, { id: "work", tools: ["add_repo"] }),
  ];
  await using gateway = await startToolspecGateway(api, toolspecs, {
    secrets,
    environment: { BETA: `${canary}-in-a-variable` },
    document: { tool_servers: [echoStdio("echo", "--tools=echo")] },
  });
  assert.deepEqual(await namesOf(gateway, "work"), ["add_repo"]);
  const client = await gateway.connect({ server: "work" });
  const result = await client.callTool({ name: "add_repo", arguments: { name: "x" } });
  assert.deepEqual(result.structuredContent, { method: "POST", target: "/repos" });
  assert.equal(api.server.requests[0]?.body.toString(), '{"name":"x"}');
  assert.deepEqual(api.headersNamed("authorization"), [`Bearer ${canary}-in-a-variable`]);

  const [hit] = await gateway.gateway.search(somebody, "list repositories of an owner", 1);
  assert.equal(hit?.id, "acme:list_repos");
  const described = gateway.gateway.describe(somebody, "acme__list_repos");
  assert.deepEqual([described?.origin, described?.tags], ["toolspec", ["dev-tools"]]);
  assert.deepEqual(
    gateway.gateway.status().toolspecs.map(({ health, ...rest }) => ({ ...rest, state: health.state })),
    [
      {
        id: "acme",
        name: "acme",
        version: "0.1.0",
        title: "The acme service",
        transport: "toolspec",
        state: "ready",
        tools: 2,
        hosts: ["api.acme.example", "*.acme.example"],
        credentials: [{ id: "token", secret: "acme-token" }],
        labels: { team: "core" },
      },
      {
        id: "work",
        name: "beta",
        version: "0.1.0",
        title: "The beta service",
        transport: "toolspec",
        state: "ready",
        tools: 1,
        hosts: ["api.beta.example", "*.beta.example"],
        credentials: [{ id: "token", secret: "env:BETA" }],
        labels: {},
      },
    ],
  );
  const ready = await fetch(new URL("/readyz", await gateway.endpoint()));
  assert.deepEqual(await ready.json(), { status: "ready" });
});

test("policy and hidden tools apply to toolspecs", async () => {
  await using api = await startTestApi();
  await using gateway = await startToolspecGateway(api, [entry("acme", "acme-token", { tools: "all" })], {
    secrets,
    document: { policy: { deny: ["acme:add_*"] }, serve: { tools: { hidden: ["acme:get_repo"] } } },
  });
  const names = (await namesOf(gateway)).filter((name) => name.startsWith("acme__"));
  assert.deepEqual(names, ["acme__list_repos"]);
  const outcome = await gateway.gateway.call(somebody, "acme:add_repo", { name: "x" });
  assert.equal(outcome.kind, "denied");
  assert.equal(api.server.requests.length, 0);
});

test("composites call toolspecs, and each call is recorded under the composite's call", async () => {
  await using api = await startTestApi();
  await using gateway = await startToolspecGateway(api, [entry("acme")], { secrets });
  const code = 'return [acme.get_repo(id=one)["target"] for one in ["a", "b"]]';
  const result = await gateway.gateway.call(somebody, "eval_starlark", { code });
  assert.equal(result.kind, "result", JSON.stringify(result));
  assert.match(JSON.stringify(result), /\/repos\/a.*\/repos\/b/);
  await gateway.stop();
  const intents = dataOf(gateway.audit(), "call.intent");
  const [outer, ...inner] = intents;
  assert.deepEqual(
    inner.map(({ tool, parentId, depth }) => [tool, parentId === outer?.callId, depth]),
    [
      ["acme:get_repo", true, 1],
      ["acme:get_repo", true, 1],
    ],
  );
  assert.deepEqual(
    dataOf(gateway.audit(), "secret.used").map(({ callId }) => callId),
    inner.map(({ callId }) => callId),
  );
});

test("a missing secret makes only its toolspec unavailable, until it is set", async () => {
  await using api = await startTestApi();
  const toolspecs = [entry("acme", "acme-token"), entry("beta", "beta-token")];
  await using gateway = await startToolspecGateway(api, toolspecs, {
    secrets: { "beta-token": `${canary}-of-beta` },
  });
  const client = await gateway.connect();
  let changes = 0;
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes += 1;
  });
  const names = async () => (await client.listTools()).tools.map(({ name }) => name.split("__")[0]);
  assert.deepEqual(
    [...new Set(await names())].filter((name) => /acme|beta/.test(name ?? "")),
    ["beta"],
  );
  const [acme, beta] = gateway.gateway.status().toolspecs;
  assert.deepEqual([acme?.health.state, acme?.tools, beta?.health.state], ["unavailable", 0, "ready"]);
  assert.match(acme?.health.reason ?? "", /secret "acme-token".*toolcrib secret set acme-token/);
  await assert.rejects(
    client.callTool({ name: "acme__get_repo", arguments: { id: "x" } }),
    /"acme__get_repo" cannot be called: the toolspec "acme" is not available/,
  );

  await setSecret(gateway.home, "acme-token", canary);
  await untilListed(gateway.gateway, "acme__get_repo");
  const result = await client.callTool({ name: "acme__get_repo", arguments: { id: "x" } });
  assert.equal(result.isError, undefined);
  assert.deepEqual(api.headersNamed("authorization"), [`Bearer ${canary}`]);
  await waitUntil(() => changes > 0, { what: "the client is notified that tools changed" });
});

test("the next request uses a changed secret, without a restart", async () => {
  await using api = await startTestApi();
  await using gateway = await startToolspecGateway(api, [entry("acme")], { secrets });
  const call = () => gateway.gateway.call(somebody, "acme:get_repo", { id: "x" });
  await call();
  await setSecret(gateway.home, "acme-token", `${canary}-rotated`);
  await waitUntil(
    async () => {
      await call();
      return api.headersNamed("authorization").at(-1) === `Bearer ${canary}-rotated`;
    },
    { what: "the new secret is used" },
  );
  assert.equal(api.headersNamed("authorization")[0], `Bearer ${canary}`);
});

test("a secret that is removed fails the calls that need it before anything is sent", async () => {
  await using api = await startTestApi();
  await using gateway = await startToolspecGateway(api, [entry("acme")], { secrets });
  await using store = await openSecretStore({ home: gateway.home, env: {} }, { now: Date.now, randomBytes });
  await store.delete("acme-token");
  await waitUntil(() => gateway.gateway.status().toolspecs[0]?.health.state === "unavailable", {
    what: "the toolspec is not available",
  });
  const outcome = await gateway.gateway.call(somebody, "acme:get_repo", { id: "x" });
  assert.ok(outcome.kind === "failed" && "code" in outcome.error, JSON.stringify(outcome));
  assert.equal(outcome.error.code, "EGRESS_SECRET_UNAVAILABLE");
  assert.equal(api.server.requests.length, 0);
  await setSecret(gateway.home, "acme-token", canary);
  await waitUntil(() => gateway.gateway.status().toolspecs[0]?.health.state === "ready", {
    what: "the toolspec is ready again",
  });
  await gateway.stop();
  const stopped = dataOf(gateway.audit(), "server.stopped").map(({ server, reason }) => [server, reason]);
  assert.deepEqual(stopped[0], [
    "acme",
    'Cannot find secret "acme-token": run toolcrib secret set acme-token',
  ]);
});

test("a secret in a file is read again after the file is replaced", async () => {
  await using api = await startTestApi();
  await using gateway = await startToolspecGateway(api, [entry("acme", { file: "token.txt" })], {
    files: { "token.txt": `${canary}\n` },
  });
  const folder = join(gateway.home, "..");
  assert.equal(gateway.gateway.status().toolspecs[0]?.health.state, "unavailable", "others can read it");
  chmodSync(join(folder, "token.txt"), 0o600);
  await untilListed(gateway.gateway, "acme__get_repo");
  writeFileSync(join(folder, "token.txt"), `${canary}-replaced\n`);
  await waitUntil(
    async () => {
      await gateway.gateway.call(somebody, "acme:get_repo", { id: "x" });
      return api.headersNamed("authorization").at(-1) === `Bearer ${canary}-replaced`;
    },
    { what: "the new secret is used" },
  );
});

test("unreachable and forbidden hosts are failures with a code, and are recorded", async () => {
  await using api = await startTestApi();
  const { internal_ranges: _ranges, ...egress } = api.egress as { internal_ranges: string[] };
  await using gateway = await startToolspecGateway({ egress }, [entry("acme")], { secrets });
  const outcome = await gateway.gateway.call(somebody, "acme:get_repo", { id: "x" });
  assert.equal(outcome.kind, "failed");
  assert.equal(
    outcome.kind === "failed" && "code" in outcome.error && outcome.error.code,
    "EGRESS_ADDRESS_DENIED",
  );
  assert.equal(api.server.connectionCount, 0);
  await gateway.stop();
  const audit = gateway.audit();
  assert.deepEqual(callsIn(audit), ["acme:get_repo intent, completed failed EGRESS_ADDRESS_DENIED"]);
  const [denied] = dataOf(audit, "egress.denied");
  assert.deepEqual(
    [denied?.server, denied?.code, denied?.host],
    ["acme", "EGRESS_ADDRESS_DENIED", "api.acme.example"],
  );
  assert.equal(denied?.callId, outcome.callId);
});

test("an API that echoes its secret is reported, and a placeholder that is sent elsewhere raises an alarm", async () => {
  await using api = await startTestApi(({ headers, target }, response) => {
    const authorization = headers.find(([name]) => name.toLowerCase() === "authorization")?.[1];
    response.writeHead(200, { "content-type": "application/json", "x-echo": authorization });
    response.end(JSON.stringify({ authorization, target }));
  });
  await using gateway = await startToolspecGateway(api, [entry("acme"), entry("beta")], { secrets });
  const client = await gateway.connect();
  const result = await client.callTool({ name: "acme__get_repo", arguments: { id: "x" } });
  assert.doesNotMatch(JSON.stringify(result), /c4nary/);
  const placeholder = /toolcrib-ph-[0-9a-f]{32}/.exec(JSON.stringify(result))?.[0];
  assert.ok(placeholder !== undefined, JSON.stringify(result));
  // Sending the placeholder elsewhere, as if it were the secret, raises an alarm.
  const outcome = await gateway.gateway.call(somebody, "beta:get_repo", { id: placeholder });
  assert.equal(outcome.kind, "failed");
  await gateway.stop();
  const audit = gateway.audit();
  assert.deepEqual(
    dataOf(audit, "secret.echoed")
      .map(({ server, where }) => [server, where])
      .sort(),
    [
      ["acme", "body"],
      ["acme", "header:x-echo"],
    ],
  );
  const [alarm] = dataOf(audit, "egress.alarm");
  assert.deepEqual(
    [alarm?.server, alarm?.owner, alarm?.where, alarm?.callId],
    ["beta", "acme", "url", outcome.callId],
  );
  const warnings = gateway.logger.records.filter(({ message }) =>
    message.startsWith("a response contained the secret"),
  );
  assert.deepEqual(
    warnings.map(({ fields }) => "secretName" in fields && fields.secretName),
    ["acme-token", "acme-token"],
  );
  assert.doesNotMatch(JSON.stringify([audit, gateway.logger.records]), /c4nary/);
});

test("user:password of a basic credential is encoded, and neither part leaks", async () => {
  await using api = await startTestApi(({ headers }, response) => {
    const authorization = headers.find(([name]) => name.toLowerCase() === "authorization")?.[1] ?? "";
    const decoded = Buffer.from(authorization.replace("Basic ", ""), "base64").toString();
    response.writeHead(200, { "content-type": "text/plain" });
    response.end(`${authorization} ${decoded} ${decoded.split(":")[1]}`);
  });
  const credentials =
    '  - id: login\n    type: basic\n    inject: { header: Authorization, format: "Basic {token}" }\n';
  await using gateway = await startToolspecGateway(
    api,
    [{ path: "own", credentials: { login: { secret_key_ref: "login" } } }],
    {
      files: {
        "own/manifest.yaml": sampleManifest("acme", { credentials }),
        "own/toolspec.yaml": sampleToolspec("acme"),
      },
      secrets: { login: `ada:${canary}` },
    },
  );
  const outcome = await gateway.gateway.call(somebody, "acme:get_repo", { id: "x" });
  assert.deepEqual(api.headersNamed("authorization"), [
    `Basic ${Buffer.from(`ada:${canary}`).toString("base64")}`,
  ]);
  assert.equal(outcome.kind, "result");
  const text = outcome.kind === "result" ? textOf(outcome.result) : "";
  assert.doesNotMatch(text, /c4nary/);
  assert.ok(!text.includes(Buffer.from(`ada:${canary}`).toString("base64")), text);
});
