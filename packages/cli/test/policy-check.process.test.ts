/** `toolcrib policy check` and `policy test`, as a person uses them. */

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { findingsIn, policies, valid, writePolicies } from "./policy-files.ts";
import { runToolcrib, startServe } from "./transcript.ts";

test("policy check and test report problems with their places", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: string[]) => runToolcrib(args, setting);

  writePolicies(directory, policies);
  const faulty = await run("policy", "check");
  assert.equal(faulty.code, 2);
  assert.match(faulty.stdout, /policies\/main\.cedar:3:26: error CEDAR_INVALID/);
  assert.equal(
    (await run("call", "notes:echo", "--arg", "text=x")).code,
    2,
    "no command runs with a faulty policy",
  );

  writePolicies(directory, valid);
  const checked = await run("policy", "check");
  assert.equal(checked.code, 0, checked.stdout);
  assert.match(checked.stdout, /OK policies\/main\.cedar/);
  writePolicies(directory, valid.replace('ToolServer::"notes"', 'ToolServer::"note"'));
  const unmatched = await run("policy", "check");
  assert.match(
    unmatched.stdout,
    /main\.cedar:2:87: warning CEDAR_UNMATCHED\n.*\n(?:.*\n)*hint: did you mean "notes"\?/,
  );
  writePolicies(directory, valid.replaceAll('Tool::"notes:echo"', 'Tool::"notes__echo"'));
  const onWire = await run("policy", "check");
  assert.equal(onWire.code, 2);
  assert.match(onWire.stdout, /error CEDAR_TOOL_ID\n(?:.*\n)*hint: did you mean Tool::"notes:echo"\?/);
  assert.doesNotMatch(onWire.stdout, /CEDAR_UNMATCHED/, "one mistake has one finding");
  writePolicies(directory, valid);
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
  const expectations = [
    { client: "ci", tool: "notes:echo", arguments: { n: "7" }, expect: "allow", rule: "short" },
    { client: "ci", tool: "notes:echo", arguments: { n: 7 }, expect: "deny", rule: "sums" },
  ];
  writeFileSync(directory.join("unmet.yaml"), JSON.stringify({ tests: expectations }));
  const unmet = JSON.parse((await run("policy", "test", "unmet.yaml", "--json")).stdout);
  const linesOf = (at: number) =>
    (unmet.results[at].lines as readonly string[]).filter((line) => /does not (?:hold|apply)/.test(line));
  const short = "forbid policies/main.cedar#short, which does not apply";
  assert.ok(linesOf(0).includes(short), "denied by another rule than the one that was expected");
  assert.deepEqual(linesOf(1).slice(0, 3), [
    "forbid policies/main.cedar#sums, which does not apply",
    '  does not hold: context.integers.getTag("n") > 100 (context.integers.getTag("n") is 7)',
    short,
  ]);
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
  assert.deepEqual(findingsIn(names.stdout), [
    'names.yaml:2:15 warning tests[0].client: did you mean "ci"?',
    'names.yaml:3:25 warning tests[1].tool: did you mean "notes:echo"?',
    'names.yaml:4:58 error tests[2].rule: did you mean "robots"?',
    "names.yaml:8:58 error tests[6].rule: write the @id of a policy, or a path of the configuration such as policy.deny[0]",
  ]);
  assert.equal((await run("list")).code, 0);
  const listed = findingsIn((await run("policy", "test", "names.yaml", "--json")).stdout);
  assert.ok(
    listed.includes('names.yaml:6:25 warning tests[4].tool: did you mean "notes:echo"?'),
    `the tools of a server are known once it listed them: ${listed}`,
  );
});

test("serve names the client of the token that it gives out, and no program that would embed it", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: string[]) => runToolcrib(args, setting);
  writePolicies(directory, 'permit(principal in Role::"operator", action, resource);');
  const configPath = directory.join("toolcrib.json");
  const config = JSON.parse(readFileSync(configPath, "utf8"));
  config.policy.clients = { cli: { roles: ["operator"] }, library: { roles: ["robot"] } };
  config.serve = { listen: "127.0.0.1:0" };
  writeFileSync(configPath, JSON.stringify(config));
  const warning =
    'The client "default" may use nothing: no policy permits it anything (toolcrib serve creates and prints its token)';
  {
    await using first = await startServe([], setting);
    assert.ok(first.stderr().includes(warning), first.stderr());
    assert.doesNotMatch(first.stderr(), /library/);
  }
  const later = await run("policy", "check");
  assert.match(later.stdout, /The client "default" may use nothing: .* \(it has a token\)/);
  assert.doesNotMatch(later.stdout, /library/);
  rmSync(directory.join(".toolcrib"), { recursive: true });
  await using open = await startServe(["--auth", "none"], setting);
  assert.doesNotMatch(open.stderr(), /"default" may use nothing/);
  // The client exists from the first start on.
  rmSync(directory.join(".toolcrib"), { recursive: true });
  writePolicies(directory, 'permit(principal == Client::"default", action, resource);');
  assert.doesNotMatch((await run("policy", "check")).stdout, /no client has this name/);
});

