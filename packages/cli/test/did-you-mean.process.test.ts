/** Unknown names are refused with the nearest name that something has. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { echoServer, runToolcrib } from "./transcript.ts";

test("refused names come with the nearest one", async () => {
  await using directory = await makeTemporaryDirectory();
  const personal = { ...echoServer("files"), data_labels: ["personal"], trust_state: "verified" };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [personal] }));
  mkdirSync(directory.join("package"));
  const run = (...args: readonly string[]) => runToolcrib(args, { directory: directory.path, stdin: "x" });
  const prepare: readonly (readonly string[])[] = [
    ["secret", "set", "github-token"],
    ["pause", "tool", "files:delete_*"],
    ["call", "files:echo", "--arg", "text=x"],
  ];
  for (const args of prepare) assert.equal((await run(...args)).code, 0, args.join(" "));
  const cases: readonly (readonly [args: readonly string[], near: string])[] = [
    [["secret", "rm", "githb-token"], "did you mean github-token?"],
    [["resume", "tool", "files:delet_*"], "did you mean files:delete_*?"],
    [["labels", "forget", "cil"], "did you mean cli?"],
    [["labels", "show", "cil"], "did you mean cli?"],
    [["why", "files:ecko"], "did you mean files:echo?"],
    [["why", "files__ecko"], "did you mean files__echo?"],
    [["list", "--server", "flies"], "did you mean files?"],
    [["why", "fs:echo"], "did you mean files:echo?"],
    [["call", "fs:echo"], "did you mean files:echo?"],
    [["call", "files:ecko"], "did you mean files:echo?"],
    [["approve", "flies"], "did you mean files?"],
    [["catalog", "show", "githb"], "did you mean github?"],
    [["add", "githb"], "did you mean github? A package of a registry is named with it: npm:githb"],
    [["validate", "pakcage"], "did you mean package?"],
    [["stat"], "did you mean status?"],
    [["help", "polcy"], "did you mean policy?"],
  ];
  for (const [args, near] of cases) {
    const { stdout, stderr } = await run(...args);
    assert.ok(`${stdout}${stderr}`.includes(near), `${args.join(" ")}\n${stdout}${stderr}`);
  }
  // Nothing is suggested where nothing is near.
  const far = await run("secret", "rm", "something-else");
  assert.doesNotMatch(far.stderr, /did you mean/);
  assert.match(far.stderr, /see toolcrib secret list/);
});
