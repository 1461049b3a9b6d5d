/** Pastes the commands that `serve` prints into a shell, like a reader. */

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import {
  createHttpClient,
  HttpTransport,
  openConnection,
  SseTransport,
  staticCredentials,
} from "@toolcrib/mcp";
import {
  makeTemporaryDirectory,
  runProcess,
  type ServerProcess,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { skipWithoutTerminal, TerminalRun } from "./terminal.ts";
import { cleanEnvironment, echoServer, launcherPath, runToolcrib, startServe } from "./transcript.ts";

let directory: TemporaryDirectory;
let gateway: ServerProcess;
let printed: string;

before(async () => {
  directory = await makeTemporaryDirectory();
  // A project that has Toolcrib installed, in a folder whose name must be quoted.
  const project = directory.join("it's a project");
  mkdirSync(join(project, "node_modules/.bin"), { recursive: true });
  // The folder of a client that starts servers.
  mkdirSync(directory.join(".config/Claude"), { recursive: true });
  symlinkSync(launcherPath, join(project, "node_modules/.bin/toolcrib"));
  writeFileSync(join(project, "package.json"), "{}");
  writeFileSync(join(project, "toolcrib.json"), JSON.stringify({ tool_servers: [echoServer("echo")] }));
  const args = ["--home", directory.join("my home"), "--listen", "127.0.0.1:0"];
  gateway = await startServe(args, { directory: project, env: { HOME: directory.path } });
  await waitUntil(() => gateway.stdout().includes("Press Ctrl-C to stop."));
  printed = gateway.stdout();
});

after(async () => {
  await gateway[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

function linesOf(pattern: RegExp): string[] {
  return printed.split("\n").flatMap((line) => (pattern.test(line) ? [line.trim()] : []));
}

function paste(line: string) {
  const path = `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
  const project = directory.join("it's a project");
  const env = { ...cleanEnvironment(directory.path), PATH: path };
  return runProcess("sh", ["-c", line], { cwd: project, env });
}

function token(): string {
  return readFileSync(directory.join("my home/tokens/default"), "utf8").trim();
}

test("every printed command works", async () => {
  const commands = linesOf(/^ {2}npx toolcrib /);
  const words = (line: string) => line.replace(/.*--home '[^']*' /, "");
  assert.deepEqual(commands.map(words), [
    "connect",
    "connect claude-desktop",
    "list",
    "search echo",
    `call echo__echo '{"text":"hello"}'`,
    "trace last",
  ]);
  // Those that write ask first, and nobody answers here.
  const shown = commands.map((line) => (/ connect [a-z]/.test(line) ? `${line} --print` : line));
  const first = await Promise.all(shown.slice(0, -1).map(paste));
  // The last call is made by then.
  const outcomes = [...first, await paste(shown.at(-1) ?? "")];
  for (const [at, { code, stdout, stderr }] of outcomes.entries()) {
    assert.equal(code, 0, `${commands[at]}\n${stdout}${stderr}`);
  }
  const [, assistant, list, search, call, trace] = outcomes.map(({ stdout }) => stdout);
  assert.match(assistant ?? "", /"command": /);
  assert.match(list ?? "", /\becho__echo\b/);
  assert.match(search ?? "", /\becho__echo\b/);
  assert.equal(call, "hello\n");
  assert.match(trace ?? "", /\becho:echo\b/);
});

test("the addresses and the header connect a client", async () => {
  // The output is not a terminal, so it names the file of the token.
  assert.equal(printed.includes(token()), false);
  const file = /^ {2}where TOKEN is the content of (.*)$/m.exec(printed)?.[1] ?? "";
  const value = readFileSync(file, "utf8").trim();
  const [, name = "", form = ""] = /^ {2}header {2}(\w+): (.*)$/m.exec(printed) ?? [];
  const url = /^ {2}URL {5}(\S+)$/m.exec(printed)?.[1] ?? "";
  const sse = /http:\/\/\S+\/sse/.exec(printed)?.[0] ?? "";
  const httpClient = createHttpClient();
  const options = { clientInfo: { name: "paste-test", version: "1" } };
  const credentials = staticCredentials({ [name]: form.replace("TOKEN", value) });
  try {
    for (const transport of [
      new HttpTransport(httpClient, { url, credentials }),
      new SseTransport(httpClient, { url: sse, credentials }),
    ]) {
      await using connection = await openConnection(transport, {}, options);
      const { tools } = await connection.request("tools/list", {});
      assert.match(JSON.stringify(tools), /"echo__echo"/);
    }
  } finally {
    await httpClient.destroy();
  }
});

test("on a terminal of 80 columns, everything fits and the token is shown", {
  skip: skipWithoutTerminal,
}, async () => {
  await using home = await makeTemporaryDirectory();
  writeFileSync(home.join("toolcrib.json"), JSON.stringify({ tool_servers: [echoServer("echo")] }));
  mkdirSync(home.join("node_modules/.bin"), { recursive: true });
  symlinkSync(launcherPath, home.join("node_modules/.bin/toolcrib"));
  await using run = new TerminalRun(["serve", "--listen", "127.0.0.1:0"], { directory: home.path }, [80, 40]);
  await waitUntil(() => run.text.includes("Press Ctrl-C to stop."));
  run.press("\u0003");
  await run.end();
  const served = run.text.slice(run.text.indexOf("Toolcrib "), run.text.indexOf("code="));
  const secret = readFileSync(home.join(".toolcrib/tokens/default"), "utf8").trim();
  assert.ok(served.includes(`Authorization: Bearer ${secret}`));
  // A slow start is shown in lines that are replaced.
  for (const line of served.split(/\r*\n|\r\u001b\[[JK]/)) assert.ok(line.length <= 80, line);
});

test("messages of errors and warnings name the command as it works here, too", async () => {
  const project = directory.join("it's a project");
  const { first_contact: _, ...asking } = echoServer("echo") as { readonly [name: string]: unknown };
  writeFileSync(join(project, "asking.json"), JSON.stringify({ tool_servers: [asking] }));
  const run = (...args: readonly string[]) =>
    runToolcrib(["--config", "asking.json", ...args], { directory: project, env: { HOME: directory.path } });
  const refused = await run("call", "echo:echo");
  assert.match(refused.stderr, /^error TOOL_UNAVAILABLE: .* approve it: npx toolcrib approve echo$/m);
  const listed = await run("list");
  assert.match(listed.stderr, /^warning: .* npx toolcrib approve echo$/m);
});
