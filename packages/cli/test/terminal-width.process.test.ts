/**
 * No sentence, list or hint is wider than a terminal of 80 columns. Lines that are to be copied or that cannot be
 * broken stay whole: command lines, paths, URLs and JSON.
 */

import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { shellLine, skipWithoutTerminal, Terminal } from "./terminal.ts";
import { echoServer, launcherPath, runToolcrib, startServe } from "./transcript.ts";

const columns = 80;

/** Command lines in the home of a new user, in their order. */
const commands: readonly string[] = [
  "",
  "--help",
  "status",
  "connect",
  "token list",
  "token create desk",
  "token revoke desk",
  "pause",
  "disable",
  "saved list",
  "secret list",
  "fetched list",
  "labels show",
  "audit list",
  "audit verify",
  "catalog",
  "catalog search issues",
  "catalog show github",
  "explain",
  "explain CALL_PAUSED",
  "explain POLICY_DENIED",
  "help exit-codes",
  "help environment",
  "help configuration",
  "config check",
  "doctor",
  "import --dry-run",
  "connect cursor --yes",
  "disconnect cursor",
  "disconnect",
  "init other",
  "add weather forecast",
  "add github --dry-run",
  "add github --without-secrets",
  "add wikipedia --dry-run",
  "secret rm absent-token",
  "list",
  "search echo text",
  "search echo text --why",
  "describe files:echo",
  "why files:echo",
  "why files:echo --client cii",
  "call files:echo --arg text=x",
  "call files:ecko {}",
  "call files:echo {}",
  "approve",
  "approve files",
  "approve off",
  "approve flies",
  "logs",
  "logs files",
  "pause server flies",
  "pause client cii",
  "pause server files --reason maintenance",
  "resume server files",
  "resume server files",
  "disable server files",
  "enable server files",
  "disable tool files:ecko",
  "remove files",
  "remove flies",
  "update",
  "update flies",
  "info",
  "rank search",
  "install demo.absent",
  "uninstall demo.absent",
  "connect cursr",
  "serve --profile dv",
  "polcy",
  "list --nothing",
  "secret rm absent",
  "saved show absent",
  "explain CONFIG_INVALD",
];

