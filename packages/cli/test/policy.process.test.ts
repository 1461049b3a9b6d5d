/** The commands about the policy, with real servers, as a person uses them. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { echoStdioPath, fixtureCommand, makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

const policies = `@id("operator") permit(principal in Role::"operator", action, resource);
@id("robots") permit(principal in Role::"robot", action in Action::"use", resource in ToolServer::"notes")
  when { resource.server.labels_are_fine };
`;

const valid = policies
  .replace(" resource.server.labels_are_fine ", ' resource.server.getTag("team") == "core" ')
  .replace("when {", 'when { resource.server.hasTag("team") &&')
  .concat(`@id("short") @message("Texts have at most 9 characters")
forbid(principal, action == Action::"call", resource == Tool::"notes:echo")
  when { context.arguments.hasTag("text") && context.arguments.getTag("text") like "??????????*" };
@id("sums") forbid(principal, action == Action::"call", resource == Tool::"notes:echo")
  when { context.integers.hasTag("n") && context.integers.getTag("n") > 100 };
`)
  .replace('like "??????????*"', 'like "long*"');

function write(directory: { join(...parts: string[]): string }, text: string): void {
  mkdirSync(directory.join("policies"), { recursive: true });
  writeFileSync(directory.join("policies/main.cedar"), text);
  const notes = { kind: "stdio", ...fixtureCommand(echoStdioPath) };
  const config = {
    sandbox: { mode: "preferred" },
    tool_servers: [{ id: "notes", transport: notes, trust_state: "certified", labels: { team: "core" } }],
    policy: {
      files: ["policies/main.cedar"],
      clients: { ci: { roles: ["robot"] }, cli: { roles: ["operator"] } },
    },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
}

/** The findings in the output of a command with `--json`: place, severity, path, hint. */
function findingsIn(output: string): readonly string[] {
  const { diagnostics } = JSON.parse(output) as {
    readonly diagnostics: readonly { readonly [name: string]: string | number }[];
  };
  return diagnostics.map(
    ({ file, line, column, severity, path, hint }) =>
      `${file}:${line}:${column} ${severity} ${path}: ${hint}`,
  );
}

