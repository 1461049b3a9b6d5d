/** A package cannot pass a shell, read outside of what it is granted, reach the network, or outlive its call. */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import type { JsonObject } from "@toolcrib/json";
import {
  canFindProcesses,
  findProcessesByEnvironment,
  makeTemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { startTestGateway, type TestGateway } from "./gateway-harness.ts";
import { localPackage, putPackages } from "./package-harness.ts";

const waived = { policy: { waive_approval: ["*"] } };

/** Reads the files that the input names, and reports what it can do besides. */
const prober = `
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
const input = JSON.parse(process.argv.at(-1));
const attempt = (work) => { try { return work(); } catch (error) { return "refused: " + error.code; } };
const reach = (port) => new Promise((resolve) => {
  const socket = connect(port, "127.0.0.1", () => { socket.destroy(); resolve("connected"); });
  socket.on("error", (error) => resolve("refused: " + error.code));
});
console.log(JSON.stringify({
  read: (input.read ?? []).map((path) => attempt(() => readFileSync(path, "utf8"))),
  written: (input.write ?? []).map((path) => attempt(() => { writeFileSync(path, "x"); return "written"; })),
  network: input.port === undefined ? undefined : await reach(input.port),
  env: Object.keys(process.env).sort(),
}));
`;

interface Probe {
  readonly read: readonly string[];
  readonly written: readonly string[];
  readonly network?: string;
  readonly env: readonly string[];
}

async function probe(gateway: TestGateway, input: JsonObject): Promise<Probe> {
  const client = await gateway.connect();
  const result = await client.callTool({ name: "test.local.probe", arguments: input });
  assert.equal(result.isError, undefined, JSON.stringify(result));
  return result["structuredContent"] as unknown as Probe;
}

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}

test("an unverified package reads its own folder and granted read_paths only, writes only temporary files, and has no network", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const granted = join(directory.path, "granted");
  const other = join(directory.path, "other");
  for (const folder of [granted, other]) {
    mkdirSync(folder);
    writeFileSync(join(folder, "file.txt"), "content");
  }
  putPackages(home, [
    localPackage("test.local.probe", "node probe.mjs", { "probe.mjs": prober, "own.txt": "own" }),
  ]);
  await using connections = new AsyncDisposableStack();
  const server = createServer((socket) => socket.end());
  const port = await listening(server);
  connections.defer(() => void server.close());
  const input = {
    read: [
      "own.txt",
      join(granted, "file.txt"),
      join(other, "file.txt"),
      join(home, "packages", ".record.json"),
    ],
    write: ["own.txt", "new.txt", join(granted, "file.txt"), "/tmp/file.txt"],
    port,
  };
  const run = async (entry: JsonObject) => {
    const document = { ...waived, packages: { "test.local.probe": entry } };
    const environment = { PATH: process.env["PATH"], HOME: directory.path, A_SECRET: "hunter2" };
    await using gateway = await startTestGateway(document, { home, environment });
    return await probe(gateway, input);
  };
  const contained = await run({ read_paths: [granted] });
  assert.deepEqual(contained.read.slice(0, 2), ["own", "content"]);
  assert.deepEqual(
    contained.read.slice(2).map((one) => one.slice(0, 8)),
    ["refused:", "refused:"],
  );
  assert.deepEqual(
    contained.written.map((one) => one.slice(0, 7)),
    ["refused", "refused", "refused", "written"],
  );
  assert.match(contained.network ?? "", /^refused/);
  assert.ok(!contained.env.includes("A_SECRET"));
  assert.ok(!existsSync("/tmp/file.txt") || !readdirSync(home).includes("new.txt"));
  // The same program reaches all of it where nothing contains it, so that the refusals above are the sandbox's.
  const open = { network_egress: "allow", filesystem_write: "allow" };
  const free = await run({ trust_state: "certified", containment: open });
  assert.deepEqual(free.read.slice(0, 3), ["own", "content", "content"]);
  assert.equal(free.network, "connected");
  assert.equal(free.written[2], "written");
});

test("a program does not start after a file of its package was changed or added, and starts again when it was restored", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const script = 'import { word } from "./word.mjs";\nconsole.log(JSON.stringify({ word }));\n';
  const word = 'export const word = "one";\n';
  putPackages(home, [
    localPackage("test.local.word", "node main.mjs", { "main.mjs": script, "word.mjs": word }),
  ]);
  const document = { ...waived, packages: { "test.local.word": { trust_state: "verified" } } };
  await using gateway = await startTestGateway(document, { home });
  const client = await gateway.connect();
  const call = () => client.callTool({ name: "test.local.word", arguments: {} });
  const refused = async (reason: RegExp) => {
    const result = await call();
    assert.equal(result.isError, true, JSON.stringify(result));
    assert.match(JSON.stringify(result), reason);
    assert.match(JSON.stringify(result), /INSTALL_PACKAGE_CHANGED/);
    assert.match(JSON.stringify(result), /install it again: toolcrib install/);
  };
  assert.deepEqual((await call())["structuredContent"], { word: "one" });
  const folder = join(home, "packages", "test.local.word");
  const path = join(folder, "word.mjs");
  // The same size, and the times that the file had.
  const { atime, mtime } = statSync(path);
  writeFileSync(path, word.replace("one", "two"));
  utimesSync(path, atime, mtime);
  await refused(/\\"word\.mjs\\" has other content/);
  writeFileSync(path, word);
  assert.deepEqual((await call())["structuredContent"], { word: "one" });
  writeFileSync(join(folder, "package.json"), "{}");
  await refused(/\\"package\.json\\" was added/);
  rmSync(join(folder, "package.json"));
  assert.deepEqual((await call())["structuredContent"], { word: "one" });
});

