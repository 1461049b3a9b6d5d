/** `toolcrib saved publish`: from a run to a package that another home installs, tests and serves to a client. */

import assert from "node:assert/strict";
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { echoStdioPath, fixtureCommand, makeTemporaryDirectory } from "@toolcrib/testing";
import { cleanEnvironment, commandLine, runToolcrib } from "./transcript.ts";

const toolId = "acme.text.shout";
const allow = ["--allow-tool", "echo:echo"];

/** A machine: a folder with a configuration and a home. */
interface Machine {
  readonly folder: string;
  run(...args: readonly string[]): ReturnType<typeof runToolcrib>;
  /** Runs a command that must succeed. @returns everything that it wrote */
  done(...args: readonly string[]): Promise<string>;
}

function machineIn(folder: string, config: object): Machine {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "toolcrib.yaml"), JSON.stringify(config));
  const run: Machine["run"] = (...args) => runToolcrib(args, { directory: folder });
  return {
    folder,
    run,
    async done(...args) {
      const { code, stdout, stderr } = await run(...args);
      assert.equal(code, 0, `${args.join(" ")}\n${stdout}${stderr}`);
      return stdout + stderr;
    },
  };
}

const echoServer = {
  id: "echo",
  transport: { kind: "stdio", ...fixtureCommand(echoStdioPath) },
  trust_state: "certified",
};

/** Saves the program on the machine of the author. */
async function save(author: Machine, code: string): Promise<void> {
  writeFileSync(join(author.folder, "shout.star"), `# Says a text loudly.\n${code}\n`);
  writeFileSync(
    join(author.folder, "schema.json"),
    JSON.stringify({ type: "object", properties: { text: { type: "string" } }, required: ["text"] }),
  );
  await author.done("save", "shout.star", "--schema", "schema.json");
}

test("a saved tool is published, installed elsewhere with its reach, tested and called by a client", async () => {
  await using directory = await makeTemporaryDirectory();
  const author = machineIn(directory.join("author"), { tool_servers: [echoServer] });
  const registry = directory.join("registry");
  await author.done("registry", "init", registry, "--name", "tools");
  await save(author, "return echo.echo(text=params.text).upper()");
  await author.done("saved", "test", "shout", "--record", "--params", '{"text": "hello"}');
  const published = await author.done(
    ...["saved", "publish", "shout", "--id", toolId, "--license", "MIT", "--author", "Acme"],
    ...["--registry", registry],
  );
  assert.match(published, /^Published shout as acme\.text\.shout 1\.0\.0 in .*: 1 test, /m);
  assert.match(published, /^Its program can call echo:echo$/m);
  assert.match(published, /Its tests contain 1 recorded answer of tools/);
  const again = await author.done("saved", "publish", "shout", "--id", toolId, "--registry", registry);
  assert.match(again, /1\.0\.0 is released already, and nothing changed since/);

  const user = machineIn(directory.join("user"), {
    tool_servers: [echoServer],
    packages: { [toolId]: { trust_state: "certified" } },
  });
  const from = ["install", toolId, "--registry", registry];
  const refused = await user.run(...from);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /can call these tools:\n {2}echo:echo\n/);
  assert.match(refused.stderr, /INSTALL_REACH_NOT_APPROVED: Nothing is installed: .*echo:echo/);
  assert.match(refused.stderr, /hint: .*--allow-tool echo:echo/);
  assert.equal((await user.run(...from, "--yes")).code, 1, "--yes approves no tool");
  assert.equal((await user.run(...from, "--allow-tool", "echo:other")).code, 1);
  await user.done(...from, ...allow);
  const info = await user.done("info", toolId);
  assert.match(info, /^Can call +echo:echo$/m);
  assert.match(info, /^License +MIT$/m);

  const untested = await user.run("test", toolId);
  assert.match(untested.stderr, /CLI_TEST_CALLS_OTHERS: .*can call tools that may write: echo:echo/);
  assert.match(await user.done("test", toolId, "--allow-calls"), /1 passed, 0 failed/);
  assert.match(
    await user.done("test", toolId, "--replay"),
    /\(recorded\)\n.*1 passed, 0 failed[\s\S]*Replayed: 1 test/,
  );

  const client = new Client({ name: "client", version: "1" });
  const args = [...commandLine, "serve", "--stdio"];
  const env = cleanEnvironment(user.folder) as Record<string, string>;
  await client.connect(
    new StdioClientTransport({ command: process.execPath, args, env, cwd: user.folder, stderr: "ignore" }),
  );
  try {
    const result = await client.callTool({ name: toolId, arguments: { text: "hi" } });
    assert.deepEqual(result.content, [{ type: "text", text: '"HI"' }]);
  } finally {
    await client.close();
  }
  const trail = (await user.done("audit", "list", "--json")).trim();
  assert.match(trail, /acme\.text\.shout:shout/);
  assert.match(trail, /echo:echo/);
});

