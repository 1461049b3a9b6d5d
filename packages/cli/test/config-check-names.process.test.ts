/** `toolcrib config check` about names that nothing has: of tools in limits and hooks, and of the scripts of hooks. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { echoServer, runToolcrib } from "./transcript.ts";

test("config check warns about patterns of tools that a server does not have, and about scripts that are missing", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const run = (...words: readonly string[]) => runToolcrib(words, setting);
  const limit = (...tools: readonly string[]) => ({ name: "a", rate: "1/minute", tools });
  const hook = (script: string, ...tools: readonly string[]) => ({
    name: "judge",
    command: process.execPath,
    args: [script],
    tools,
  });
  const write = (limits: readonly object[], hooks: readonly object[]) =>
    writeFileSync(
      directory.join("toolcrib.json"),
      JSON.stringify({
        sandbox: { mode: "preferred" },
        tool_servers: [echoServer("every")],
        guards: { limits },
        hooks: { before_call: hooks },
      }),
    );
  const wrong = () => write([limit("every:get-tiny-imag", "every:ech?")], [hook("no.mjs", "every:ech")]);
  const findings = async () => {
    const { code, stdout, stderr } = await run("config", "check", "--json");
    assert.equal(code, 0);
    const { diagnostics } = JSON.parse(stdout) as {
      diagnostics: { code: string; message: string; hint?: string; path?: string }[];
    };
    return { diagnostics, stderr };
  };

  // No gateway of this home listed the tools: they are not known, and the check says so.
  wrong();
  const before = await findings();
  assert.deepEqual(
    before.diagnostics.map(({ code }) => code),
    ["CONFIG_COMMAND_NOT_FOUND"],
  );
  assert.match(before.stderr, /^note: patterns are not compared with the tools of every, .* list\n$/);

  assert.equal((await run("list")).code, 0);
  const after = await findings();
  assert.equal(after.stderr, "");
  assert.deepEqual(
    after.diagnostics.map(({ code, path }) => [code, path]),
    [
      ["CONFIG_RULE_UNMATCHED", "guards.limits[0].tools[0]"],
      ["CONFIG_RULE_UNMATCHED", "hooks.before_call[0].tools[0]"],
      ["CONFIG_COMMAND_NOT_FOUND", undefined],
    ],
  );
  const [, inHook, script] = after.diagnostics;
  assert.equal(
    inHook?.message,
    'Rule "every:ech" matches nothing known: "every" has no tool that it matches',
  );
  assert.equal(inHook?.hint, 'did you mean "every:echo"?');
  // In the words of doctor.
  const { stdout: doctor } = await run("doctor");
  assert.match(doctor, /hooks\.before_call.* "every:ech" has no effect: "every" has no tool that it matches/);
  assert.ok(doctor.includes(script?.message ?? "-"), doctor);
  assert.match(script?.message ?? "", /^hook judge \(before_call\): its script "no\.mjs" does not exist \(/);
  assert.match((await run("policy", "check")).stdout, /Rule "every:ech" matches nothing known/);

  writeFileSync(directory.join("yes.mjs"), "");
  const prompts = ["every:prompts/any", "every:resources/file:*", "every:*", "*:delete_*", "every:echo"];
  write([limit(...prompts)], [hook("yes.mjs", "every__echo")]);
  assert.deepEqual(await findings(), { diagnostics: [], stderr: "" });
});
