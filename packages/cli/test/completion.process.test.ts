/** The completion scripts in real shells, with names from a home and from a running gateway. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import {
  echoStdioPath,
  fixtureCommand,
  makeTemporaryDirectory,
  runProcess,
  runsAll,
  waitUntil,
} from "@toolcrib/testing";
import { commandLine, runToolcrib, startServe } from "./transcript.ts";

type Shell = "bash" | "zsh" | "fish";

const isInstalled = (shell: Shell) =>
  ["/bin", "/usr/bin", "/usr/local/bin"].some((folder) => existsSync(`${folder}/${shell}`));

async function setUp(more: object = {}) {
  const directory = await makeTemporaryDirectory();
  const transport = { kind: "stdio", ...fixtureCommand(echoStdioPath) };
  const config = {
    tool_servers: [
      { id: "files", transport, trust_state: "certified" },
      { id: "off", transport, trust_state: "certified", enabled: false },
    ],
    serve: { listen: "127.0.0.1:0" },
    profiles: { agents: { servers: ["files"] } },
    ...more,
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  mkdirSync(directory.join("bin"));
  const program = [process.execPath, ...commandLine].map((word) => `'${word}'`).join(" ");
  writeFileSync(directory.join("bin/toolcrib"), `#!/bin/sh\nexec ${program} "$@"\n`, { mode: 0o755 });
  const setting = { directory: directory.path };
  for (const shell of ["bash", "zsh", "fish"] as const) {
    const { stdout } = await runToolcrib(["completion", shell], setting);
    writeFileSync(directory.join(`toolcrib.${shell}`), stdout);
  }
  const env = {
    HOME: directory.path,
    XDG_CONFIG_HOME: undefined,
    TOOLCRIB_HOME: undefined,
    PATH: `${directory.join("bin")}:${process.execPath.replace(/\/[^/]*$/, "")}:/usr/bin:/bin`,
  };
  /** The words that a shell offers as the last of `words`. */
  const complete = async (shell: Shell, ...words: readonly string[]): Promise<readonly string[]> => {
    const [script, ...args] = scriptOf(shell, words);
    const outcome = await runProcess(
      shell,
      [script, ...args].filter((one) => one !== undefined),
      {
        cwd: directory.path,
        env,
      },
    );
    assert.equal(outcome.stderr, "", `${shell} ${words.join(" ")}`);
    return outcome.stdout
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => line.split("\t")[0] ?? "");
  };
  return { directory, setting, env, complete, run: (...words: string[]) => runToolcrib(words, setting) };
}

function scriptOf(shell: Shell, words: readonly string[]): readonly string[] {
  const list = ["toolcrib", ...words].map((word) => `'${word}'`).join(" ");
  switch (shell) {
    case "bash":
      return [
        "-c",
        `source ./toolcrib.bash; COMP_WORDS=(${list}); COMP_CWORD=${words.length}; _toolcrib; printf '%s\\n' "\${COMPREPLY[@]}"`,
      ];
    case "zsh":
      // The functions of the completion system print what they are asked to offer.
      return [
        "-fc",
        `compdef() { :; }; compadd() { print -l -- "\${(@P)2}"; }; _describe() { print -l -- "\${(@P)2%%:*}"; }; _files() { :; }
source ./toolcrib.zsh; words=(${list}); CURRENT=${words.length + 1}; _toolcrib`,
      ];
    case "fish":
      return ["--no-config", "-c", `source ./toolcrib.fish; complete -C "toolcrib ${words.join(" ")}"`];
  }
}

test("bash completes commands, subcommands, options and choices", async () => {
  const { directory, complete } = await setUp();
  await using _directory = directory;
  const first = await complete("bash", "s");
  for (const word of ["secret", "serve", "status", "search"]) assert.ok(first.includes(word), first.join());
  assert.ok(first.every((word) => word.startsWith("s")));
  assert.deepEqual(await complete("bash", "audit", "t"), ["tail"]);
  assert.deepEqual(await complete("bash", "audit", "tail", "--f"), ["--follow"]);
  assert.deepEqual(await complete("bash", "--json", "call", "x", "--ti"), ["--timeout"]);
  assert.deepEqual(await complete("bash", "--home", "call", "completion", "z"), ["zsh"]);
});

test("names come from the home without a gateway, and no server starts", async () => {
  const { directory, complete, run } = await setUp();
  await using _directory = directory;
  assert.deepEqual(await complete("bash", "remove", ""), [
    ...(await complete("bash", "remove", "--")),
    "files",
    "off",
  ]);
  assert.equal(existsSync(directory.join(".toolcrib/logs")), false);
  assert.ok(!(await complete("bash", "call", "f")).some((word) => word.startsWith("files")));
  assert.equal((await run("list")).code, 0);
  assert.deepEqual(await complete("bash", "call", "files__ec"), ["files__echo"]);
  assert.deepEqual(await complete("bash", "disable", "tool", "files__ec"), ["files__echo"]);
  assert.deepEqual(await complete("bash", "enable", "server", "o"), ["off"]);
  assert.deepEqual(await complete("bash", "serve", "--stdio", "--profile", "a"), ["agents"]);
  assert.deepEqual(await complete("bash", "connect", "claude-d"), ["claude-desktop"]);
  assert.deepEqual(await complete("bash", "explain", "CALL_TIMEO"), ["CALL_TIMEOUT"]);
  // What was remembered counts until the configuration changes.
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: [], profiles: { other: { servers: ["x"] } } }),
  );
  assert.deepEqual(await complete("bash", "serve", "--stdio", "--profile", "o"), ["other"]);
  writeFileSync(directory.join("toolcrib.json"), "{ damaged");
  assert.deepEqual(await complete("bash", "remove", "f"), []);
});

test("names come from the running gateway, and names with metacharacters are left out", async () => {
  const { directory, setting, env, complete } = await setUp();
  await using _directory = directory;
  await using gateway = await startServe(["--auth", "none"], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  mkdirSync(directory.join(".toolcrib/tools"), { recursive: true });
  for (const name of ["x$(touch pwned)", "x;touch pwned", "x`touch pwned`", "xplain"])
    writeFileSync(directory.join(".toolcrib/tools", name), "");
  for (const shell of ["bash", "zsh", "fish"] as const) {
    // Machines without the others check bash, as npm test does; npm run verify checks all.
    if (!isInstalled(shell) || (shell !== "bash" && !runsAll)) continue;
    const tools = await complete(shell, "call", "files__ec");
    assert.ok(tools.includes("files__echo"), `${shell}: ${tools.join()}`);
    const saved = await complete(shell, "saved", "show", "x");
    assert.ok(saved.includes("xplain"), `${shell}: ${saved.join()}`);
    assert.ok(!saved.some((word) => /[;$()`]/.test(word)), `${shell}: ${saved.join()}`);
    const sources = await complete(shell, "disable", "server", "");
    assert.ok(
      ["files", "off"].every((id) => sources.includes(id)),
      `${shell}: ${sources.join()}`,
    );
  }
  assert.equal(existsSync(directory.join("pwned")), false);
  const outcome = await runProcess(directory.join("bin/toolcrib"), ["call", "files__echo", '{"text":"x"}'], {
    cwd: directory.path,
    env,
  });
  assert.equal(outcome.code, 0, outcome.stderr);
  const calls = await complete("bash", "audit", "show", "0");
  assert.ok(
    calls.some((id) => /^[0-9a-f-]{36}$/.test(id)),
    calls.join(),
  );
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
