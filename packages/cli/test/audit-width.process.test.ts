/** Records of the audit trail on terminals of different widths. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { makeTemporaryDirectory, notesServer } from "@toolcrib/testing";
import { shellLine, skipWithoutTerminal, Terminal } from "./terminal.ts";
import { echoServer, runToolcrib } from "./transcript.ts";

const id = "a-server-whose-name-leaves-no-room-for-i";

async function setUp() {
  const directory = await makeTemporaryDirectory();
  const servers = ["files", id].map((one) => ({ ...echoServer(one), trust_state: "certified" }));
  const config = { tool_servers: servers, sandbox: { mode: "preferred" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  const run = async (line: string, columns?: number) => {
    const sized = columns === undefined ? {} : { columns };
    const { stdout, stderr } = await runToolcrib(line.split(" "), {
      directory: directory.path,
      isHere: true,
      ...sized,
    });
    return stripVTControlCharacters(stdout === "" ? stderr : stdout);
  };
  return { directory, run };
}

test("audit list on 80 columns has a line for the usual record, and --long its call and details", async () => {
  const { directory, run } = await setUp();
  await using _directory = directory;
  await run("call files:echo --arg text=hello");
  await run("call files:nothing {}");
  const [titles = "", ...lines] = (await run("audit list --tool files:*", 80)).trimEnd().split("\n");
  assert.match(titles, /^TIME +CLIENT +TOOK +WHAT +TOOL OR SERVER$/);
  const hint = lines.pop();
  assert.equal(hint, "Ids of calls and details: --long, or --json");
  const records = JSON.parse(await run("audit list --tool files:* --json", 80));
  assert.equal(lines.length, records.length);
  for (const line of lines)
    assert.match(
      line,
      /^\d\d-\d\d \d\d:\d\d:\d\dZ {2}cli +(?:\d+ ms|\d\.\d s)? +(?:ok|started) +files:echo$/,
    );
  // Ids stay whole in JSON, and what --long shows of them is enough to find the call.
  const [{ data }] = records;
  const long = await run("audit list --tool files:* --long", 80);
  assert.ok(long.includes(`\n  ${data.callId.slice(0, 18)}`), long);
  assert.match(long, / {2}\S{18} {2}\{"text":"hello"\}/);
  assert.doesNotMatch(long, /--long/);
  assert.match(await run(`audit show ${data.callId.slice(0, 18)}`, 80), new RegExp(`call +${data.callId}`));
  // A terminal that is wide enough, and a pipe, have all columns.
  for (const columns of [120, undefined]) {
    const wide = await run("audit list --tool files:*", columns);
    assert.match(wide, /^TIME +WHAT +TOOL OR SERVER +CLIENT +TOOK +CALL +DETAIL\n/);
    assert.ok(wide.includes(` ${data.callId.slice(0, 18)} `), wide);
  }
  const last = (await run("audit tail -n 1 --tool files:*", 80)).split("\n");
  assert.match(last[1] ?? "", / cli /);
});

test("a tool whose name leaves no room follows below its record, as a whole", async () => {
  const { directory, run } = await setUp();
  await using _directory = directory;
  await run(`call ${id}:echo --arg text=x`);
  await run("call files:echo --arg text=x");
  const lines = (await run("audit list --outcome ok", 70)).trimEnd().split("\n");
  assert.match(lines[1] ?? "", / ok +files:echo$/);
  assert.match(lines[2] ?? "", / ok$/);
  assert.equal(lines[3], `  ${id}:echo`);
  for (const line of lines) assert.ok(line.length <= 70, line);
});

test("approved definitions have a line each on 80 columns, in columns of their own", async () => {
  const { directory, run } = await setUp();
  await using _directory = directory;
  const tools = ["read_graph", "open_nodes", "create_entities", "add_observations", "delete_observations"];
  writeFileSync(directory.join("server.cjs"), notesServer(tools.map((name) => ({ name }))));
  const entry = {
    id: "server-memory",
    transport: { kind: "stdio", command: process.execPath, args: [directory.join("server.cjs")] },
    containment: { read_paths: [directory.path] },
  };
  const config = { tool_servers: [entry], sandbox: { mode: "preferred" } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  await run("approve server-memory --yes");
  const linesOf = async (line: string) => (await run(line, 80)).trimEnd().split("\n").slice(0, -1);
  const records = async (line: string) => JSON.parse(await run(`${line} --json`)) as readonly object[];
  const [titles = "", ...lines] = await linesOf("audit list");
  assert.match(titles, /^TIME +CLIENT +WHAT +TOOL OR SERVER$/);
  assert.equal(lines.length, (await records("audit list")).length);
  const approved = lines.filter((line) => line.includes(" definition.approved "));
  assert.equal(approved.length, tools.length);
  const column = titles.indexOf("TOOL OR SERVER");
  for (const line of approved) {
    assert.ok(line.length <= 80, line);
    assert.equal(line.indexOf("server-memory:"), column, line);
  }
  // Calls need the column of their duration; long names move to the left, and stay in their line.
  await run("call server-memory:read_graph {}");
  const [more = "", ...all] = await linesOf("audit list");
  assert.match(more, /^TIME +CLIENT +TOOK +WHAT +TOOL OR SERVER$/);
  assert.equal(all.length, (await records("audit list")).length);
  for (const line of all) assert.ok(line.length <= 80, line);
});

test("audit tail --follow on 80 columns prints each record as audit list does", {
  skip: skipWithoutTerminal,
}, async () => {
  const { directory, run } = await setUp();
  await using _directory = directory;
  const setting = { directory: directory.path, env: { NO_COLOR: "1" } };
  await using terminal = new Terminal(`stty cols 80 rows 24; ${shellLine(["audit", "tail", "-f"])}`, setting);
  await run("call files:echo --arg text=x");
  await terminal.untilShown(
    /TIME +CLIENT +TOOK +WHAT +TOOL OR SERVER\r?\n[\s\S]*\n\S+ \S+ {2}cli +\d+ ms +ok +files:echo\r?\n/,
  );
  terminal.press("\u0003");
  await terminal.end();
});