test("policy check and serve name the clients that the first policy file locks out", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: string[]) => runToolcrib(args, setting);
  writePolicies(directory, '@id("ops") permit(principal in Role::"operator", action, resource);');
  for (const name of ["phone", "banned"]) assert.equal((await run("token", "create", name)).code, 0);
  const lockedOut = async () => {
    const { diagnostics } = JSON.parse((await run("policy", "check", "--json")).stdout);
    return (diagnostics as readonly { readonly [name: string]: string }[])
      .filter(({ code }) => code === "CEDAR_LOCKED_OUT")
      .map(({ message, hint }) => `${message}; ${hint}`)
      .sort();
  };
  const about = (name: string, known: string) =>
    `The client "${name}" may use nothing: no policy permits it anything (${known}); add to a policy file: permit(principal == Client::"${name}", action in Action::"use", resource);`;
  assert.deepEqual(await lockedOut(), [
    about("banned", "it has a token"),
    about("ci", "policy.clients.ci"),
    about("phone", "it has a token"),
  ]);
  // The line that the warning names, a role, and an exclusion on purpose.
  const text = `permit(principal in Role::"robot", action == Action::"list", resource);
permit(principal == Client::"phone", action in Action::"use", resource);
forbid(principal == Client::"banned", action, resource);
permit(principal in Role::"operator", action == Action::"save", resource);`;
  writePolicies(directory, text);
  assert.deepEqual(await lockedOut(), [about("cli", "policy.clients.cli")]);
  // Labels and roles that a client does not have, in conditions. What depends on more than the client can hold.
  const labelled = `permit(principal, action, resource)
  when { principal.hasTag("team") && resource.server.hasTag("team") && principal.getTag("team") == resource.server.getTag("team") };
permit(principal, action, resource) when { principal in Role::"robot" } unless { principal == Client::"phone" };
permit(principal, action, resource) when { resource.read_only && !(principal in Role::"operator" || principal == Client::"phone") }
  unless { principal has name && principal.name == "x" || !(principal == Client::"banned") && !(principal in Role::"robot") };`;
  writePolicies(directory, labelled);
  assert.deepEqual(await lockedOut(), [about("cli", "policy.clients.cli"), about("phone", "it has a token")]);
  const configPath = directory.join("toolcrib.json");
  const config = JSON.parse(readFileSync(configPath, "utf8"));
  config.policy.clients.phone = { labels: { team: "core" } };
  writeFileSync(configPath, JSON.stringify(config));
  assert.deepEqual(await lockedOut(), [about("cli", "policy.clients.cli")]);
});

test("policy check warns about tools that a known server does not have, and labels that no source has", async () => {
  await using directory = await makeTemporaryDirectory();
  const run = (...args: string[]) => runToolcrib(args, { directory: directory.path });
  const text = `permit(principal, action, resource);
@id("sum") forbid(principal, action, resource == Tool::"notes:ecoh");
@id("odd") forbid(principal, action, resource) when { resource == Tool::"notes:quite_different" };
@id("known") forbid(principal, action, resource == Tool::"notes:echo");
@id("data") forbid(principal, action == Action::"call", resource)
  when { context.seen_labels.contains("personl") || context.labels.containsAny(["personal", "zzz"]) };
`;
  writePolicies(directory, text);
  const configPath = directory.join("toolcrib.json");
  const config = JSON.parse(readFileSync(configPath, "utf8"));
  config.tool_servers[0].data_labels = ["personal"];
  writeFileSync(configPath, JSON.stringify(config));
  const unmatched = async () => {
    const { diagnostics } = JSON.parse((await run("policy", "check", "--json")).stdout);
    return (diagnostics as readonly { readonly [name: string]: string }[])
      .filter(({ code }) => code === "CEDAR_UNMATCHED")
      .map(
        ({ severity, line, column, message, hint }) => `${line}:${column} ${severity}: ${message}; ${hint}`,
      );
  };
  const labels = [
    `6:39 warning: The policy "data" asks for the label "personl", and no tool server and no toolspec has it in data_labels; did you mean "personal"?`,
    `6:93 warning: The policy "data" asks for the label "zzz", and no tool server and no toolspec has it in data_labels; correct it, or add it to a source: data_labels: ["zzz"]`,
  ];
  assert.deepEqual(await unmatched(), labels, "the tools of a server that never ran are not known");
  assert.equal((await run("list")).code, 0);
  assert.deepEqual(await unmatched(), [
    `2:50 warning: The policy "sum" names the tool "notes:ecoh", and "notes" has no tool of this name; did you mean "notes:echo"?`,
    `3:67 warning: The policy "odd" names the tool "notes:quite_different", and "notes" has no tool of this name; correct it, or keep it if the tool is added later`,
    ...labels,
  ]);
});

test("an error in a flag or in a file of policies names that, and not the configuration file", async () => {
  await using directory = await makeTemporaryDirectory();
  writePolicies(directory, policies);
  const setting = { directory: directory.path };
  const inPolicies = await runToolcrib(["serve", "--listen", "127.0.0.1:0"], setting);
  assert.match(inPolicies.stderr, /The configuration has an error: policies\/main\.cedar$/m);
  writePolicies(directory, valid);
  const inFlag = await runToolcrib(["serve", "--listen", "7421"], setting);
  assert.match(inFlag.stderr, /The configuration has an error: --listen$/m);
  const inVariable = await runToolcrib(["serve"], { ...setting, env: { TOOLCRIB_LISTEN: "7421" } });
  assert.match(inVariable.stderr, /The configuration has an error: TOOLCRIB_LISTEN$/m);
});
