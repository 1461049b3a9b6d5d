/** `toolcrib token create`: where the token is printed. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { skipWithoutTerminal, TerminalRun } from "./terminal.ts";
import { runToolcrib } from "./transcript.ts";

test("token create prints the token into no pipe without --print, and with it nothing else", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const tokenOf = (name: string) => readFileSync(directory.join(`.toolcrib/tokens/${name}`), "utf8").trim();
  const plain = await runToolcrib(["token", "create", "plain"], setting);
  const json = await runToolcrib(["token", "create", "json", "--json"], setting);
  for (const [name, { stdout, stderr }] of Object.entries({ plain, json })) {
    assert.match(tokenOf(name), /^tcb_/);
    assert.ok(!`${stdout}${stderr}`.includes(tokenOf(name)), name);
  }
  const printed = await runToolcrib(["token", "create", "printed", "--print"], setting);
  assert.equal(printed.stdout, `${tokenOf("printed")}\n`);
  assert.ok(!printed.stderr.includes(tokenOf("printed")));
  const both = await runToolcrib(["token", "create", "both", "--print", "--json"], setting);
  assert.equal((JSON.parse(both.stdout) as { token: string }).token, tokenOf("both"));
});

test("token create prints the token on a terminal", { skip: skipWithoutTerminal }, async () => {
  await using directory = await makeTemporaryDirectory();
  await using run = new TerminalRun(["token", "create", "desk"], { directory: directory.path }, [80, 24]);
  await waitUntil(() => run.text.includes("code="));
  const token = readFileSync(directory.join(".toolcrib/tokens/desk"), "utf8").trim();
  assert.ok(run.text.includes(`Authorization: Bearer ${token}`), run.text);
  await run.end();
});
