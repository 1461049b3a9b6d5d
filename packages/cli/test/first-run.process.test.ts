/** `toolcrib` without a command: a walk to a first call on a terminal, a summary beside a gateway, a short help elsewhere. */

import assert from "node:assert/strict";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import {
  echoStdioPath,
  freePort,
  isProcessAlive,
  makeTemporaryDirectory,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { shellLine, skipWithoutTerminal, Terminal } from "./terminal.ts";
import { runToolcrib } from "./transcript.ts";

const skip = skipWithoutTerminal;

const ctrlC = "\u0003";
const ctrlD = "\u0004";

/** Runs a command on a terminal, and answers each question that a pattern finds. @returns what the terminal showed */
async function onTerminal(
  directory: TemporaryDirectory,
  words: readonly string[],
  answers: readonly (readonly [question: RegExp, answer: string])[],
): Promise<string> {
  const setting = { directory: directory.path, env: { NO_COLOR: "1" } };
  await using terminal = new Terminal(shellLine(words), setting);
  let read = 0;
  for (const [question, answer] of answers) {
    await terminal.untilShown(question, read);
    const found = question.exec(terminal.text.slice(read)) as RegExpExecArray;
    read += found.index + found[0].length;
    terminal.press([ctrlC, ctrlD].includes(answer) ? answer : `${answer}\n`);
  }
  await terminal.end();
  return terminal.text.replaceAll("\r\n", "\n");
}

/** Ends the gateways that a walk left in the background. */
async function stopGateways(directory: TemporaryDirectory): Promise<void> {
  const run = directory.join(".toolcrib/run");
  for (const name of existsSync(run) ? readdirSync(run) : []) {
    const found = Number(/^gateway-(\d+)\.json$/.exec(name)?.[1] ?? "0");
    if (found > 1 && isProcessAlive(found)) {
      process.kill(found, "SIGTERM");
      await waitUntil(() => !isProcessAlive(found));
    }
  }
}

/** Listens on a free port, as another program. */
async function listenOnLoopback(): Promise<AsyncDisposable & { readonly port: number }> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async [Symbol.asyncDispose]() {
      server.close();
      await once(server, "close");
    },
  };
}

/** Writes a configuration with a server that is not ready before there is the file "go". */
async function writeLateServer(directory: TemporaryDirectory): Promise<void> {
  const go = directory.join("go");
  const wait = `import { existsSync } from "node:fs";
while (!existsSync(${JSON.stringify(go)})) await new Promise((resolve) => setTimeout(resolve, 50));
// The path is an argument so that the sandbox shows it.
process.argv.splice(2, 1);
await import(${JSON.stringify(pathToFileURL(echoStdioPath).href)});
`;
  writeFileSync(directory.join("late.mjs"), wait);
  const server = {
    id: "late",
    transport: {
      kind: "stdio",
      command: process.execPath,
      args: [directory.join("late.mjs"), echoStdioPath, "--builtin", "echo"],
    },
    containment: { network_egress: "allow", filesystem_write: "allow" },
    first_contact: "ask",
  };
  const config = {
    serve: { listen: `127.0.0.1:${await freePort()}`, list_wait_seconds: 1 },
    sandbox: { mode: "preferred" },
    tool_servers: [server],
  };
  writeFileSync(directory.join("toolcrib.yaml"), JSON.stringify(config));
}

test("the walk waits for a server that starts slowly, and comes to a call", { skip }, async () => {
  await using directory = await makeTemporaryDirectory();
  await writeLateServer(directory);
  const setting = { directory: directory.path, env: { NO_COLOR: "1" } };
  try {
    await using terminal = new Terminal(shellLine([]), setting);
    await terminal.untilShown(/Start it now, in the background\? \[Y\/n\] /);
    terminal.press("y\n");
    await terminal.untilShown(/… late: starting\r?\nWait until it is ready, at most 3 minutes\? \[Y\/n\] /);
    terminal.press("y\n");
    writeFileSync(directory.join("go"), "");
    await terminal.untilShown(/New tools of late wait\. Look at them\? \[Y\/n\] /);
    terminal.press("y\n");
    await terminal.untilShown(/Approve 5 definitions of late\? \[y\/N\] /);
    terminal.press("y\n");
    await terminal.untilShown(/Call late__echo with .*\? \[Y\/n\] /);
    terminal.press("y\n");
    await terminal.end();
    assert.match(
      terminal.text,
      /\nEach call of \d+ tools? by a client waits for your approval:\s+.* approve\r?\n\r?\nNext:/,
    );
  } finally {
    await stopGateways(directory);
  }
});

