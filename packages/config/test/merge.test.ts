import assert from "node:assert/strict";
import { test } from "node:test";
import {
  formatConfigReport,
  type GatewayConfig,
  mergeConfigs,
  parseConfig,
  parseConfigLayer,
} from "@toolcrib/config";

type ConfigResult = ReturnType<typeof parseConfig>;

function parse(...texts: readonly string[]): ConfigResult {
  return parseConfig(texts.map((text, index) => ({ name: `${index}.yaml`, text })));
}

function merged(...texts: readonly string[]): GatewayConfig {
  const { value, diagnostics } = parse(...texts);
  assert.ok(value, formatConfigReport([], diagnostics));
  return value;
}

const server = (id: string, more = ""): string =>
  `- id: "${id}"\n  transport: { kind: stdio, command: x }\n${more}`;

test("parseConfig() replaces a whole server in its position, and appends new ones", () => {
  const config = merged(
    `tool_servers:\n${server("a", "  name: first\n  labels: { team: core }\n")}${server("b")}`,
    `tool_servers:\n${server("c")}${server(" a ", "  trust_state: verified\n")}`,
  );
  assert.deepEqual(
    config.toolServers.map(({ id }) => id),
    ["a", "b", "c"],
  );
  const [a] = config.toolServers;
  assert.equal(a?.name, undefined, "nothing of the earlier declaration is left");
  assert.deepEqual(a?.labels, {});
  assert.equal(a?.trustState, "verified");
  assert.equal(a?.source.name, "1.yaml");
});

test("parseConfig() merges other sections field by field and replaces lists", () => {
  const config = merged(
    "serve: { mode: search, limits: { max_sessions: 5, max_concurrent_calls: 7 }, tools: { hidden: [a, b] } }\npolicy: { allow: ['x:*'], deny: ['y:*'], clients: { ci: { deny: [p] }, jane: { identity: { issuer: i, subject: s } } } }",
    "serve: { limits: { max_sessions: 6 }, tools: { hidden: [c], pinned: [d] } }\npolicy: { deny: [], clients: { ci: { allow: [q] }, dev: {}, jane: { deny: [r], identity: { issuer: i, subject: t } } } }\naudit: { durability: fsync }",
  );
  assert.equal(config.serve.mode, "search");
  assert.equal(config.serve.limits.maxSessions, 6);
  assert.equal(config.serve.limits.maxConcurrentCalls, 7);
  assert.deepEqual(config.serve.tools, { hidden: ["c"], pinned: ["d"] });
  assert.deepEqual(config.policy.allow, ["x:*"]);
  assert.deepEqual(config.policy.deny, []);
  assert.deepEqual(config.policy.clients, {
    ci: { allow: ["q"], deny: ["p"] },
    jane: { allow: undefined, deny: ["r"], identity: { issuer: "i", subject: "t" } },
    dev: { allow: undefined, deny: [] },
  });
  assert.equal(config.audit.durability, "fsync");
});

test("parseConfig() passes on what each section of a file says", () => {
  const config = merged(
    "sandbox: { mode: preferred }",
    "egress: { internal_ranges: [10.0.0.0/8] }\naudit: { retention_days: 7 }",
    "execution: { enableDebug: true }\nserve: { mode: search }\npolicy: { deny: ['x:*'] }",
  );
  assert.equal(config.sandbox.mode, "preferred");
  assert.deepEqual(config.egress.internalRanges, ["10.0.0.0/8"]);
  assert.equal(config.audit.retentionDays, 7);
  assert.equal(config.execution.debug, true);
  assert.equal(config.serve.mode, "search");
  assert.deepEqual(config.policy.deny, ["x:*"]);
  assert.equal(
    merged("sandbox: { mode: preferred }", "sandbox: { mode: required }").sandbox.mode,
    "required",
  );
});

