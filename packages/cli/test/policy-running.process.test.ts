/** `toolcrib why` and `policy matrix` with a running gateway: its policy answers, and not the files. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { policies, valid, writePolicies } from "./policy-files.ts";
import { runToolcrib, startServe } from "./transcript.ts";
import { startUnwatchedGateway } from "./unwatched-gateway.ts";

test("why and policy matrix ask the running gateway, and say what is not in force", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: string[]) => runToolcrib(args, setting);
  writePolicies(directory, valid);
  const configPath = directory.join("toolcrib.json");
  const config = JSON.parse(readFileSync(configPath, "utf8"));
  config.tool_servers.push({ id: "broken", transport: { kind: "stdio", command: "/no/such/program" } });
  config.serve = { auth: "none", listen: "127.0.0.1:0" };
  writeFileSync(configPath, JSON.stringify(config));
  // It does not put changes in force by itself, which could be before a command asks.
  await using _gateway = await startUnwatchedGateway(configPath, directory.join(".toolcrib"));
  // One server never becomes ready.
  await waitUntil(async () => (await run("why", "notes:env")).code === 0);

  const why = await run("why", "notes:env", "--client", "cii");
  assert.equal(why.code, 3);
  assert.match(why.stdout, /\nBy the policy in force in the gateway at http:\S+ \(sha256:[0-9a-f]{12}…\)\n$/);
  assert.match(why.stderr, /warning: no client is called "cii": .*; did you mean "ci"\?/);
  assert.doesNotMatch(why.stderr, /broken/, "another server has nothing to do with the question");
  const unknown = await run("why", "broken:tool");
  assert.equal(unknown.code, 5, unknown.stderr);
  assert.match(unknown.stderr, /"broken:tool" is not known: the server "broken" is unavailable: /);
  assert.doesNotMatch(unknown.stderr, /warning/, "the answer says it");
  // A name that says no server can be one of any.
  assert.match(
    (await run("why", "tool")).stderr,
    /warning: the tools of "broken" are missing: the server is/,
  );

  // An invalid file and changed lists: the gateway decides as before.
  writeFileSync(directory.join("policies/main.cedar"), policies);
  config.policy.deny = ["notes:env"];
  writeFileSync(configPath, JSON.stringify(config));
  const matrix = await run("policy", "matrix", "--client", "ci");
  assert.equal(matrix.code, 0, matrix.stderr);
  assert.match(matrix.stdout, /notes:env +call/);
  assert.match(matrix.stdout, /broken:\* \(unavailable\) +\?\n/);
  assert.match(
    matrix.stderr,
    /policies\/main\.cedar is broken and is not in force; see toolcrib policy check/,
  );
  const onDisk = await run("why", "notes:env", "--on-disk");
  assert.equal(onDisk.code, 2);
  assert.match(onDisk.stderr, /CEDAR_INVALID/);

  writeFileSync(directory.join("policies/main.cedar"), valid);
  const lists = await run("why", "notes:env", "--json");
  assert.equal(lists.code, 0);
  const { policy, decision } = JSON.parse(lists.stdout);
  assert.deepEqual([policy.of, decision.kind], ["gateway", "allow"]);
  assert.deepEqual(policy.notInForce, [
    "the section policy of the configuration changed and is not in force: run toolcrib reload, which says why",
  ]);
  const changed = await run("why", "notes:env", "--on-disk");
  assert.equal(changed.code, 3);
  assert.match(changed.stdout, /denied by policy\.deny\[0\]/);
  assert.match(changed.stdout, /\nBy the policy as its files are now\n$/);
});

test("status, doctor and serve report policies that name a tool which a ready server does not have", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: string[]) => runToolcrib(args, setting);
  const all = "permit(principal, action, resource);\n";
  const faulty = `${all}@id("sum") forbid(principal, action, resource == Tool::"notes:ecoh");`;
  writePolicies(directory, faulty);
  await using gateway = await startServe(["--auth", "none", "--listen", "127.0.0.1:0"], setting);
  await waitUntil(async () => (await run("why", "notes:env")).code === 0);
  const noEffect = /no effect policies\/main\.cedar#(\w+) "(\S+)": "notes" has no tool that it matches(.*)/;
  const status = (await run("status")).stdout;
  assert.deepEqual(
    noEffect.exec(status)?.slice(1),
    ["sum", "notes:ecoh", '; did you mean "notes:echo"?'],
    status,
  );
  const doctor = (await run("doctor")).stdout;
  assert.match(
    doctor,
    /policy: policies\/main\.cedar#sum "notes:ecoh" has no effect: "notes" has no tool that it matches\n\s*fix: did you mean "notes:echo"\?/,
  );
  // A changed file: the log names it, too.
  writePolicies(directory, `${all}@id("env") forbid(principal, action, resource == Tool::"notes:evn");`);
  await waitUntil(async () => (await run("status")).stdout.includes("main.cedar#env"));
  await waitUntil(() =>
    /^(?=.*main\.cedar#env).*rule matches nothing known/m.test(gateway.stdout() + gateway.stderr()),
  );
  writePolicies(directory, faulty.replace("ecoh", "echo"));
  await waitUntil(async () => !(await run("status")).stdout.includes("no effect"));
});

test("policy check names the configuration that it is about, where a gateway serves another one", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  mkdirSync(directory.join("served"));
  mkdirSync(directory.join("empty"));
  const served = directory.join("served/toolcrib.json");
  const config = { tool_servers: [], serve: { auth: "none", listen: "127.0.0.1:0" } };
  writeFileSync(served, JSON.stringify({ ...config, policy: { deny: ["absent:*"] } }));
  await using gateway = await startServe(["--config", served], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/healthz`)).ok);

  const home = { env: { HOME: directory.path } };
  const none = await runToolcrib(["policy", "check"], { ...home, directory: directory.join("empty") });
  assert.equal(none.code, 0, none.stderr);
  assert.match(
    none.stderr,
    /note: this is about \S+\/served\/toolcrib\.json, which the gateway at http:\S+ serves/,
  );
  assert.match(none.stdout, /^OK \S+\/served\/toolcrib\.json/);
  const same = await runToolcrib(["policy", "check"], { ...home, directory: directory.join("served") });
  assert.equal(same.stderr, "");

  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const other = await runToolcrib(["policy", "check"], setting);
  assert.match(other.stdout, /^OK toolcrib\.json\n$/);
  assert.match(
    other.stderr,
    /warning: this is about toolcrib\.json; the gateway at \S+ serves served\/toolcrib\.json\. To check that: .* policy check --config served\/toolcrib\.json/,
  );
});