test("a walk that does not wait says why nothing can be called, and what to do", { skip }, async () => {
  await using directory = await makeTemporaryDirectory();
  await writeLateServer(directory);
  try {
    const shown = await onTerminal(
      directory,
      [],
      [
        [/Start it now, in the background\? \[Y\/n\] /, "y"],
        [/Wait until it is ready, at most 3 minutes\? \[Y\/n\] /, "n"],
      ],
    );
    assert.match(
      shown,
      /No call yet: not ready are late\. When\s+.*status shows\s+them ready, allow their tools with\s+.*approve/,
    );
    assert.doesNotMatch(shown, /only you know/);
  } finally {
    await stopGateways(directory);
  }
});

test("a newcomer comes from an empty home to a first call", { skip }, async () => {
  await using directory = await makeTemporaryDirectory();
  const port = await freePort();
  mkdirSync(directory.join(".cursor"));
  const cursor = JSON.stringify({
    mcpServers: {
      echo: {
        command: process.execPath,
        args: [echoStdioPath, "--builtin", "echo"],
        env: { ECHO_TOKEN: "s3cret-value" },
      },
    },
  });
  writeFileSync(directory.join(".cursor/mcp.json"), cursor);
  // The place of the gateway, and what a sandbox of this machine needs to read.
  writeFileSync(
    directory.join("toolcrib.yaml"),
    `# mine\nserve: { listen: "127.0.0.1:${port}" }\nsandbox: { mode: preferred }\n`,
  );
  let pid = 0;
  try {
    const shown = await onTerminal(
      directory,
      [],
      [
        [/1 server of cursor found\. Look at them\? \[Y\/n\] /, "y"],
        [/Add 1 server to toolcrib\.yaml, with 1 secret in the secret store\? \[y\/N\] /, "y"],
        [/Start it now, in the background\? \[Y\/n\] /, ""],
        [/Cursor found\. Look at what would be written\? \[Y\/n\] /, "y"],
        [/Write this\? \[y\/N\] /, "y"],
        [/Take it out of the clients\? \[Y\/n\] /, "y"],
        [/Change the files of 1 client as shown\? \[y\/N\] /, "y"],
        [/New tools of echo wait\. Look at them\? \[Y\/n\] /, "y"],
        [/Approve 5 definitions of echo\? \[y\/N\] /, "y"],
        [/Call echo__echo with \{"text":".*"\}\? \[Y\/n\] /, "y"],
      ],
    );
    pid = Number(/\(process (\d+)\)/.exec(shown)?.[1]);
    assert.match(shown, /✓ added 1 server to toolcrib\.yaml, and stored 1 secret/);
    assert.match(shown, /✓ Cursor: /);
    assert.match(shown, /✓ Cursor: 1 server moved/);
    // What the walk does itself is not left to the user before it.
    assert.equal(shown.split("Next:").length, 2, shown);
    assert.match(shown, /\$ .* call echo__echo '\{"text":"(.*)"\}'\n\1\n[\s\S]*Next:\n/);
    assert.equal(shown.includes("s3cret-value"), false);
    assert.match(readFileSync(directory.join("toolcrib.yaml"), "utf8"), /^# mine\n[\s\S]*- id: echo\n/);
    const client = readFileSync(directory.join(".cursor/mcp.json"), "utf8");
    assert.match(client, /"toolcrib"/);
    assert.doesNotMatch(client, /"echo"/);
    const summary = await onTerminal(directory, [], []);
    assert.match(summary, new RegExp(`✓ The gateway runs at http://127\\.0\\.0\\.1:${port}: 1 server`));
    assert.match(summary, /Connected: cursor\r?$/m);
    for (const change of ["revoke", "create"]) {
      const { code, stderr } = await runToolcrib(["token", change, "cursor"], { directory: directory.path });
      assert.equal(code, 0, stderr);
    }
    const later = await onTerminal(directory, [], []);
    assert.match(later, /Connected: cursor \(token replaced: connect it again\)/);
  } finally {
    await stopGateways(directory);
  }
  assert.ok(pid > 0);
});

test("a server of three clients is one, and one that does not answer is named and stays in them", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const echo = { command: process.execPath, args: [echoStdioPath, "--builtin", "echo"] };
  const broken = { command: process.execPath, args: ["-e", "process.exit(3)"] };
  const clients = JSON.stringify({ mcpServers: { echo, broken } });
  const files = [".claude.json", ".cursor/mcp.json", ".gemini/settings.json"].map((name) =>
    directory.join(name),
  );
  for (const folder of [".cursor", ".gemini"]) mkdirSync(directory.join(folder));
  for (const file of files) writeFileSync(file, clients);
  const config = {
    serve: { listen: `127.0.0.1:${await freePort()}` },
    sandbox: { mode: "preferred" },
    tool_servers: Object.entries({ echo, broken }).map(([id, one]) => ({
      id,
      transport: { kind: "stdio", ...one },
      trust_state: "certified",
    })),
  };
  writeFileSync(directory.join("toolcrib.yaml"), JSON.stringify(config));
  try {
    const shown = await onTerminal(
      directory,
      [],
      [
        [/Start it now, in the background\? \[Y\/n\] /, ""],
        [/Look at what would be written\? \[Y\/n\] /, "y"],
        [/Write this\? \[y\/N\] /, "y"],
        [/Leave it in the clients\? \[Y\/n\] /, ""],
        [/Take the other 1 server out of the clients\? \[Y\/n\] /, "y"],
        [/Change the files of 3 clients as shown\? \[y\/N\] /, "y"],
        [/Call echo__echo with \{"text":".*"\}\? \[Y\/n\] /, "n"],
      ],
    );
    assert.match(shown.replace(/\s+/g, " "), /Claude Code, Cursor, Gemini CLI still start 2 servers that/);
    assert.match(
      shown.replace(/\s+/g, " "),
      /One does not answer the gateway: ✗ broken: .*exit.* Leave it in the clients\?/,
    );
    assert.match(
      shown,
      /Stay in the clients:\n {2}broken \(claude-code, .*\): it does not answer the gateway/,
    );
    for (const file of files) {
      const { mcpServers } = JSON.parse(readFileSync(file, "utf8")) as { mcpServers: object };
      assert.deepEqual(Object.keys(mcpServers).toSorted(), ["broken", "toolcrib"], file);
    }
  } finally {
    await stopGateways(directory);
  }
});

