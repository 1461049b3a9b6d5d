/** The section `hooks`: what it means, and what is wrong with it, all at once; and rules of hooks and limits that match nothing. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { digestConfig, mergeConfigs, parseConfig, parseConfigLayer } from "@toolcrib/config";

const parse = (text: string) => parseConfig([{ name: "toolcrib.yaml", text }]);

test("hooks are read, with their defaults", () => {
  const { value, diagnostics } = parse(`
hooks:
  before_call:
    - name: check
      tools: ["github:*", "files:resources/file:///etc/*"]
      clients: [ci]
      command: ./check.mjs
      args: ["--strict"]
      env: { LEVEL: info, TOKEN: { secret_key_ref: token } }
      cwd: ./hooks
      network_egress: scoped
      egress_allow: [api.example.com, { host: b.example.com, tls: passthrough }]
      read_paths: [./data]
      timeout_seconds: 9
    - { name: local, url: "http://[::1]:9000/a?b=1" }
  after_call:
    - { name: check, url: "https://dlp.example.com:8443/check", headers: { X-Team: core } }
  max_running: 4
`);
  assert.deepEqual(diagnostics, []);
  const [check, local] = value?.hooks.before ?? [];
  assert.ok(check?.transport.kind === "stdio" && local?.transport.kind === "streamable_http");
  assert.deepEqual(
    [check.id, check.tools, check.clients, check.timeoutSeconds],
    ["check", ["github:*", "files:resources/file:///etc/*"], ["ci"], 9],
  );
  const { command, args, env, cwd } = check.transport;
  const texts = [command, ...args, cwd].map((one) => one?.kind === "literal" && one.text);
  assert.deepEqual(texts, ["./check.mjs", "--strict", "./hooks"]);
  assert.deepEqual(Object.keys(env), ["LEVEL", "TOKEN"]);
  assert.deepEqual(check.containment, {
    networkEgress: "scoped",
    egressAllow: ["api.example.com", "b.example.com"],
    egressPassthrough: ["b.example.com"],
    readPaths: ["./data"],
  });
  assert.deepEqual([local.tools, local.timeoutSeconds, local.containment], [undefined, 5, undefined]);
  assert.equal(value?.hooks.after.length, 1);
  assert.equal(value?.hooks.limits.maxRunning, 4);
});

test("a command without a word about containment gets no network", () => {
  const { value } = parse("hooks: { before_call: [{ name: a, command: check }] }");
  assert.equal(value?.hooks.before[0]?.containment?.networkEgress, "deny");
});

test("the digest of a configuration depends on hooks, and not on their place", () => {
  const digest = (text: string) => {
    const { value } = parse(text);
    assert.ok(value);
    return digestConfig(value);
  };
  const hook = "hooks: { after_call: [{ name: a, command: check, env: { TOKEN: { secret_key_ref: t } } }] }";
  assert.equal(digest(hook), digest(`\n\n${hook}`));
  assert.notEqual(digest(hook), digest(hook.replace("command: check", "command: other")));
  assert.notEqual(digest(hook), digest(hook.replace("after_call", "before_call")));
});

const wrong: readonly [hook: string, message: RegExp, hint: RegExp][] = [
  ["name: a", /"hooks.before_call\[0\]" has neither command nor url/, /write command: PROGRAM or url/],
  ["command: x", /Field "name" is required/, /add name/],
  ["name: a, command: x, url: https://a.example", /has both command and url/, /two hooks/],
  ["name: a b, command: x", /letters, digits and _ \. -/, /./],
  ["name: a, command: [x, y]", /must be a string/, /the rest as args/],
  ["name: a, url: a.example", /not a complete http or https URL/, /https:\/\/HOST\/PATH/],
  ["name: a, url: ftp://a.example", /not a complete http or https URL/, /./],
  ["name: a, url: http://a.example/x", /cannot be http to "a.example"/, /write https/],
  ["name: a, url: http://169.254.169.254/x", /cannot be http to "169.254.169.254"/, /write https/],
  ["name: a, url: http://127.0.0.1.evil.example/x", /cannot be http to/, /write https/],
  ["name: a, url: https://10.0.0.7/x", /cannot have the host "10.0.0.7"/, /connect_to/],
  ["name: a, url: https://localhost/x", /cannot have the host "localhost"/, /connect_to/],
  ["name: a, url: https://u:p@a.example/", /user name, a password/, /secret_key_ref/],
  [
    "name: a, url: https://a.example/?key=sk-proj-abcdefghijklmnopqrstuvwxyz123456",
    /possible secret/,
    /headers/,
  ],
  [
    "name: a, url: https://a.example, env: { A: b }",
    /Field "env" belongs to a hook with command/,
    /remove it/,
  ],
  ["name: a, command: x, headers: { A: b }", /Field "headers" belongs to a hook with url/, /remove it/],
  ["name: a, command: x, env: { API_TOKEN: abc }", /inline secret not allowed/, /secret_key_ref/],
  [
    "name: a, url: https://a.example, headers: { Authorization: abc }",
    /inline secret not allowed/,
    /secret_key_ref/,
  ],
  ["name: a, command: x, network_egress: scoped", /scoped needs its scope: egress_allow/, /add egress_allow/],
  [
    "name: a, command: x, egress_allow: [a.example]",
    /egress_allow has no effect/,
    /write network_egress: scoped/,
  ],
  ["name: a, command: x, timeout_seconds: 0", /whole number from 1 to 300/, /./],
  ["name: a, command: x, timeout: 5", /Unknown field "timeout"/, /timeout_seconds/],
  ["name: a, command: x, fail_open: true", /Unknown field "fail_open"/, /always denies/],
  ["name: a, command: x, filesystem_write: allow", /Unknown field "filesystem_write"/, /writes nothing/],
  ["name: a, command: x, tools: [github/x]", /names no tool, resource or prompt/, /./],
  ["name: a, command: x, clients: []", /must not be empty/, /./],
];

for (const [hook, message, hint] of wrong) {
  test(`a hook { ${hook} } is refused with a fix`, () => {
    const { value, diagnostics } = parse(`hooks:\n  before_call:\n    - { ${hook} }\n`);
    assert.equal(value, undefined);
    const found = diagnostics.find((one) => message.test(one.message));
    assert.ok(found, diagnostics.map((one) => one.message).join("\n"));
    if (hint.source !== ".") assert.match(found.hint ?? "", hint);
  });
}

test("two hooks of one list have different names", () => {
  const { diagnostics } = parse(
    "hooks: { after_call: [{ name: a, command: x }, { name: a, command: y }], before: [] }",
  );
  const messages = diagnostics.map((one) => one.message).join("\n");
  assert.match(messages, /Duplicate name "a"/);
  assert.match(messages, /Unknown field "before"/);
});

test("hooks and limits that match nothing known are warnings with their places", () => {
  const text = `
tool_servers:
  - { id: files, transport: { kind: stdio, command: node } }
guards:
  limits:
    - { name: a, rate: 1/minute, tools: ["files:*", "file:read"], clients: [ci, robot, cii] }
  costs: { "strip:*": 1, "files:*": 2 }
hooks:
  before_call:
    - { name: b, command: node, tools: ["fles:*"], clients: [cli] }
  after_call:
    - { name: c, command: node, tools: ["*:delete_*", "files"], clients: [other] }
policy: { waive_approval: ["fyles:*"], clients: { robot: { identity: { issuer: "https://i.example", subject: "1" } } } }
`;
  const { diagnostics, value } = mergeConfigs([parseConfigLayer({ name: "toolcrib.yaml", text })], {
    tokenNames: ["ci"],
  });
  assert.ok(value);
  const found = diagnostics.map(({ severity, path, message }) => [
    severity,
    path,
    /"([^"]+)"/.exec(message)?.[1],
  ]);
  assert.deepEqual(found, [
    ["warning", "policy.waive_approval[0]", "fyles:*"],
    ["warning", "guards.limits[0].tools[1]", "file:read"],
    ["warning", "guards.costs[0]", "strip:*"],
    ["warning", "hooks.before_call[0].tools[0]", "fles:*"],
    ["warning", "hooks.after_call[0].tools[1]", "files"],
    ["warning", "guards.limits[0].clients[2]", "cii"],
    ["warning", "hooks.after_call[0].clients[0]", "other"],
  ]);
  assert.match(diagnostics[1]?.hint ?? "", /did you mean "files:read"\?/);
  assert.match(diagnostics[5]?.hint ?? "", /did you mean ci\?/);
});

test("arguments of a hook that look like secrets have a warning each, as those of a server, and no message shows one", () => {
  const likely = "mvlnPbU0dAzxxbyai0z4gwTO0P7FFKm";
  const { value, diagnostics } = parse(`
hooks:
  before_call:
    - { name: check, command: ./check.mjs, args: ["--mode", strict, "--pin=${likely}"] }
`);
  assert.deepEqual(
    diagnostics.map(({ severity, code, path }) => [severity, code, path]),
    [["warning", "CONFIG_INLINE_SECRET", "hooks.before_call[0].args"]],
  );
  assert.ok(!JSON.stringify(diagnostics.map(({ message, hint }) => [message, hint])).includes(likely));
  assert.equal(value?.hooks.before.length, 1);
});
