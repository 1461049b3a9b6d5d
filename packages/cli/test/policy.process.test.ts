/** The commands about what the policy decides, with real servers, as a person uses them. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { echoStdioPath, fixtureCommand, makeTemporaryDirectory } from "@toolcrib/testing";
import { valid, writePolicies } from "./policy-files.ts";
import { runToolcrib } from "./transcript.ts";

test("policy matrix and simulate, and why answer about the policy", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: string[]) => runToolcrib(args, setting);
  writePolicies(directory, valid);

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
  const allowed = await run("why", "notes:echo", "--client", "ci", "--args", '{"n": 7}');
  assert.equal(allowed.code, 0);
  assert.match(
    allowed.stdout,
    /\nforbid policies\/main\.cedar#sums, which does not apply\n {2}does not hold: context\.integers\.getTag\("n"\) > 100 \(context\.integers\.getTag\("n"\) is 7\)\n/,
  );
  assert.match(
    allowed.stdout,
    /\nforbid policies\/main\.cedar#short, which does not apply\n {2}does not hold: context\.arguments\.hasTag\("text"\) \(context\.arguments\.getTag\("text"\) is absent\)\n/,
  );
  const other = await run("why", "notes:env", "--client", "ci");
  assert.doesNotMatch(other.stdout, /does not apply/, "no forbid is about this tool");

  const call = await run("call", "notes:echo", "--arg", "text=long");
  assert.equal(call.code, 3);
  assert.equal((await run("call", "notes:env")).code, 0);
  const [denied] = JSON.parse((await run("audit", "list", "--outcome", "denied", "--json")).stdout);
  assert.equal((await run("why", denied.data.callId.slice(0, 18))).code, 3, "the id that audit list prints");
  const explained = await run("why", denied.data.callId);
  assert.equal(explained.code, 3);
  assert.match(explained.stdout, /denied \(policies\/main\.cedar#short\)/);

  // Calls by the policy as it was: one is decided by a text of which its record keeps the start.
  assert.equal((await run("call", "notes:echo", "--arg", `text=${"x".repeat(200)}`)).code, 0);
  assert.equal((await run("call", "notes:echo", "--arg", "text=short")).code, 0);
  const same = JSON.parse((await run("policy", "simulate", "--json")).stdout);
  assert.deepEqual([same.calls, same.same, same.undecidable], [4, 3, 1]);
  assert.deepEqual(same.changes, [
    {
      client: "cli",
      tool: "notes:echo",
      verdict: "undecidable",
      rule: "policies/main.cedar#short",
      missing: ['context.arguments.getTag("text")'],
      count: 1,
    },
  ]);

  // The policy changes, and no call is made. That nothing permits a call is known without its arguments.
  writePolicies(directory, valid.replace('Role::"operator"', 'Role::"nobody"'));
  const simulated = JSON.parse((await run("policy", "simulate", "--json")).stdout);
  assert.deepEqual(
    [simulated.calls, simulated.same, simulated.deniedNow, simulated.undecidable],
    [4, 1, 3, 0],
  );
});

test("simulate decides about a text that its record shortens only where policies could judge it", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...args: string[]) => runToolcrib(args, setting);
  writePolicies(
    directory,
    `permit(principal in Role::"operator", action, resource);
permit(principal, action == Action::"call", resource) when { context.arguments.hasTag("text") && context.arguments.getTag("text") like "long*" };`,
  );
  for (const [length, code] of [
    [16_384, 0],
    [16_385, 3],
  ] as const) {
    assert.equal((await run("call", "notes:echo", "--arg", `text=${"x".repeat(length)}`)).code, code);
    const { calls, same, undecidable } = JSON.parse((await run("policy", "simulate", "--json")).stdout);
    // The longer one was denied because nothing judges its length.
    assert.deepEqual([calls, same, undecidable], code === 0 ? [1, 1, 0] : [2, 1, 1]);
  }
});

test("why says how a profile would contain a tool", async () => {
  await using directory = await makeTemporaryDirectory();
  const notes = { kind: "stdio", ...fixtureCommand(echoStdioPath) };
  const config = {
    sandbox: { mode: "preferred" },
    tool_servers: [{ id: "notes", transport: notes, trust_state: "certified" }],
    profiles: { small: { servers: ["notes"], tools: ["*:echo"] }, other: { servers: ["mail"] } },
    policy: { clients: { desk: { profile: "small" }, mailer: { profile: "other" } } },
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const why = (client: string) =>
    runToolcrib(["why", "notes:env", "--client", client], { directory: directory.path });

  const desk = await why("desk");
  assert.equal(desk.code, 3);
  assert.match(desk.stdout, /^To allow it: add "notes:env" to profiles\.small\.tools in toolcrib\.yaml$/m);
  assert.match((await why("mailer")).stdout, /^To allow it: add "notes" to profiles\.other\.servers in /m);
});