/** Whether a line may be wider: what cannot be broken, or is copied. */
function mayBeWide(line: string): boolean {
  const text = line.trim();
  const words = text.split(/\s+/);
  const isLongWord = words.some((word) => word.length > columns / 2);
  const isCommand =
    /^(?:\$ |(?:fix|hint|[a-z ]+): )?(?:npx )?toolcrib |^[{["]|--\w/.test(text) &&
    !/[.;] [A-Za-z]/.test(text);
  const isPlace = /(?:^|[\s"(:])(?:~?\/|https?:)\S{12,}/.test(text) && words.length < 12;
  return isLongWord || isCommand || isPlace;
}

function wideLines(line: string, text: string): readonly string[] {
  return (
    stripVTControlCharacters(text)
      .split("\n")
      // Progress is overwritten.
      .map((one) => one.split("\r").at(-1) ?? "")
      // An example of an error shows its output as it is.
      .filter((one) => !(line.startsWith("explain ") && one.startsWith("    ")))
      .filter((one) => one.length > columns && !mayBeWide(one))
      .map((one) => `${line}\n    ${one}`)
  );
}

async function setUp() {
  const directory = await makeTemporaryDirectory();
  const off = { ...echoServer("off"), enabled: false };
  const missing = {
    ...echoServer("needs"),
    transport: {
      kind: "streamable_http",
      url: "http://127.0.0.1:9/mcp",
      headers: { Authorization: { prefix: "Bearer ", secret_key_ref: { env: "ACME_TOKEN" } } },
    },
  };
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({
      tool_servers: [echoServer("files"), off, missing],
      profiles: { dev: {} },
      serve: { listen: "127.0.0.1:0" },
    }),
  );
  mkdirSync(directory.join(".cursor"));
  mkdirSync(directory.join(".gemini"));
  writeFileSync(directory.join(".gemini/settings.json"), '{ "mcpServers": [ }');
  writeFileSync(
    directory.join(".cursor/mcp.json"),
    JSON.stringify({
      mcpServers: {
        notes: {
          command: "npx",
          args: ["-y", "notes-mcp", directory.path],
          env: { API_TOKEN: "aB3dE6fG7hI8jK9l" },
        },
        remote: { url: "https://mcp.example.com/mcp" },
      },
    }),
  );
  return directory;
}

test("no command of a new user prints a sentence that is wider than its terminal", async () => {
  await using directory = await setUp();
  const wide: string[] = [];
  for (const line of commands) {
    const args = line.split(" ").filter((word) => word !== "");
    const { stdout, stderr } = await runToolcrib(args, { directory: directory.path, columns, isHere: true });
    wide.push(...wideLines(line, `${stdout}\n${stderr}`));
  }
  assert.deepEqual(wide, []);
});

test("a running gateway is shown within the width of the terminal", async () => {
  await using directory = await setUp();
  const setting = { directory: directory.path };
  await using gateway = await startServe([], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/healthz`)).ok);
  const wide: string[] = [];
  for (const line of [
    "status",
    "list",
    "approve",
    "approve needs",
    "approve off",
    "pause client cii",
    "doctor",
    "connect",
    "release files",
    "reload",
  ]) {
    const { stdout, stderr } = await runToolcrib(line.split(" "), { ...setting, columns, isHere: true });
    wide.push(...wideLines(line, `${stdout}\n${stderr}`));
  }
  assert.deepEqual(wide, []);
});

test("what serve, update and an add without an answer say is wrapped", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  // Commands are as short as where the PATH has them, and no reason for a wide line.
  mkdirSync(directory.join("bin"));
  symlinkSync(launcherPath, directory.join("bin/toolcrib"));
  const env = {
    NO_COLOR: "1",
    PATH: `${directory.join("bin")}:${process.env["PATH"]}`,
    npm_command: undefined,
    npm_lifecycle_event: undefined,
  };
  const setting = { directory: directory.path, env };
  const write = (...tool_servers: readonly object[]) =>
    writeFileSync(
      directory.join("toolcrib.json"),
      JSON.stringify({ tool_servers, serve: { listen: "127.0.0.1:0" } }),
    );
  const wide: string[] = [];
  const show = async (args: readonly string[], until?: RegExp, answer = "\u0003") => {
    await using terminal = new Terminal(`stty cols ${columns} rows 40; ${shellLine(args)}`, setting);
    if (until !== undefined) {
      await terminal.untilShown(until);
      terminal.press(answer);
    }
    await terminal.end();
    wide.push(...wideLines(args.join(" "), terminal.text.replaceAll("\r\n", "\n")));
    return terminal.text.replace(/\s+/g, " ");
  };
  write();
  assert.match(
    await show(["serve"], /Press Ctrl-C/),
    /Next: toolcrib add NAME adds one, toolcrib import takes/,
  );
  const http = { kind: "streamable_http", url: "http://127.0.0.1:9/mcp" };
  const npx = (pack: string) => ({ kind: "stdio", command: "npx", args: ["-y", pack] });
  const [remote, unpinned] = ["a-remote-server-with-a-long-name", "a-package-that-is-not-pinned"];
  write({ id: remote, transport: http }, { id: unpinned, transport: npx("@acme/notes-of-the-whole-team") });
  assert.match(await show(["update", remote]), /its entry names a command or a URL, which has no version $/);
  assert.match(await show(["update", unpinned]), /names no exact version hint: to pin one, /);
  assert.match(await show(["add"], /Which API or server\?/, "\n"), /Nothing was added\. What the catalog/);
  assert.deepEqual(wide, []);
});

/** A server with a tool that may change something, whose description and error have long sentences. */
const wordy = `
import { createInterface } from "node:readline";
const sentence = "It writes the file that its settings name, in a folder of its own, and says where that is, again and again.";
const doctor = "No server offers a tool: toolcrib doctor checks each of the servers and says what is wrong with them and how to repair it";
const search = "Something that fits better can be found with the words of a search: toolcrib catalog search 'read and write the files of a folder'";
const names = "Connect the clients of this machine once more with: toolcrib connect cursor codex zed";
const tool = { name: "write", description: sentence, inputSchema: { type: "object" } };
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answers = {
    initialize: () => ({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "x", version: "1" } }),
    "tools/list": () => ({ tools: [tool] }),
    "tools/call": () => ({ content: [{ type: "text", text: ["Failed", sentence, doctor, search, names].join("\\n") }], isError: true }),
  };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, result: answers[method]?.() ?? {} }));
});
`;

test("approvals, their hints and the errors of tools are wrapped", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFileSync(directory.join("server.mjs"), wordy);
  const transport = { kind: "stdio", command: process.execPath, args: [directory.join("server.mjs")] };
  const containment = { read_paths: [directory.path] };
  const config = { sandbox: { mode: "preferred" }, tool_servers: [{ id: "wordy", transport, containment }] };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const wide: string[] = [];
  const texts: string[] = [];
  for (const line of ["approve wordy", "approve wordy --yes", "call wordy__write"]) {
    const setting = { directory: directory.path, columns, isHere: true };
    const { stdout, stderr } = await runToolcrib(line.split(" "), setting);
    texts.push(stripVTControlCharacters(`${stdout}\n${stderr}`));
    wide.push(...wideLines(line, `${stdout}\n${stderr}`));
  }
  assert.match(texts[1] ?? "", /Each call of it by a client still needs an approval/);
  assert.match(texts[2] ?? "", /tool error: Failed\nIt writes the file/);
  // A command stays whole; a sentence about one is wrapped.
  assert.match(texts[2] ?? "", /^ {2}toolcrib catalog search 'read and write the files of a folder'$/m);
  assert.match(texts[2] ?? "", /toolcrib connect cursor codex zed$/m);
  assert.doesNotMatch(texts[2] ?? "", /toolcrib doctor checks .* repair it$/m);
  assert.deepEqual(wide, []);
});
