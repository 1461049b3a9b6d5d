/**
 * Failures while another configuration is put in force: what is in force afterwards is all of the one or all of the other.
 * A failure is injected at each place that reads the configuration, and in the log.
 */

import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { Pauses } from "@toolcrib/admission";
import { LivePolicies } from "@toolcrib/cedar";
import type { GatewayConfig } from "@toolcrib/config";
import { makeTemporaryDirectory, runsAll, waitUntil, writeFiles } from "@toolcrib/testing";
import {
  configIn,
  configOf,
  onHttp,
  type ScriptedServer,
  somebody,
  startScriptedServer,
  startTestGateway,
  type TestGateway,
  toolNamed,
} from "./gateway-harness.ts";

const serve = { listen: "127.0.0.1:0", auth: "none" };

/** Places at which a failure is injected, of about two thousand, where `npm run verify` takes all. */
const sampleCount = 40;

async function startServer(): Promise<ScriptedServer> {
  return await startScriptedServer({
    tools: () => [toolNamed("say"), toolNamed("hold")],
    call: () => ({ content: [{ type: "text", text: "said" }] }),
  });
}

/** Returns `config`, of which the read of a member with the number `failsAt` fails, and how many were read. */
function failing(config: GatewayConfig, failsAt: number) {
  const reads = { count: 0, isOver: false };
  const wrap = (value: unknown): unknown => {
    const isPlain = Array.isArray(value) || Object.getPrototypeOf(value ?? 0) === Object.prototype;
    if (!isPlain) return value;
    return new Proxy(value as object, {
      get(target, name, receiver) {
        reads.count += 1;
        if (reads.count === failsAt && !reads.isOver) throw new Error("injected failure");
        return wrap(Reflect.get(target, name, receiver));
      },
    });
  };
  return { config: wrap(config) as GatewayConfig, reads };
}

/** Returns the values in force of everything that differs between the two configurations. */
function inForce({ gateway }: TestGateway): object {
  const { servers, configuration, limits } = gateway.status();
  const tools = gateway.listTools(somebody).map(({ id }) => id);
  return {
    digest: configuration?.digest,
    servers: servers.map(({ id, labels, trustState }) => [id, labels, trustState]),
    tools: tools.filter((id) => id.startsWith("a:")),
    limits: limits.map(({ name }) => name),
  };
}

test("a failure at any place of a change leaves all of the one configuration in force, or all of the other", async () => {
  await using one = await startServer();
  await using two = await startServer();
  const declared = (id: string, server: ScriptedServer, more: object) =>
    onHttp(id, server.url, { trust_state: "certified", ...more });
  const before = configOf({
    tool_servers: [declared("a", one, { labels: { team: "x" } }), declared("b", two, {})],
    policy: { deny: ["a:hold"] },
    guards: { limits: [{ name: "few", rate: "1000/minute" }] },
    serve,
  });
  const after = configOf({
    tool_servers: [
      declared("c", two, {}),
      declared("a", one, { labels: { team: "y" }, validation: "upstream" }),
    ],
    policy: { deny: ["a:say"] },
    guards: { limits: [{ name: "more", rate: "1000/minute" }] },
    tools: { "a:hold": { description: "another text" } },
    serve,
  });
  await using run = await startTestGateway({ tool_servers: [], serve });
  const { gateway } = run;
  const apply = (config: GatewayConfig) => gateway.applyConfig(config, ["toolcrib.json"]);
  assert.equal((await apply(before)).error, undefined);
  await waitUntil(() => gateway.listTools(somebody).some(({ id }) => id === "a:say"));
  const { config, reads } = failing(after, -1);
  assert.equal((await apply(config)).error, undefined);
  const asAfter = inForce(run);
  const total = reads.count;
  assert.equal((await apply(before)).error, undefined);
  const asBefore = inForce(run);
  assert.notDeepEqual(asBefore, asAfter);
  const counts = { refused: 0, applied: 0 };
  const step = runsAll ? 1 : Math.max(1, Math.floor(total / sampleCount));
  for (let failsAt = 1; failsAt <= total; failsAt += step) {
    const changed = failing(after, failsAt);
    const { error } = await apply(changed.config);
    // What reads the configuration later is no part of the change.
    changed.reads.isOver = true;
    if (error === undefined) counts.applied += 1;
    else counts.refused += 1;
    assert.deepEqual(
      inForce(run),
      error === undefined ? asAfter : asBefore,
      `read ${failsAt} of ${total}: ${error}`,
    );
    const outcome = await gateway.call(somebody, error === undefined ? "a:hold" : "a:say", {});
    assert.equal(outcome.kind, "result", `read ${failsAt} of ${total}`);
    assert.equal((await apply(before)).error, undefined, "a failure ends nothing that follows");
  }
  assert.ok(counts.refused > 0, "failures before the change was in force");
});

test("a log that fails changes nothing about what is in force", async () => {
  await using server = await startServer();
  const isFailing = { now: false };
  const onLog = () => {
    if (isFailing.now) throw new Error("the log cannot be written");
  };
  const document = { tool_servers: [onHttp("a", server.url, { trust_state: "certified" })], serve };
  await using run = await startTestGateway(document, { onLog });
  const { gateway } = run;
  isFailing.now = true;
  const changed = configOf({ ...document, policy: { deny: ["a:say"] } });
  const { error, applied } = await gateway.applyConfig(changed, ["toolcrib.json"]);
  assert.deepEqual([error, applied], [undefined, ["policy.deny"]]);
  assert.match(gateway.refuseConfig("not valid").error ?? "", /not valid/);
  isFailing.now = false;
  assert.equal((await gateway.call(somebody, "a:say", {})).kind, "denied");
  assert.equal((await gateway.applyConfig(configOf(document), ["toolcrib.json"])).error, undefined);
  assert.equal((await gateway.call(somebody, "a:say", {})).kind, "result");
});

