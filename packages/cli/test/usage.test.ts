import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { createProgram, exitCodeMeanings, exitCodeOf, type OutputStream } from "@toolcrib/cli";
import { checkGolden, makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { cleanEnvironment, commandLine, golden, launcherPath, transcript } from "./transcript.ts";

test("wrong usage is told with what may have been meant, and ends with 2", async () => {
  await using directory = await makeTemporaryDirectory();
  const text = await transcript(
    [
      ["serch", "files"],
      ["list", "--sever", "x"],
      ["call"],
      ["search", "x", "--limit", "0"],
      ["serve", "--auth", "jwt"],
      ["serve", "--stdio", "--listen", "127.0.0.1:0"],
      ["audit", "list", "--outcome", "good", "--json"],
      ["help", "exit-code"],
      ["help", "exit-codes"],
    ],
    { directory: directory.path },
  );
  checkGolden(golden("usage.txt"), text);
});

test("the help names every command and option", async () => {
  await using directory = await makeTemporaryDirectory();
  const text = await transcript([["--help"], ["help", "call"], ["help", "audit", "tail"], ["--version"]], {
    directory: directory.path,
  });
  checkGolden(golden("help.txt"), text);
});

test("an old Node is told so before anything else, by both entries", async () => {
  await using directory = await makeTemporaryDirectory();
  // Node's own loader may look at the version before the entry does, and must see the real one.
  const pretend = `data:text/javascript,${encodeURIComponent(
    'Object.defineProperty(process, "version", { value: "v20.9.0" });' +
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.9.0" } });',
  )}`;
  const run = (entry: readonly string[]) =>
    runProcess(process.execPath, ["--import", pretend, ...entry, "list"], {
      cwd: directory.path,
      env: cleanEnvironment(directory.path),
    });
  const [direct, launched] = await Promise.all([run(commandLine), run([launcherPath])]);
  assert.equal(direct.code, 2);
  assert.match(
    direct.stderr,
    /^Toolcrib needs Node\.js 24 or newer; this is v20\.9\.0\.\nGet a newer one from/,
  );
  assert.deepEqual(launched, direct);
});

/** The grammar, for a world that is no terminal. */
function grammar(): Command {
  const never = new AbortController().signal;
  const stream = { write: () => true } as unknown as OutputStream;
  return createProgram(
    {
      args: ["--no-color"],
      environment: {},
      directory: ".",
      userDirectory: "/",
      platform: "linux",
      stdin: process.stdin,
      stdout: stream,
      stderr: stream,
      now: () => 0,
      interrupted: never,
      holdSignals: () => ({ [Symbol.dispose]() {} }),
      outputClosed: never,
    },
    async () => {},
  );
}

type Command = ReturnType<typeof createProgram>;

test("the README's tables are those of the help", () => {
  const rows = grammar().commands.map((command) => {
    const usage = command.usage() === "[options]" ? "" : ` ${command.usage().replace("[options] ", "")}`;
    return `| \`${command.name()}${usage}\` | ${command.description()} |`;
  });
  const codes = exitCodeMeanings.map(({ code, meaning }) => `| ${code} | ${meaning} |`);
  const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  for (const row of [...rows, ...codes]) assert.ok(readme.includes(`\n${row}\n`), row);
});

test("the reference of the command line is the help of every command", () => {
  const sections: string[] = [];
  const add = (command: Command, name: string) => {
    const help = stripVTControlCharacters(command.helpInformation()).trimEnd();
    // Said once, at the top.
    const own = command.parent === null ? help : help.replace(/\n\nGlobal Options:\n[\s\S]*$/, "");
    sections.push(`## ${name}\n\n\`\`\`text\n${own}\n\`\`\``);
    for (const inner of command.commands) add(inner, `${name} ${inner.name()}`);
  };
  add(grammar(), "toolcrib");
  const codes = exitCodeMeanings.map(({ code, meaning }) => `| ${code} | ${meaning} |`);
  const text = [
    "# Command line",
    "The help of every command, made from the grammar (`npm test -- packages/cli --update`). `toolcrib help environment` and `toolcrib help configuration` tell the rest.",
    `## Exit codes\n\n| code | meaning |\n|---|---|\n${codes.join("\n")}`,
    ...sections,
  ].join("\n\n");
  checkGolden(join(import.meta.dirname, "../../../docs/reference/cli.md"), text);
});

test("every code leads to the exit code that is documented for it", () => {
  const check = (code: string, expected: number) => assert.equal(exitCodeOf(code), expected, code);
  check("POLICY_DENIED", 3);
  check("TOOL_NOT_FOUND", 4);
  check("CLI_TOOL_NOT_FOUND", 4);
  check("SERVER_NOT_FOUND", 4);
  check("CONFIG_SECRET_NOT_FOUND", 2);
  check("CLI_CONFIG_NOT_FOUND", 2);
  check("PROCESS_COMMAND_NOT_FOUND", 5);
  check("UPSTREAM_UNAVAILABLE", 5);
  check("UPSTREAM_ERROR", 1);
  check("CALL_TIMEOUT", 5);
  check("MCP_UNREACHABLE", 5);
  check("MCP_UNAUTHORIZED", 2);
  check("HTTP_ADDRESS_IN_USE", 5);
  check("RESULT_TOO_LARGE", 1);
  check("SOMETHING_NEW", 1);
});
