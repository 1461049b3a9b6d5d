/** Rules of the policy that match nothing: a warning of every command that reads or serves a configuration. */

import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { echoStdioPath, fixtureCommand, makeTemporaryDirectory } from "@toolcrib/testing";
import { writeCatalog } from "./toolspec-samples.ts";
import { runToolcrib } from "./transcript.ts";

test("config check takes a client without a token for a standing one only by its letters", async () => {
  await using directory = await makeTemporaryDirectory();
  const limit = { name: "few", tools: ["*"], rate: "1/hour", clients: ["ci"] };
  const config = { policy: { clients: { ci: {}, CLI: {} } }, guards: { limits: [limit] } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path };
  const { stdout } = await runToolcrib(["config", "check", "toolcrib.json", "--json"], setting);
  const { diagnostics } = JSON.parse(stdout) as {
    readonly diagnostics: readonly { readonly [name: string]: string }[];
  };
  assert.deepEqual(
    diagnostics.map(({ path, hint }) => `${path}: ${hint}`),
    [
      "policy.clients.ci: create the token: toolcrib token create ci",
      "policy.clients.CLI: did you mean cli? otherwise create the token: toolcrib token create CLI",
      "guards.limits[0].clients[0]: create the token: toolcrib token create ci",
    ],
  );
});

test("config check and doctor warn about rules that match nothing known, with a suggestion", async () => {
  await using directory = await makeTemporaryDirectory();
  writeCatalog(directory.join("catalog"));
  const config = {
    tool_servers: [{ id: "memory", transport: { kind: "stdio", ...fixtureCommand(echoStdioPath) } }],
    toolspecs: [{ name: "open", tools: "all" }],
    policy: {
      deny: ["mmory:delete_*", "memory:ecoh", "open:no_such_tool", "memory", "*:delete_*", "memory:*"],
      clients: { cii: { allow: ["memry:echo"] }, ci: { deny: ["memory:echo"] }, cli: {} },
    },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const setting = { directory: directory.path, env: { TOOLCRIB_CATALOG: "catalog" } };
  const created = await runToolcrib(["token", "create", "ci", "--json"], setting);
  const { file } = JSON.parse(created.stdout);
  assert.match(readFileSync(file, "utf8"), /^tcb_[\w-]{43}\n$/);
  if (process.platform !== "win32") assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.equal((await runToolcrib(["token", "create", "ci"], setting)).code, 2);

  const checked = await runToolcrib(["config", "check", "toolcrib.json", "--json"], setting);
  assert.equal(checked.code, 0, checked.stdout);
  const { diagnostics } = JSON.parse(checked.stdout) as {
    readonly diagnostics: readonly { readonly [name: string]: string }[];
  };
  assert.deepEqual(
    diagnostics.map(({ severity, code, path, hint }) => `${severity} ${code} ${path}: ${hint}`),
    [
      'warning CONFIG_RULE_UNMATCHED policy.deny[0]: did you mean "memory:delete_*"?',
      "warning CONFIG_RULE_UNMATCHED policy.deny[2]: correct it, or keep it if what it names is added later",
      'warning CONFIG_RULE_UNMATCHED policy.deny[3]: write "memory:*" for all its tools, resources and prompts',
      'warning CONFIG_RULE_UNMATCHED policy.clients.cii.allow[0]: did you mean "memory:echo"?',
      "warning CONFIG_RULE_UNMATCHED policy.clients.cii: did you mean ci? otherwise create the token: toolcrib token create cii",
    ],
  );
  const doctor = await runToolcrib(["doctor"], setting);
  assert.match(doctor.stdout, /configuration: .*, 5 warnings/);
  assert.match(
    doctor.stdout,
    /policy: policy\.deny\[1\] "memory:ecoh" has no effect: "memory" has no tool that it matches\n\s*fix: did you mean "memory:echo"\?/,
  );
});
