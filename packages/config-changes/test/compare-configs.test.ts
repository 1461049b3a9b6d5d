import assert from "node:assert/strict";
import { test } from "node:test";
import { mergeConfigs, parseConfig, parseConfigLayer, type ToolServerConfig } from "@toolcrib/config";
import { compareConfigs, keepsServer } from "@toolcrib/config-changes";

function parsed(document: object, indent = 0) {
  const { value } = parseConfig([
    { name: "toolcrib.json", text: JSON.stringify(document, undefined, indent) },
  ]);
  return value ?? assert.fail("the configuration is invalid");
}

const server = (id: string, more: object = {}) => ({
  id,
  transport: { kind: "stdio", command: "node", args: ["server.mjs"] },
  ...more,
});

test("places and notation are no change, and members that are called as places are one", () => {
  const document = {
    tool_servers: [server("a", { labels: { span: "1", source: "x" } })],
    profiles: { p: {} },
  };
  assert.deepEqual(compareConfigs(parsed(document), parsed(document, 4)).applied, []);
  const other = { ...document, tool_servers: [server("a", { labels: { span: "2", source: "x" } })] };
  assert.deepEqual(compareConfigs(parsed(document), parsed(other)).applied, ["tool_servers.a"]);
});

test("an entry that is switched off or on is named once, like another change of it", () => {
  const document = (isEnabled: boolean, more: object = {}) =>
    parsed({ tool_servers: [server("a", { enabled: isEnabled, ...more })] });
  const [on, off] = [document(true), document(false)];
  assert.deepEqual(compareConfigs(on, off).applied, ["tool_servers.a"]);
  assert.deepEqual(compareConfigs(off, on).applied, ["tool_servers.a"]);
  assert.deepEqual(compareConfigs(off, parsed({})).applied, ["tool_servers.a"]);
  assert.deepEqual(compareConfigs(off, document(false, { labels: { team: "x" } })).applied, []);
});

test("a server that a switch enabled already stays when its file enables it, too", () => {
  const document = (isEnabled: boolean) => {
    const text = JSON.stringify({ tool_servers: [server("a", { enabled: isEnabled })] });
    const switches = { servers: new Map([["a", true]]), tools: [] };
    return mergeConfigs([parseConfigLayer({ name: "c.json", text })], { switches }).value ?? assert.fail();
  };
  assert.equal(document(false).toolServers.length, 1);
  assert.deepEqual(compareConfigs(document(false), document(true)).applied, []);
});

test("clients, variables and arguments that are called as places are compared", () => {
  const document = (pattern: string, variable: string, branch: string) => ({
    tool_servers: [
      {
        id: "a",
        transport: { kind: "stdio", command: "node", env: { source: { secret_key_ref: { env: variable } } } },
      },
    ],
    policy: { clients: { source: { allow: [pattern] }, span: { allow: [pattern] } } },
    tools: { "a:b": { arguments: { source: { fixed: { source: { name: "x", text: branch } } } } } },
  });
  const before = parsed(document("a:*", "ONE", "main"));
  const check = (other: object, path: string) =>
    assert.deepEqual(compareConfigs(before, parsed(other)).applied, [path]);
  check(document("a:b", "ONE", "main"), "policy.clients");
  check(document("a:*", "TWO", "main"), "tool_servers.a");
  check(document("a:*", "ONE", "other"), "tools");
});

test("names what was added, removed and changed, and the order of servers", () => {
  const before = parsed({ tool_servers: [server("a"), server("b"), server("c")] });
  const after = parsed({
    tool_servers: [server("d"), server("b"), server("a", { labels: { team: "x" } })],
    policy: { deny: ["a:*"], clients: { ci: { allow: ["b:*"] } } },
    profiles: { triage: { tools: ["a:*"] } },
    serve: { mode: "search" },
  });
  assert.deepEqual(compareConfigs(before, after).applied, [
    "tool_servers.c",
    "tool_servers.d",
    "tool_servers.a",
    "policy.deny",
    "policy.clients",
    "profiles.triage",
    "serve.mode",
  ]);
  const moved = parsed({ tool_servers: [server("b"), server("a"), server("c")] });
  assert.deepEqual(compareConfigs(before, moved).applied, ["tool_servers"]);
});

test("settings that need a restart keep their values, and the rest is new", () => {
  const before = parsed({ tool_servers: [server("a")], serve: { listen: "127.0.0.1:1" } });
  const after = parsed({
    serve: { listen: "127.0.0.1:2", mode: "auto", limits: { max_sessions: 3 } },
    audit: { fingerprints: false },
    sandbox: { mode: "preferred" },
  });
  const { config, applied, needsRestart } = compareConfigs(before, after);
  assert.deepEqual(needsRestart, ["audit", "sandbox", "serve.listen", "serve.limits"]);
  assert.deepEqual(applied, ["tool_servers.a", "serve.mode"]);
  assert.deepEqual(
    [config.serve.listen.port, config.serve.mode, config.sandbox.mode, config.toolServers.length],
    [1, "auto", "required", 0],
  );
  // What waits for a restart is reported until it happens, and is no change when it is taken back.
  assert.deepEqual(compareConfigs(config, after).needsRestart, needsRestart);
  assert.deepEqual(compareConfigs(config, after).applied, []);
});