test("policy check, test, matrix and simulate, and why answer about the policy", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: string[]) => runToolcrib(args, setting);

  write(directory, policies);
  const faulty = await run("policy", "check");
  assert.equal(faulty.code, 2);
  assert.match(faulty.stdout, /policies\/main\.cedar:3:26: error CEDAR_INVALID/);
  assert.equal(
    (await run("call", "notes:echo", "--arg", "text=x")).code,
    2,
    "no command runs with a faulty policy",
  );

  write(directory, valid);
  const checked = await run("policy", "check");
  assert.equal(checked.code, 0, checked.stdout);
  assert.match(checked.stdout, /OK policies\/main\.cedar/);
  write(directory, valid.replace('ToolServer::"notes"', 'ToolServer::"note"'));
  const unmatched = await run("policy", "check");
  assert.match(
    unmatched.stdout,
    /main\.cedar:2:87: warning CEDAR_UNMATCHED\n.*\n(?:.*\n)*hint: did you mean "notes"\?/,
  );
  write(directory, valid);
  assert.match((await run("policy", "schema")).stdout, /entity Client in \[Role\]/);

  const tests = [
    { client: "ci", tool: "notes:echo", expect: "allow", rule: "robots" },
    { client: "ci", tool: "notes:echo", arguments: { text: "long text" }, expect: "deny", rule: "short" },
    { client: "ci", tool: "notes:echo", arguments: { n: 101.5 }, expect: "deny", rule: "sums" },
    { client: "other", action: "list", tool: "notes:echo", expect: "deny" },
  ];
  writeFileSync(directory.join("policies/main.policy-test.yaml"), JSON.stringify({ tests }));
  const tested = await run("policy", "test");
  assert.match(tested.stdout, /\n4 passed, 0 failed\n$/);
  assert.match(
    tested.stdout,
    /^policies\/main\.policy-test\.yaml:1:\d+: warning POLICY_TEST_UNMATCHED\nNo client is called "other"/,
  );
  writeFileSync(
    directory.join("policies/main.policy-test.yaml"),
    JSON.stringify({ tests: [{ client: "other", tool: "notes:echo", expect: "allow" }] }),
  );
  const failed = await run("policy", "test");
  assert.equal(failed.code, 1);
  assert.match(
    failed.stdout,
    /failed policies\/main\.policy-test\.yaml: other call notes:echo\n {2}expected allow/,
  );
  writeFileSync(directory.join("bad.yaml"), "tests: [{ client: ci, tol: x, expect: maybe }]");
  const bad = await run("policy", "test", "bad.yaml");
  assert.equal(bad.code, 2);
  assert.match(bad.stdout, /bad\.yaml:1:23: error POLICY_TEST_INVALID/);
  writeFileSync(
    directory.join("names.yaml"),
    `tests:
  - { client: cii, tool: notes:echo, expect: deny }
  - { client: ci, tool: note:echo, expect: deny }
  - { client: ci, tool: notes:echo, expect: allow, rule: robbots }
  - { client: ci, tool: stripe:refund, server: { trust_state: verified }, expect: deny }
  - { client: ci, tool: notes:ecoh, expect: allow }
  - { client: cli, tool: toolcrib:save_tool, expect: allow, rule: main.cedar#operator }
  - { client: cli, tool: notes:env, expect: allow, rule: nothing_like_that }
`,
  );
  const names = await run("policy", "test", "names.yaml", "--json");
  assert.equal(names.code, 2);
  const unknownNames = () =>
    run("policy", "test", "names.yaml", "--json").then(({ stdout }) => findingsIn(stdout));
  assert.deepEqual(findingsIn(names.stdout), [
    'names.yaml:2:15 warning tests[0].client: did you mean "ci"?',
    'names.yaml:3:25 warning tests[1].tool: did you mean "notes:echo"?',
    'names.yaml:4:58 error tests[2].rule: did you mean "robots"?',
    "names.yaml:8:58 error tests[6].rule: write the @id of a policy, or a path of the configuration such as policy.deny[0]",
  ]);

  const matrix = JSON.parse((await run("policy", "matrix", "--tool", "notes:*", "--json")).stdout) as {
    readonly targets: readonly {
      readonly id: string;
      readonly decisions: { readonly [client: string]: string };
    }[];
  };
  const echo = matrix.targets.find(({ id }) => id === "notes:echo");
  assert.deepEqual(echo?.decisions, { cli: "depends", ci: "depends" });
  const env = matrix.targets.find(({ id }) => id === "notes:env");
  assert.deepEqual(env?.decisions, { cli: "call", ci: "call" });

  const why = await run("why", "notes:env", "--client", "other");
  assert.equal(why.code, 3);
  assert.match(why.stdout, /no policy permits it/);
  assert.match(why.stdout, /does not hold: principal in Role::"robot" \(principal is Client::"other"\)/);
  assert.match(why.stdout, /would permit it if principal in Role::"robot"/);
  const forbidden = await run("why", "notes:echo", "--client", "ci", "--args", '{"text": "long text"}');
  assert.match(forbidden.stdout, /denied by policies\/main\.cedar#short/);
  assert.match(forbidden.stdout, /context\.arguments\.getTag\("text"\) is "long text"/);
  assert.equal((await run("why", "notes:nothing")).code, 4);

  assert.ok(
    (await unknownNames()).includes('names.yaml:6:25 warning tests[4].tool: did you mean "notes:echo"?'),
    "the tools of a server are known once it listed them",
  );

  const call = await run("call", "notes:echo", "--arg", "text=long");
  assert.equal(call.code, 3);
  assert.equal((await run("call", "notes:env")).code, 0);
  const [denied] = JSON.parse((await run("audit", "list", "--outcome", "denied", "--json")).stdout);
  assert.equal((await run("why", denied.data.callId.slice(0, 18))).code, 3, "the id that audit list prints");
  const explained = await run("why", denied.data.callId);
  assert.equal(explained.code, 3);
  assert.match(explained.stdout, /denied \(policies\/main\.cedar#short\)/);

  // The policy changes, and no call is made.
  write(directory, valid.replace('Role::"operator"', 'Role::"nobody"'));
  const simulated = JSON.parse((await run("policy", "simulate", "--json")).stdout);
  assert.equal(simulated.calls, 2);
  assert.deepEqual([simulated.deniedNow, simulated.undecidable], [1, 1]);
});
