/** The output of `serve` while its servers start. */

import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { freePort, makeTemporaryDirectory, startEchoHttpServer, waitUntil } from "@toolcrib/testing";
import { skipWithoutTerminal, TerminalRun } from "./terminal.ts";
import { echoServer, runToolcrib, startServe } from "./transcript.ts";

const serve = { listen: "127.0.0.1:0" };
const missing = { kind: "stdio", command: "toolcrib-test-no-such-command" };

test("serve prints each state of a server once, without control characters, and how many are ready", async () => {
  await using directory = await makeTemporaryDirectory();
  const gate = directory.join("gate");
  // Without containment, it sees the file that lets it start.
  const containment = { network_egress: "allow", filesystem_write: "allow" };
  const gated = { ...echoServer("slow", "--start-when", gate), containment };
  const servers = [echoServer("quick"), gated, { id: "broken", transport: missing }];
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: servers, serve }));
  await using gateway = await startServe([], { directory: directory.path });
  await waitUntil(() => /^ {2}… slow /m.test(gateway.stdout()), {
    what: "the server that starts is printed",
  });
  writeFileSync(gate, "");
  await waitUntil(() => gateway.stdout().includes("Press Ctrl-C to stop."));
  const printed = gateway.stdout();
  const lines = printed.split("\n");
  const linesOf = (id: string) => lines.filter((line) => new RegExp(`^ {2}\\S ${id} `).test(line));
  assert.match(linesOf("slow")[0] ?? "", /^ {2}… slow +stdio {2}starting$/);
  assert.match(linesOf("slow")[1] ?? "", /^ {2}✓ slow +stdio {2}\d+ tools/);
  assert.equal(linesOf("slow").length, 2);
  assert.match(linesOf("quick").at(-1) ?? "", /^ {2}✓ quick /);
  assert.match(
    linesOf("broken").at(-1) ?? "",
    /^ {2}✗ broken +stdio {2}Cannot launch command .*PATH in env\)$/,
  );
  const states = lines.slice(
    0,
    lines.indexOf("No client is found on this machine; this lists those that are known"),
  );
  const shown = states.filter((line) => line !== "");
  assert.match(shown.at(-1) ?? "", /^ {2}2 of 3 servers ready after [\d.]+ s; not ready: broken$/);
  assert.equal(new Set(shown).size, shown.length, printed);
  assert.doesNotMatch(printed, /[\u0000-\u0009\u000b-\u001f]/);
  // The line of the server says it.
  assert.doesNotMatch(gateway.stderr(), /server is not available/);
});

test("serve listens on its port once, when the gateway takes requests", async () => {
  await using directory = await makeTemporaryDirectory();
  const [record, listened] = [directory.join("record.mjs"), directory.join("listened")];
  writeFileSync(
    record,
    `import { appendFileSync } from "node:fs";
     import { Server } from "node:net";
     const { listen } = Server.prototype;
     Server.prototype.listen = function (...args) {
       this.once("listening", () => appendFileSync(${JSON.stringify(listened)}, JSON.stringify(this.address()) + "\\n"));
       return listen.apply(this, args);
     };`,
  );
  const port = await freePort();
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ serve: { listen: `127.0.0.1:${port}` } }));
  await using gateway = await startServe([], {
    directory: directory.path,
    env: { NODE_OPTIONS: `--import=${record}` },
  });
  await waitUntil(() => gateway.stdout().includes("Press Ctrl-C to stop."));
  const places = readFileSync(listened, "utf8").split("\n");
  assert.equal(places.filter((place) => place.includes(`"port":${port}`)).length, 1, places.join(" "));
});