test("no argument of a local package reaches a shell", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const mark = join(directory.path, "mark");
  const echo = "console.log(JSON.stringify({ args: process.argv.slice(2) }))";
  putPackages(home, [localPackage("test.local.echo", "node echo.mjs --flag", { "echo.mjs": echo })]);
  const entry = {
    trust_state: "certified",
    containment: { filesystem_write: "allow", network_egress: "allow" },
  };
  await using gateway = await startTestGateway({ packages: { "test.local.echo": entry } }, { home });
  const client = await gateway.connect();
  for (const text of [
    `$(touch ${mark})`,
    `; touch ${mark}`,
    `\`touch ${mark}\``,
    `| touch ${mark}`,
    `\n touch ${mark}`,
  ]) {
    const result = await client.callTool({ name: "test.local.echo", arguments: { text } });
    assert.deepEqual(result["structuredContent"], { args: ["--flag", JSON.stringify({ text })] });
  }
  assert.ok(!existsSync(mark));
});

test("a program other than node, python, dotnet or a file of the package does not run", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const commands = [
    "sh run.sh",
    "/bin/sh run.sh",
    "../run.sh",
    "curl http://127.0.0.1/",
    "node -e $(id)",
    "env node a.js",
  ];
  putPackages(
    home,
    commands.map((command, at) =>
      localPackage(`test.refused.tool${at}`, command, { "run.sh": "#!/bin/sh\n" }),
    ),
  );
  await using gateway = await startTestGateway(waived, { home });
  const client = await gateway.connect();
  const { tools } = await client.listTools();
  assert.deepEqual(
    tools.filter(({ name }) => name.startsWith("test.")),
    [],
  );
  const warned = gateway.logger.records.filter(({ message }) => message === "package");
  assert.equal(warned.length, commands.length);
});

test("a large input goes through standard input, and a program that writes too much or no JSON is an error", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const length = `
    const parts = [];
    process.stdin.on("data", (part) => parts.push(part)).on("end", () => {
      const text = Buffer.concat(parts).toString();
      console.log(JSON.stringify({ onInput: text.length, args: process.argv.length }));
    });`;
  putPackages(home, [
    localPackage("test.local.length", "node length.mjs", { "length.mjs": length }),
    localPackage("test.local.flood", "node a.mjs", {
      "a.mjs": "for (;;) process.stdout.write('x'.repeat(65536));",
    }),
    localPackage("test.local.text", "node a.mjs", {
      "a.mjs": "console.log('not json'); console.error('a reason')",
    }),
    localPackage("test.local.fail", "node a.mjs", {
      "a.mjs": "console.error('it broke'); process.exitCode = 3",
    }),
  ]);
  const limits = { output_max_bytes: 100_000 };
  await using gateway = await startTestGateway(
    { ...waived, packages: { "test.local.flood": { limits } } },
    { home },
  );
  const client = await gateway.connect();
  const call = (name: string, args: JsonObject = {}) =>
    client.callTool({ name: `test.local.${name}`, arguments: args });
  assert.deepEqual((await call("length", { text: "" }))["structuredContent"], { onInput: 0, args: 3 });
  const text = "x".repeat(70_000);
  const expected = { onInput: JSON.stringify({ text }).length, args: 2 };
  assert.deepEqual((await call("length", { text }))["structuredContent"], expected);
  const said = async (name: string) => JSON.stringify((await call(name)).content);
  assert.match(await said("flood"), /wrote more than 100000 bytes/);
  assert.match(await said("text"), /not one JSON value; its standard error ends with: a reason/);
  assert.match(await said("fail"), /exited with code 3: it broke/);
});

test("a call that is cancelled or late ends its program with everything that it started", {
  skip: canFindProcesses ? false : "this system does not show the environment of processes",
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const home = join(directory.path, "home");
  const token = randomUUID();
  const sleeper = `
    import { spawn } from "node:child_process";
    spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", "${token}"], { detached: true, stdio: "ignore" }).unref();
    setInterval(() => {}, 1000);`;
  const withLimit = (toolId: string, timeoutMs: number) => {
    const endpoint = { type: "local", command: "node a.mjs", timeoutMs };
    return localPackage(toolId, "node a.mjs", { "a.mjs": sleeper }, { endpoint });
  };
  // The second one has time to start what it leaves, also on a busy machine.
  putPackages(home, [withLimit("test.local.late", 1500), withLimit("test.local.sleep", 120_000)]);
  await using gateway = await startTestGateway(waived, { home });
  const client = await gateway.connect();
  const marked = () =>
    findProcessesByEnvironment("PYTHONUTF8=1").filter(({ command }) => command.includes(token));
  const late = await client.callTool({ name: "test.local.late", arguments: {} });
  assert.match(JSON.stringify(late.content), /did not answer within 1\.5 s/);
  await waitUntil(async () => marked().length === 0);
  const cancel = new AbortController();
  const call = client.callTool({ name: "test.local.sleep", arguments: {} }, undefined, {
    signal: cancel.signal,
  });
  await waitUntil(async () => marked().length > 0);
  cancel.abort();
  await assert.rejects(call);
  await waitUntil(async () => marked().length === 0);
});