test("a server stays connected where only facts about its calls and definitions differ", () => {
  const declared = (more: object): ToolServerConfig =>
    parsed({ tool_servers: [server("a", more)] }).toolServers[0] ?? assert.fail();
  const contained = { network_egress: "deny", filesystem_write: "deny" };
  const first = declared({ containment: contained });
  const facts = [
    { labels: { team: "x" }, name: "A", description: "text" },
    { data_labels: ["personal"] },
    { validation: "upstream" },
    { first_contact: "pin", trust_state: "verified", mutability_class: "read_only" },
    { containment: { ...contained, max_execution_seconds: 7 } },
  ];
  for (const more of facts) {
    const next = declared({ containment: contained, ...more });
    assert.equal(keepsServer(first, next), true, JSON.stringify(more));
  }
  const others = [
    { containment: { ...contained, network_egress: "allow" } },
    { transport: { kind: "stdio", command: "node", args: ["other.mjs"] } },
    {
      transport: {
        kind: "stdio",
        command: "node",
        args: ["server.mjs"],
        env: { KEY: { secret_key_ref: { env: "A" } } },
      },
    },
    { start: "lazy" },
  ];
  for (const more of others) {
    const next = declared({ containment: contained, ...more });
    assert.equal(keepsServer(first, next), false, JSON.stringify(more));
  }
});

test("a process does not stay outside of a sandbox when its server becomes unverified", () => {
  const declared = (trust: string) => {
    const containment = { network_egress: "allow", filesystem_write: "allow" };
    const { toolServers } = parsed({ tool_servers: [server("a", { containment, trust_state: trust })] });
    return toolServers[0] as ToolServerConfig;
  };
  assert.equal(keepsServer(declared("verified"), declared("unverified")), false);
  assert.equal(keepsServer(declared("verified"), declared("certified")), true);
});

test("a credential in the file of another program is compared, although no digest contains it", () => {
  const foreign = (key: string) => {
    const text = JSON.stringify({ mcpServers: { a: { command: "node", env: { API_KEY: key } } } });
    return parseConfig([{ name: ".mcp.json", text }]).value ?? assert.fail();
  };
  const [one, other] = [foreign("sk-one-1234567890"), foreign("sk-two-1234567890")];
  const { applied } = compareConfigs(one, other);
  assert.deepEqual(applied, ["tool_servers.a"]);
  assert.equal(
    keepsServer(one.toolServers[0] as ToolServerConfig, other.toolServers[0] as ToolServerConfig),
    false,
  );
});

test("names the servers whose containment allows more, as it is in force", () => {
  const check = (before: object, after: object, changes: readonly string[], more: object = {}) => {
    const [one, other] = [parsed({ tool_servers: [server("a", before)] }), { ...more }];
    const next = parsed({ ...other, tool_servers: [server("b"), server("a", after)] });
    const expected = changes.length === 0 ? [] : [{ server: "a", changes }];
    const { loosened, applied } = compareConfigs(one, next);
    assert.deepEqual(loosened, expected, JSON.stringify([before, after]));
    if (changes.length > 0) assert.ok(applied.includes("tool_servers.a"));
  };
  const verified = { trust_state: "verified" };
  const scoped = (...hosts: readonly (string | object)[]) => ({
    containment: { network_egress: "scoped", egress_allow: hosts },
  });
  const writes = (...paths: readonly string[]) => ({
    containment: { filesystem_write: "scoped", write_paths: paths },
  });
  const reads = (...paths: readonly string[]) => ({ containment: { read_paths: paths } });

  check({}, verified, ["network_egress from deny to allow"]);
  check({}, verified, [], { policy: { floor: { network_egress: "deny" } } });
  check({}, { ...verified, containment: { network_egress: "deny" } }, []);
  check(verified, {}, []);
  check({}, { labels: { team: "x" } }, []);
  check({}, { trust_state: "certified" }, [
    "network_egress from deny to allow",
    "filesystem_write from deny to allow",
    "no sandbox",
  ]);
  check({}, scoped("a.example"), ["network_egress from deny to scoped", "more egress_allow: a.example"]);
  check(verified, scoped("a.example"), []);
  check(scoped("a.example"), verified, ["network_egress from scoped to allow"]);
  check(scoped("*.b.example"), scoped("a.b.example", "c.example"), ["more egress_allow: c.example"]);
  check(scoped("a.b.example"), scoped("*.b.example"), ["more egress_allow: *.b.example"]);
  check(scoped("a.example"), scoped({ host: "a.example", tls: "passthrough" }), [
    "more tls: passthrough: a.example",
  ]);
  check({}, writes("data"), ["filesystem_write from deny to scoped", "more write_paths: data"]);
  check(writes("data"), writes("data/notes", "data/../other", "database"), [
    "more write_paths: data/../other, database",
  ]);
  check(writes("data"), reads("data"), []);
  check({}, reads("/srv/data"), ["more read_paths: /srv/data"]);
  check({ containment: { read_arguments: false } }, {}, ["read_arguments from false to true"]);
  check({ containment: { state: true } }, {}, []);
  const remote = { transport: { kind: "streamable_http", url: "https://a.example/mcp" } };
  check(remote, { ...remote, trust_state: "verified" }, []);
});