test("parseConfig() keeps the strictest floor of all files", () => {
  const config = merged(
    "policy: { floor: { network_egress: scoped } }",
    "policy: { floor: { network_egress: deny, max_execution_seconds: 10 } }",
    `tool_servers:\n${server("a", "  trust_state: certified\n")}`,
  );
  assert.deepEqual(config.policy.floor, {
    networkEgress: "deny",
    filesystemWrite: undefined,
    maxExecutionSeconds: 10,
  });
  assert.equal(config.toolServers[0]?.containment.effective.networkEgress, "deny");
  assert.equal(config.toolServers[0]?.containment.effective.maxExecutionSeconds, 10);
});

test("parseConfig() refuses a floor that is lowered, even when a third file raises it again", () => {
  const { diagnostics } = parse(
    "policy: { floor: { network_egress: deny } }",
    "policy: { floor: { network_egress: allow } }",
    "policy: { floor: { network_egress: deny } }",
  );
  assert.deepEqual(
    diagnostics.map(({ code, source }) => [code, source?.name]),
    [["CONFIG_POLICY_FLOOR", "1.yaml"]],
  );
});

test("parseConfig() requires each file to be valid alone, even where a later file would fix it", () => {
  const { value, diagnostics } = parse(
    `tool_servers:\n${server("a", "  containment: { network_egress: allow }\n")}policy: { floor: { network_egress: deny } }`,
    `tool_servers:\n${server("a")}`,
  );
  assert.equal(value, undefined);
  assert.deepEqual(
    diagnostics.map(({ code }) => code),
    ["CONFIG_POLICY_FLOOR"],
  );
});

test("parseConfig() finds problems between files while one of them has problems of its own", () => {
  const { diagnostics } = parse(
    "tool_servers:\n- id: a\n  trust_state: x\n  transport: { kind: stdio, command: x }\n",
    "providers: { targets: [{ id: a }] }",
  );
  assert.deepEqual(diagnostics.map(({ code }) => code).sort(), [
    "CONFIG_CONFLATED_TARGET",
    "CONFIG_INVALID_VALUE",
  ]);
});

test("parseConfig() refuses a provider target with the id of a server that a later file replaces", () => {
  const { diagnostics } = parse(
    "providers: { targets: [{ id: a }] }",
    `tool_servers:\n${server("a")}`,
    `tool_servers:\n${server("a")}`,
  );
  assert.deepEqual(
    diagnostics.map(({ code, source }) => [code, source?.name]),
    [
      ["CONFIG_CONFLATED_TARGET", "1.yaml"],
      ["CONFIG_CONFLATED_TARGET", "2.yaml"],
    ],
  );
});

test("parseConfig() reports a problem once, although files are checked alone and together", () => {
  const { diagnostics } = parse(`tool_servers:\n${server("a")}${server("A")}`, "serve: {}");
  assert.equal(diagnostics.length, 1);
});

test("mergeConfigs() composes layers that were read one by one", () => {
  const layers = [`tool_servers:\n${server("a")}`, '{ "mcpServers": { "b": { "command": "x" } } }'].map(
    (text, index) => parseConfigLayer({ name: index === 0 ? "a.yaml" : ".mcp.json", text }),
  );
  assert.deepEqual(
    mergeConfigs(layers).value?.toolServers.map(({ id }) => id),
    ["a", "b"],
  );
  assert.deepEqual(mergeConfigs([]).value?.toolServers, []);
});

test("parseConfig() lets a server of another program's file be replaced by a declared one", () => {
  const { value } = parseConfig([
    { name: ".mcp.json", text: '{ "mcpServers": { "files": { "command": "a" } } }' },
    { name: "toolcrib.yaml", text: `tool_servers:\n${server("files", "  trust_state: certified\n")}` },
  ]);
  assert.equal(value?.toolServers[0]?.trustState, "certified");
});

test("parseConfig() keeps field names that every object inherits", () => {
  const config = merged(
    "policy: { clients: { constructor: { deny: [a] } } }",
    "policy: { clients: { toString: { deny: [b] } } }",
  );
  assert.deepEqual(Object.keys(config.policy.clients), ["constructor", "toString"]);
  assert.deepEqual(config.policy.clients["constructor"], { allow: undefined, deny: ["a"] });
});