test("a release that can call more is a major version, and is approved again", async () => {
  await using directory = await makeTemporaryDirectory();
  const author = machineIn(directory.join("author"), { tool_servers: [echoServer] });
  await save(author, "return echo.echo(text=params.text)");
  const publish = (...more: readonly string[]) =>
    author.run("saved", "publish", "shout", "--id", toolId, ...more);
  assert.equal((await publish()).code, 0);
  await save(author, 'return echo.echo(text=params.text) + "!"');
  const patch = await publish();
  assert.match(patch.stdout, /^Published shout as acme\.text\.shout 1\.0\.1 /m);
  await save(author, "return echo.echo(text=params.text) + str(echo.structured(value=1))");
  await author.done("saved", "approve", "shout");
  const low = await publish("--bump", "minor");
  assert.match(
    low.stderr,
    /CLI_PUBLISH_REFUSED: Cannot publish it as a minor release: it can call echo:structured/,
  );
  const early = await publish("--package-version", "1.5.0");
  assert.match(early.stderr, /CLI_PUBLISH_REFUSED: .*2\.0\.0 or later/s);
  const major = await publish();
  assert.match(major.stdout, /^Published shout as acme\.text\.shout 2\.0\.0 /m);

  const user = machineIn(directory.join("user"), { tool_servers: [echoServer] });
  for (const version of ["1.0.0", "1.0.1", "2.0.0"]) {
    const name = `${toolId}-${version}.mcpkg`;
    cpSync(join(author.folder, name), join(user.folder, name));
  }
  await user.done("install", `${toolId}-1.0.0.mcpkg`, ...allow);
  const same = await user.done("install", `${toolId}-1.0.1.mcpkg`);
  assert.match(same, /echo:echo \(approved before\)/);
  const wider = await user.run("install", `${toolId}-2.0.0.mcpkg`, "--yes");
  assert.equal(wider.code, 1);
  assert.match(wider.stderr, /can call echo:structured, which you have not approved/);
  assert.match(await user.done("info"), /acme\.text\.shout +1\.0\.1/);
  await user.done("install", `${toolId}-2.0.0.mcpkg`, "--allow-tool", "echo:structured");
  // What was approved for one publisher is not approved for another one with the same toolId.
  await user.done("sign", `${toolId}-1.0.0.mcpkg`);
  const other = await user.run("install", `${toolId}-1.0.0.mcpkg`, "--allow-downgrade");
  const [key] = /sha256:[0-9a-f]{64}$/m.exec(/add --allow-key .*$/m.exec(other.stderr)?.[0] ?? "") ?? [];
  const taken = await user.run(
    "install",
    `${toolId}-1.0.0.mcpkg`,
    "--allow-downgrade",
    "--allow-key",
    key ?? "",
  );
  assert.match(taken.stderr, /INSTALL_REACH_NOT_APPROVED/);
});

test("what is missing, undeclared or not approved is said before it runs", async () => {
  await using directory = await makeTemporaryDirectory();
  const author = machineIn(directory.join("author"), { tool_servers: [echoServer] });
  await save(author, "return echo.echo(text=params.text)");
  await author.done("saved", "publish", "shout", "--id", toolId);
  const archive = `${toolId}-1.0.0.mcpkg`;

  const bare = machineIn(directory.join("bare"), { packages: { [toolId]: { trust_state: "certified" } } });
  cpSync(join(author.folder, archive), join(bare.folder, archive));
  const installed = await bare.done("install", archive, ...allow);
  assert.match(installed, /warning: these tools do not exist here, and calls fail until they do: echo:echo/);
  const call = await bare.run("call", toolId, '{"text": "x"}');
  assert.equal(call.code, 1);
  assert.match(call.stdout + call.stderr, /needs a tool that does not exist here: echo:echo/);
  const trial = await bare.run("test", archive);
  assert.equal(trial.code, 1);

  // A publisher who changes the program and keeps the declaration.
  await author.done("saved", "export", "shout", "out", "--id", toolId);
  const program = join(author.folder, "out/main.star");
  writeFileSync(program, `${readFileSync(program, "utf8")}\nx = echo.fail()\n`);
  for (const command of [
    ["validate", "out"],
    ["pack", "out"],
    ["install", "./out", ...allow],
  ]) {
    const result = await author.run(...command);
    assert.equal(result.code, 1, command.join(" "));
    assert.match(result.stderr, /echo has no tool fail/);
  }
  assert.ok(!existsSync(join(author.folder, ".mcp/tools", toolId)));

  // A program that chooses its tools must name them all.
  await save(author, "return [tools[one](text=params.text) for one in [params.text]]");
  await author.done("saved", "approve", "shout");
  const dynamic = await author.run("saved", "publish", "shout", "--id", "acme.text.any");
  assert.match(dynamic.stderr, /CLI_PUBLISH_REFUSED: .*chooses tools at run time/);
  assert.match(
    await author.done("saved", "publish", "shout", "--id", "acme.text.any", "--tool", "echo:echo"),
    /Its program can call echo:echo$/m,
  );
});