test("serve says once on standard error that the process of a server ended", async () => {
  await using directory = await makeTemporaryDirectory();
  const servers = [{ id: "ending", transport: { kind: "stdio", command: "false" } }];
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: servers, serve }));
  await using gateway = await startServe(["--json"], { directory: directory.path });
  const linesOf = (text: string) => text.split("\n").filter((line) => line.includes("exited with code 1"));
  const log = directory.join(".toolcrib/logs/_gateway.log");
  // The program log has each end of the process.
  await waitUntil(
    () => existsSync(log) && readFileSync(log, "utf8").split('"upstream.process.exited"').length > 3,
  );
  assert.equal(linesOf(gateway.stderr()).length, 1, gateway.stderr());
  assert.match(linesOf(gateway.stderr())[0] ?? "", /"msg":"server is not available"/);
});

test("serve prints a server that could not be reached at its start when it gets ready", async () => {
  await using directory = await makeTemporaryDirectory();
  const port = await freePort();
  const transport = { kind: "streamable_http", url: `http://127.0.0.1:${port}/mcp` };
  const document = { tool_servers: [{ id: "remote", transport }], serve };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(document));
  await using gateway = await startServe([], { directory: directory.path });
  await waitUntil(() => gateway.stdout().includes("Press Ctrl-C to stop."));
  assert.match(gateway.stdout(), /^ {2}✗ remote +streamable_http {2}.*ECONNREFUSED.*$/m);
  assert.match(gateway.stdout(), /^ {2}0 of 1 server ready after [\d.]+ s; not ready: remote$/m);
  await using server = await startEchoHttpServer({ builtin: ["echo"], port });
  assert.ok(server.url.includes(String(port)));
  await waitUntil(() => /^ {2}[✓!] remote /m.test(gateway.stdout()));
});

test("serve updates the servers that start in place on a terminal", {
  skip: skipWithoutTerminal,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const servers = [echoServer("quick"), echoServer("slow", "--start-delay", "3000")];
  const document = { tool_servers: servers, serve, policy: { waive_approval: ["*"] } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(document));
  await using run = new TerminalRun(["serve"], { directory: directory.path }, [80, 24]);
  await waitUntil(() => run.text.includes("Press Ctrl-C to stop."));
  // A frame: the server with its time, removed before the next one.
  assert.match(run.text, /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] slow +stdio {2}starting \(\d+ s\)\r/);
  assert.match(run.text, /\r\u001b\[J {2}✓ slow /);
  assert.doesNotMatch(run.text, /… slow/);
  assert.match(run.text, /^ {2}2 of 2 servers ready after [\d.]+ s\r*$/m);
  const ended = run.text.length;
  run.press("\u0003");
  await waitUntil(() => run.text.includes("code="));
  // Nothing of the block is left to be removed.
  assert.doesNotMatch(run.text.slice(ended), /\u001b\[J/);
  await run.end();
});

test("approve, list and search name the servers that are starting, and call names its hint once", async () => {
  await using directory = await makeTemporaryDirectory();
  const servers = [echoServer("hanging", "--hang-initialize")];
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: servers, serve }));
  const setting = { directory: directory.path };
  await using _gateway = await startServe([], setting);
  const [shown, json, named, called, listed, found] = await Promise.all([
    runToolcrib(["approve"], setting),
    runToolcrib(["approve", "--json"], setting),
    runToolcrib(["approve", "hanging"], setting),
    runToolcrib(["call", "nothing__x"], setting),
    runToolcrib(["list"], setting),
    runToolcrib(["search", "echo"], setting),
  ]);
  assert.match(
    shown.stdout,
    /^Nothing waits for approval yet\n\nStill starting, .* status --watch\)\n {2}… hanging\n$/,
  );
  assert.deepEqual(JSON.parse(json.stdout), { servers: [], calls: [], starting: ["hanging"] });
  assert.match(named.stderr, /The tools of "hanging" are not known: the server is starting/);
  assert.equal(
    listed.stdout,
    "No tools among those of the servers that are ready; not ready: hanging (starting)\n",
  );
  assert.equal(
    found.stdout,
    "No tool matches among those of the servers that are ready; not ready: hanging (starting)\n",
  );
  assert.match(called.stderr, /hint: the tools of hanging are missing: see toolcrib list\n$/);
});