test("one server that does not answer and stays in its client is not named as several", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const broken = { command: process.execPath, args: ["-e", "process.exit(3)"] };
  mkdirSync(directory.join(".cursor"));
  const file = directory.join(".cursor/mcp.json");
  writeFileSync(file, JSON.stringify({ mcpServers: { broken } }));
  const config = {
    serve: { listen: `127.0.0.1:${await freePort()}` },
    sandbox: { mode: "preferred" },
    tool_servers: [{ id: "broken", transport: { kind: "stdio", ...broken }, trust_state: "certified" }],
  };
  writeFileSync(directory.join("toolcrib.yaml"), JSON.stringify(config));
  try {
    const shown = await onTerminal(
      directory,
      [],
      [
        [/Start it now, in the background\? \[Y\/n\] /, ""],
        [/Look at what would be written\? \[Y\/n\] /, "y"],
        [/Write this\? \[y\/N\] /, "y"],
        [/Leave it in the clients\? \[Y\/n\] /, ""],
      ],
    );
    assert.match(shown, /It stays in the clients\./);
    assert.match(readFileSync(file, "utf8"), /"broken"/);
  } finally {
    await stopGateways(directory);
  }
});

test("every step can be skipped", { skip }, async () => {
  await using directory = await makeTemporaryDirectory();
  const shown = await onTerminal(
    directory,
    [],
    [
      [/Write a configuration with examples in comments\? \[Y\/n\] /, "y"],
      [/Start it now, in the background\? \[Y\/n\] /, "n"],
    ],
  );
  assert.match(shown, /No client on this machine has a server/);
  assert.match(shown, /Without a gateway there is nothing to call/);
  assert.equal(existsSync(directory.join(".toolcrib/run")), false);
});

test("a gateway that cannot start does not end the walk; its hint is a whole command", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  await using taken = await listenOnLoopback();
  writeFileSync(
    directory.join("toolcrib.yaml"),
    `serve: { listen: "127.0.0.1:${taken.port}" }\ntool_servers: []\n`,
  );
  const shown = await onTerminal(directory, [], [[/Start it now, in the background\? \[Y\/n\] /, "y"]]);
  const words = shown.replace(/\s+/g, " ");
  assert.match(words, /No gateway could be started: .* the address is in use/);
  assert.match(words, /use another address: toolcrib --home \S+ serve --listen 127\.0\.0\.1:0 /);
  assert.match(words, /3\. Clients .* 4\. A first call .* Without a gateway there is nothing to call/);
  assert.match(shown, /Next:/);
});

