import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

test("bash completes commands, subcommands, options and choices", async () => {
  await using directory = await makeTemporaryDirectory();
  const { stdout } = await runToolcrib(["completion", "bash"], { directory: directory.path });
  writeFileSync(directory.join("toolcrib.bash"), stdout);
  const complete = async (...words: readonly string[]) => {
    const list = ["toolcrib", ...words].map((word) => `'${word}'`).join(" ");
    const script = `source ./toolcrib.bash; COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _toolcrib; echo "\${COMPREPLY[@]}"`;
    return (await runProcess("bash", ["-c", script], { cwd: directory.path })).stdout.trim().split(" ");
  };
  assert.deepEqual(await complete("s"), [
    "secret",
    "serve",
    "sandbox",
    "status",
    "search",
    "save",
    "saved",
    "starlark",
    "sign",
  ]);
  assert.deepEqual(await complete("audit", "t"), ["tail"]);
  assert.deepEqual(await complete("audit", "tail", "--f"), ["--follow"]);
  assert.deepEqual(await complete("--json", "call", "x", "--ti"), ["--timeout"]);
  assert.deepEqual(await complete("completion", "z"), ["zsh"]);
});

test("the scripts of zsh and fish name every command", async () => {
  await using directory = await makeTemporaryDirectory();
  const [zsh, fish] = await Promise.all(
    ["zsh", "fish"].map((shell) => runToolcrib(["completion", shell], { directory: directory.path })),
  );
  assert.match(zsh?.stdout ?? "", /^#compdef toolcrib\n/);
  for (const name of ["init", "serve", "search", "audit"]) {
    assert.match(zsh?.stdout ?? "", new RegExp(`'${name}:`));
    assert.match(fish?.stdout ?? "", new RegExp(`-a ${name} `));
  }
});
