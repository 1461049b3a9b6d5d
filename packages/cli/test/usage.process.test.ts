import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { commandLineReference, createCommandLineCheck, exitCodeOf } from "@toolcrib/cli";
import { checkGolden, makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { cleanEnvironment, commandLine, golden, launcherPath, transcript } from "./transcript.ts";

test("wrong usage is reported with a suggestion, and exits with 2", async () => {
  await using directory = await makeTemporaryDirectory();
  const text = await transcript(
    [
      ["serch", "files"],
      ["start"],
      ["stop"],
      ["remove"],
      ["list", "--sever", "x"],
      ["call"],
      ["search", "x", "--limit", "0"],
      ["serve", "--auth", "jwt"],
      ["serve", "--port", "3000"],
      ["serve", "--stdio", "--listen", "127.0.0.1:0"],
      ["audit", "list", "--outcome", "good", "--json"],
      ["secret", "set"],
      ["secret", "sett"],
      ["egress", "--manifest", "absent.yaml", "--", "env"],
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

test("both entry points first report a Node that is too old", async () => {
  await using directory = await makeTemporaryDirectory();
  // Node's own loader can read the version before the entry does, and must see the real one. A Node that old has no SQLite.
  const pretend = `data:text/javascript,${encodeURIComponent(
    'import Module from "node:module"; const load = Module._load;' +
      'Module._load = (id, ...rest) => { if (id === "node:sqlite") throw new Error("No SQLite"); return load(id, ...rest); };' +
      'Object.defineProperty(process, "version", { value: "v20.9.0" });' +
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.9.0" } });',
  )}`;
  const run = (entry: readonly string[]) =>
    runProcess(process.execPath, ["--import", pretend, ...entry, "serve"], {
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

const reference = commandLineReference();

test("the README has the tables of commands and exit codes of the reference", async () => {
  const rows = (await reference).split("\n").filter((line) => /^\| (?:`|\d)/.test(line));
  const readme = readFileSync(join(import.meta.dirname, "../README.md"), "utf8");
  assert.ok(rows.length > 25);
  for (const row of rows) assert.ok(readme.includes(`\n${row}\n`), row);
});

test("every example in the help is a valid command line", async () => {
  const examples = [...(await reference).matchAll(/^ {2}(?<line>toolcrib .*)$/gm)].flatMap(
    ({ groups }) => groups?.["line"] ?? [],
  );
  assert.ok(examples.length > 20);
  const check = await createCommandLineCheck();
  await using directory = await makeTemporaryDirectory();
  // A shell divides each line into words, and starts nothing.
  const shell = `toolcrib() { printf '%s\\0' "$@" >&9; }; exec 9>&1; eval "$1" >/dev/null`;
  for (const line of examples) {
    const { stdout } = await runProcess("bash", ["-c", shell, "bash", line], { cwd: directory.path });
    assert.equal(check(stdout.split("\0").slice(0, -1)), undefined, line);
  }
});

test("every error code has its documented exit code", () => {
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
  check("EGRESS_UNREACHABLE", 5);
  check("EGRESS_TIMED_OUT", 5);
  check("EGRESS_HOST_DENIED", 1);
  check("MCP_UNAUTHORIZED", 2);
  check("HTTP_ADDRESS_IN_USE", 5);
  check("RESULT_TOO_LARGE", 1);
  check("SOMETHING_NEW", 1);
});
