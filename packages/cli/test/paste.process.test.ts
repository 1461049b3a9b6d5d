/** Pastes the commands that `serve` prints into a shell, like a reader. */

import assert from "node:assert/strict";
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
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
import { cleanEnvironment, echoServer, launcherPath, startServe } from "./transcript.ts";

let directory: TemporaryDirectory;
let gateway: ServerProcess;
let printed: string;

before(async () => {
  directory = await makeTemporaryDirectory();
  // A project that has Toolcrib installed, in a folder whose name must be quoted.
  const project = directory.join("it's a project");
  mkdirSync(join(project, "node_modules/.bin"), { recursive: true });
  symlinkSync(launcherPath, join(project, "node_modules/.bin/toolcrib"));
  const modules = join(import.meta.dirname, "../../../node_modules");
  symlinkSync(join(modules, ".bin/mcp-inspector"), join(project, "node_modules/.bin/inspector"));
  symlinkSync(join(modules, "@modelcontextprotocol"), join(project, "node_modules/@modelcontextprotocol"));
  writeFileSync(join(project, "package.json"), "{}");
  writeFileSync(join(project, "toolcrib.json"), JSON.stringify({ tool_servers: [echoServer("echo")] }));
  // Stand-ins for client programs that are not installed: each records its arguments.
  mkdirSync(directory.join("bin"));
  for (const name of ["claude", "code"]) {
    writeFileSync(
      directory.join("bin", name),
      `#!/bin/sh\nprintf '%s\\n' "$@" > "${directory.join(name)}"\n`,
    );
    chmodSync(directory.join("bin", name), 0o755);
  }
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
  const path = `${directory.join("bin")}:${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`;
  const project = directory.join("it's a project");
  const env = { ...cleanEnvironment(directory.path), PATH: path };
  return runProcess("sh", ["-c", line], { cwd: project, env });
}

function token(): string {
  return readFileSync(directory.join("my home/tokens/default"), "utf8").trim();
}

/** Inserts the token, as the reader of the output does. */
function withToken(text: string): string {
  return text.replace("Bearer TOKEN", `Bearer ${token()}`);
}

test("every printed command works", async () => {
  const commands = linesOf(/^ {2}npx toolcrib /);
  const name = (line: string) =>
    /(connect|list|search|call|audit)/.exec(line.replace(/.*--home '[^']*'/, ""))?.[0];
  assert.deepEqual(commands.map(name), ["connect", "list", "search", "call", "audit"]);
  const outcomes = await Promise.all(commands.map(paste));
  for (const [at, { code, stdout, stderr }] of outcomes.entries()) {
    assert.equal(code, 0, `${commands[at]}\n${stdout}${stderr}`);
  }
  const [, list, search, call, audit] = outcomes.map(({ stdout }) => stdout);
  assert.match(list ?? "", /\becho__echo\b/);
  assert.match(search ?? "", /\becho__echo\b/);
  assert.equal(call, "hello\n");
  assert.match(audit ?? "", /\bserver\.started\b/);
});

test("the inspector's command lists the tools", async () => {
  const [command = ""] = linesOf(/inspector --cli/);
  const { code, stdout, stderr } = await paste(command);
  assert.equal(code, 0, `${command}\n${stdout}${stderr}`);
  assert.match(stdout, /"name": "echo__echo"/);
});

test("the clients' configuration and the SSE address connect with the token", async () => {
  // The output is not a terminal, so it names the file of the token.
  assert.equal(printed.includes(token()), false);
  assert.match(printed, /^TOKEN is the content of .*tokens\/default$/m);
  const json = withToken(printed.slice(printed.indexOf("{\n"), printed.indexOf("\n}\n") + 2));
  const { type, url, headers } = JSON.parse(json).mcpServers.toolcrib;
  assert.equal(type, "http");
  assert.deepEqual(headers, { Authorization: `Bearer ${token()}` });
  const sse = /http:\/\/\S+\/sse(?= \(with the same header\))/.exec(printed)?.[0] ?? "";
  const httpClient = createHttpClient();
  const options = { clientInfo: { name: "paste-test", version: "1" } };
  const credentials = staticCredentials(headers);
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

test("the one-liners give Claude Code and VS Code the address and the header", async () => {
  for (const pattern of [/^ {2}claude /, /^ {2}code /]) {
    const [command = ""] = linesOf(pattern);
    const { code, stderr } = await paste(withToken(command));
    assert.deepEqual([code, stderr], [0, ""], command);
  }
  const args = readFileSync(directory.join("claude"), "utf8").trimEnd().split("\n");
  const header = `Authorization: Bearer ${token()}`;
  assert.deepEqual(args, [
    "mcp",
    "add",
    "--transport",
    "http",
    "toolcrib",
    `${gateway.url}/mcp`,
    "--header",
    header,
  ]);
  const [flag, json = ""] = readFileSync(directory.join("code"), "utf8").trimEnd().split("\n");
  assert.equal(flag, "--add-mcp");
  const expected = { name: "toolcrib", type: "http", url: `${gateway.url}/mcp` };
  assert.deepEqual(JSON.parse(json), { ...expected, headers: { Authorization: `Bearer ${token()}` } });
});