test("Ctrl-C at a question ends the walk, and is no bug", { skip }, async () => {
  await using directory = await makeTemporaryDirectory();
  const shown = await onTerminal(
    directory,
    [],
    [[/Write a configuration with examples in comments\? \[Y\/n\] /, ctrlC]],
  );
  assert.match(shown, /error CLI_INTERRUPTED: Interrupted by SIGINT\n/);
  assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
});

test("without a terminal there is a short help of at most 40 lines and 80 columns", async () => {
  await using directory = await makeTemporaryDirectory();
  const { stdout, stderr, code } = await runToolcrib([], { directory: directory.path });
  assert.equal(code, 2);
  assert.equal(stderr, "");
  const lines = stdout.trimEnd().split("\n");
  assert.ok(lines.length <= 40 && lines.every((line) => line.length <= 80), stdout);
  assert.match(stdout, /toolcrib help/);
  const full = await runToolcrib(["help"], { directory: directory.path });
  assert.ok(full.stdout.split("\n").length > 100);
  assert.equal((await runToolcrib(["serch"], { directory: directory.path })).code, 2);
});

test("the end of the input at a question ends the command with a reason", { skip }, async () => {
  await using directory = await makeTemporaryDirectory();
  const shown = await onTerminal(directory, [], [[/in comments\? \[Y\/n\] /, ctrlD]]);
  assert.match(shown, /\nerror CLI_INTERRUPTED: The input ended before an answer\n$/);
  assert.equal(existsSync(directory.join("toolcrib.yaml")), false);
});

test("servers that were declined or removed before are named, and not offered unasked", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  mkdirSync(directory.join(".cursor"));
  const write = (names: readonly string[]) => {
    const server = (name: string) => [
      name,
      { command: "node", args: [`${name}.js`], env: { A_TOKEN: name } },
    ];
    const mcpServers = Object.fromEntries(names.map(server));
    writeFileSync(directory.join(".cursor/mcp.json"), JSON.stringify({ mcpServers }));
  };
  const setting = { directory: directory.path };
  writeFileSync(directory.join("toolcrib.yaml"), "tool_servers: []\n");
  write(["files", "notes"]);
  const offer = /2 servers of cursor found\. Look at them\? \[Y\/n\] /;
  const later: readonly (readonly [RegExp, string])[] = [
    [/Start it now, in the background\? \[Y\/n\] /, "n"],
    [/Look at what would be written\? \[Y\/n\] /, "n"],
  ];
  const shown = await onTerminal(directory, [], [[offer, "y"], [/\[y\/N\] /, "n"], ...later]);
  assert.match(shown, /Nothing was written\./);
  const again = await onTerminal(directory, [], later);
  assert.match(
    again.replace(/\n {2}/g, " "),
    /Left out, because you declined them before: files, notes\. To be asked again: .* import\nNo client has another/,
  );
  // What is asked for is offered, with what is known.
  const asked = await runToolcrib(["import", "--yes"], setting);
  assert.match(asked.stdout, /Not wanted before:\n {2}files: you declined it on \d{4}-\d\d-\d\d\n/);
  assert.match(asked.stdout, /added 2 servers/);
  const removed = await runToolcrib(["remove", "notes", "--yes"], setting);
  assert.equal(removed.code, 0, removed.stderr);
  write(["files", "notes", "more"]);
  const third = await onTerminal(directory, [], [[/1 server of cursor found\. .* /, "n"], ...later]);
  assert.match(
    third.replace(/\n {2}/g, " "),
    /because you removed it before: notes\. To be asked again: .* import --with-removed\n/,
  );
  const left = await runToolcrib(["import", "--yes"], setting);
  assert.match(left.stdout, /notes \(cursor, .*\): you removed it on .*; --with-removed imports it\n/);
  assert.match(left.stdout, /Not wanted before:\n {2}more: you declined it on/);
  const config = () => readFileSync(directory.join("toolcrib.yaml"), "utf8");
  assert.doesNotMatch(config(), /id: notes/);
  assert.equal((await runToolcrib(["import", "--yes", "--with-removed"], setting)).code, 0);
  assert.match(config(), /id: notes/);
  // Another configuration of the home has its own.
  mkdirSync(directory.join("other"));
  const other = { directory: directory.join("other"), env: { HOME: directory.path } };
  assert.match((await runToolcrib(["import", "--yes"], other)).stdout, /added 3 servers/);
  const record = directory.join(".toolcrib/unwanted-servers.json");
  assert.equal(existsSync(record), false);
});