/** Lets the next change fail in its first step, after the policy of the change is in force. */
function failFirstStep(t: TestContext): void {
  const failing = t.mock.method(Pauses.prototype, "reconsider", () => {
    failing.mock.restore();
    throw new Error("injected failure of the first step");
  });
}

test("a change whose first step fails is taken back", async (t) => {
  await using server = await startServer();
  const document = {
    tool_servers: [onHttp("a", server.url, { trust_state: "certified" })],
    policy: { deny: ["a:hold"] },
    serve,
  };
  await using run = await startTestGateway(document);
  const { gateway } = run;
  const before = inForce(run);
  failFirstStep(t);
  const changed = configOf({ ...document, policy: { deny: ["a:say"] } });
  const { error, applied } = await gateway.applyConfig(changed, ["toolcrib.json"]);
  assert.deepEqual([error, applied], ["injected failure of the first step", []]);
  assert.equal(gateway.status().configuration?.lastError?.message, error);
  assert.deepEqual(inForce(run), before);
  assert.equal((await gateway.call(somebody, "a:hold", {})).kind, "denied");
  assert.equal((await gateway.call(somebody, "a:say", {})).kind, "result");
});

test("a change whose policy files cannot be taken over is taken back as a whole, and the old files are watched", async (t) => {
  await using server = await startServer();
  await using directory = await makeTemporaryDirectory();
  const permit = (tool: string) => `@id("one") permit(principal, action, resource == Tool::"a:${tool}");\n`;
  const files = { "old.cedar": permit("say"), "new.cedar": permit("hold") };
  writeFiles(directory.path, files);
  const document = (file: string, more: object = {}) => ({
    tool_servers: [onHttp("a", server.url, { trust_state: "certified" })],
    policy: { files: [file], ...more },
    serve,
  });
  await using run = await startTestGateway({ tool_servers: document("").tool_servers, serve });
  const { gateway } = run;
  const apply = async (file: string, more?: object) =>
    await gateway.applyConfig(await configIn(directory.path, document(file, more)), ["toolcrib.json"]);
  const kinds = async () => [
    (await gateway.call(somebody, "a:say", {})).kind,
    (await gateway.call(somebody, "a:hold", {})).kind,
  ];
  assert.equal((await apply("old.cedar")).error, undefined);
  assert.deepEqual(await kinds(), ["result", "denied"]);
  const before = gateway.status();
  const { prepare } = LivePolicies.prototype;
  const prepared = t.mock.method(
    LivePolicies.prototype,
    "prepare",
    async function (this: LivePolicies, ...args: Parameters<LivePolicies["prepare"]>) {
      const commit = () => {
        throw new Error("injected failure of the policy files");
      };
      const made = await prepare.apply(this, args);
      return { policies: made.policies, commit, [Symbol.dispose]: () => made[Symbol.dispose]() };
    },
  );
  const outcome = await apply("new.cedar", { deny: ["a:other"] });
  assert.deepEqual(
    [outcome.error, outcome.incomplete, outcome.applied],
    ["injected failure of the policy files", undefined, []],
  );
  prepared.mock.restore();
  assert.deepEqual(await kinds(), ["result", "denied"]);
  assert.equal(gateway.status().configuration?.digest, before.configuration?.digest);
  assert.deepEqual(gateway.status().policy, before.policy);
  // What decides is what is watched: a change of the old file applies, and of the new one nothing does.
  writeFiles(directory.path, { "new.cedar": "permit(principal, action, resource);\n" });
  const both = `permit(principal, action, resource == Tool::"a:hold");\n`;
  writeFiles(directory.path, { "old.cedar": both });
  await waitUntil(async () => (await kinds()).join() === "denied,result");
  assert.equal((await apply("new.cedar")).error, undefined);
  assert.deepEqual(await kinds(), ["result", "result"]);
});

test("a change that cannot be taken back is reported as one that is partly in force", async (t) => {
  await using server = await startServer();
  const document = {
    tool_servers: [onHttp("a", server.url, { trust_state: "certified" })],
    policy: { deny: ["a:hold"] },
    serve,
  };
  await using run = await startTestGateway(document);
  const { gateway } = run;
  const failing = t.mock.method(Pauses.prototype, "reconsider", () => {
    throw new Error("injected failure");
  });
  const changed = configOf({ ...document, policy: { deny: ["a:say"] } });
  const outcome = await gateway.applyConfig(changed, ["toolcrib.json"]);
  failing.mock.restore();
  const partly =
    /^a part of the changed configuration is in force, and could not be taken back: .*; restart the gateway$/;
  assert.match(outcome.error ?? "", partly);
  assert.deepEqual([outcome.incomplete, outcome.applied], [[outcome.error], []]);
  assert.deepEqual(gateway.status().configuration?.incomplete, [outcome.error]);
  const warning = run.logger.records.find(({ message }) => message.startsWith("changed configuration"));
  assert.equal(warning?.message, "changed configuration is not used; but for a part, until a restart");
  // A later change is put in force as a whole, and what failed before stays on record until the restart.
  assert.equal((await gateway.applyConfig(changed, ["toolcrib.json"])).error, undefined);
  assert.equal((await gateway.call(somebody, "a:say", {})).kind, "denied");
  assert.deepEqual(gateway.status().configuration?.incomplete, [outcome.error]);
});
