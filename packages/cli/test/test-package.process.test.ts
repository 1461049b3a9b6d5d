/** `toolcrib test` and `toolcrib export`: packages before and after they are installed, on real programs and servers. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { makeTemporaryDirectory, type TemporaryDirectory, writeFiles } from "@toolcrib/testing";
import { runToolcrib, runToolcribProcess } from "./transcript.ts";

/** Writes the text in capitals, and whether it can write beside itself. */
const script = `
const input = JSON.parse(process.argv.at(-1));
const fs = require("node:fs");
let canWrite = true;
try { fs.writeFileSync("planted.txt", "x"); } catch { canWrite = false; }
if (input.text === "slow") setTimeout(() => {}, 60_000);
else if (input.text === "broken") process.exit(3);
else console.log(JSON.stringify({ text: input.text.toUpperCase(), canWrite }));
`;

const passing = {
  name: "capitals",
  input: { text: "abc" },
  expected: { text: "ABC" },
  assertions: [{ path: "$.canWrite", equals: false }],
};

function filesOf(
  tests: { readonly [name: string]: object },
  changes: object = {},
): { [path: string]: string } {
  const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
  const manifest = {
    toolId: "demo.upper",
    name: "Upper",
    version: "0.1.0",
    description: "Writes a text in capitals.",
    capabilities: ["demo"],
    endpoint: { type: "local", command: "node ./upper.js" },
    input_schema: schema,
    output_schema: schema,
    tests: Object.keys(tests).map((name) => `tests/${name}.test.json`),
    ...changes,
  };
  return {
    "manifest.json": JSON.stringify(manifest),
    "upper.js": script,
    ...Object.fromEntries(
      Object.entries(tests).map(([name, content]) => [`tests/${name}.test.json`, JSON.stringify(content)]),
    ),
  };
}

function inFolder(files: { readonly [path: string]: string }, folder: string): { [path: string]: string } {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}

/** Puts a package into the install record of the home. */
async function install(
  directory: TemporaryDirectory,
  files: { readonly [path: string]: string },
): Promise<void> {
  writeFiles(directory.path, inFolder(files, "source"));
  const { code, stderr } = await runToolcrib(["install", "./source", "--user"], {
    directory: directory.path,
  });
  assert.equal(code, 0, stderr);
}

test("the tests of a folder run contained before it is installed, and JUnit has each of them", async () => {
  await using directory = await makeTemporaryDirectory();
  const tests = {
    good: passing,
    wrong: { ...passing, name: "a <wrong> & odd name", expected: { text: "abc" } },
    slow: { name: "slow", input: { text: "slow" }, timeoutMs: 400, expected: {} },
    broken: { name: "broken", input: { text: "broken" }, expected: {} },
  };
  writeFiles(directory.path, inFolder(filesOf(tests), "upper"));
  // A folder for temporary files of its own: others of this machine appear and disappear.
  const temporary = directory.join("temporary");
  mkdirSync(temporary);
  const run = await runToolcribProcess(["test", "./upper", "--junit", "out.xml"], {
    directory: directory.path,
    env: { TMPDIR: temporary },
  });
  assert.equal(run.code, 1, run.stderr);
  assert.match(run.stdout, /^✓ capitals {2}tests\/good\.test\.json {2}[0-9.]+ ms$/m);
  assert.match(run.stdout, /^ {4}expected: \$\.text expected "abc", got "ABC"$/m);
  assert.match(run.stdout, /^ {4}no result within 400 ms$/m);
  assert.match(run.stdout, /^ {4}PACKAGE_PROGRAM_FAILED: |^ {4}the tool reported an error: /m);
  assert.match(run.stdout, /^demo\.upper 0\.1\.0: 1 passed, 3 failed in [0-9]+ ms /m);
  const xml = readFileSync(directory.join("out.xml"), "utf8");
  assert.match(xml, /<testsuites tests="4" failures="1" errors="2" /);
  assert.match(xml, /name="a &lt;wrong&gt; &amp; odd name" file="tests\/wrong\.test\.json"/);
  assert.equal(xml.match(/<testcase /g)?.length, 4);
  // Nothing of the package stays, and the calls are on record.
  assert.deepEqual(readdirSync(temporary), []);
  assert.equal(existsSync(directory.join("upper/planted.txt")), false);
  const audit = await runToolcrib(["audit", "list", "--json"], { directory: directory.path });
  assert.match(audit.stdout, /call\.completed/);
  assert.match(audit.stdout, /"demo\.upper:upper"/);
});

test("--timeout limits the time of all tests: those that end within it pass", async () => {
  await using directory = await makeTemporaryDirectory();
  const slow = { name: "slow", input: { text: "slow" }, expected: {} };
  writeFiles(directory.path, {
    ...inFolder(filesOf({ good: passing, again: { ...passing, name: "again" } }), "upper"),
    ...inFolder(filesOf({ slow, late: { ...passing, name: "late" } }), "slow"),
  });
  const setting = { directory: directory.path };
  const run = await runToolcrib(["test", "./upper", "--timeout", "25s"], setting);
  assert.equal(run.code, 0, run.stdout + run.stderr);
  assert.match(run.stdout, /2 passed, 0 failed/);
  const over = await runToolcrib(["test", "./slow", "--timeout", "2s"], setting);
  assert.equal(over.code, 1, over.stderr);
  assert.match(over.stdout, /^ {4}no result within \d+ ms$/m);
  assert.match(over.stdout, /0 passed, 2 failed/);
});

test("an archive is tested as JSON; a package without tests, or with a missing one, fails", async () => {
  await using directory = await makeTemporaryDirectory();
  writeFiles(directory.path, {
    ...inFolder(filesOf({ good: passing }), "upper"),
    ...inFolder(filesOf({}), "untested"),
    ...inFolder(filesOf({}, { tests: ["tests/none.test.json"] }), "missing"),
  });
  const setting = { directory: directory.path };
  await runToolcrib(["pack", "upper"], setting);
  const run = await runToolcrib(["test", "demo.upper-0.1.0.mcpkg", "--json"], setting);
  assert.equal(run.code, 0, run.stderr);
  const { passed, failed, results } = JSON.parse(run.stdout);
  assert.deepEqual([passed, failed, results[0].outcome], [1, 0, "passed"]);
  for (const [argument, code, message] of [
    ["untested", 1, /CLI_PACKAGE_UNTESTED/],
    ["missing", 1, /The package has no file "tests\/none\.test\.json"/],
    ["demo.unknown", 4, /INSTALL_NOT_FOUND/],
    ["./none", 1, /there is no such file or folder/],
  ] as const) {
    const refused = await runToolcrib(["test", argument], setting);
    assert.equal(refused.code, code, `${argument}: ${refused.stderr}`);
    assert.match(refused.stderr, message);
  }
});

test("results of an installed package are kept beside it, and exported with its tools", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  mkdirSync(directory.join(".toolcrib"), { mode: 0o700 });
  await install(directory, filesOf({ good: passing }));
  for (const _time of [1, 2]) assert.equal((await runToolcrib(["test", "demo.upper"], setting)).code, 0);
  const metadata = JSON.parse(
    readFileSync(directory.join(".toolcrib/packages/demo.upper.metadata.json"), "utf8"),
  );
  assert.deepEqual(
    [metadata.toolId, metadata.runs, metadata.passed, metadata.failed, metadata.passRate, metadata.errorRate],
    ["demo.upper", 2, 1, 0, 1, 0],
  );
  assert.ok(metadata.latencyMs.p50 > 0 && metadata.latencyMs.max >= metadata.latencyMs.p95);
  const { tools } = JSON.parse((await runToolcrib(["export"], setting)).stdout);
  assert.equal(tools[0].name, "demo.upper");
  assert.deepEqual([tools[0].test_summary.runs, tools[0].test_summary.passed], [2, 1]);
  const openai = await runToolcrib(["export", "--format", "openai", "--out", "tools.json"], setting);
  assert.match(openai.stdout, /^Wrote tools\.json: 1 tool$/m);
  const [{ function: exported }] = JSON.parse(readFileSync(directory.join("tools.json"), "utf8"));
  assert.equal(exported.name, "demo_upper");
  assert.match((await runToolcrib(["export", "--format", "other"], setting)).stderr, /one of mcp, openai/);
});

test("an export has the tools that the gateway lists, without hidden characters, unless all are asked for", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const hidden = "Upper\u202e case\u200b text.";
  await install(directory, filesOf({ good: passing }, { description: hidden }));
  const exported = async (...flags: readonly string[]) => await runToolcrib(["export", ...flags], setting);
  writeFiles(directory.path, { "toolcrib.yaml": "{}\n" });
  const open = await exported();
  assert.equal(JSON.parse(open.stdout).tools[0].description, "Upper case text.");
  assert.match(open.stderr, /hidden characters were removed/);
  writeFiles(directory.path, { "toolcrib.yaml": 'policy: { deny: ["demo.*"] }\n' });
  const denied = await exported();
  assert.deepEqual(JSON.parse(denied.stdout), { tools: [] });
  assert.match(
    denied.stderr,
    /left out, because the gateway does not list them for you: demo\.upper \(--all/,
  );
  assert.equal(JSON.parse((await exported("--all")).stdout).tools[0].name, "demo.upper");
});

test("a test of an http package calls its URL, and the status counts", async () => {
  await using directory = await makeTemporaryDirectory();
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    const status = request.url === "/down" ? 500 : 200;
    response.writeHead(status, { "content-type": "application/json" }).end('{"text":"ABC","canWrite":false}');
  }).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  try {
    const { port } = server.address() as AddressInfo;
    const endpoint = { type: "http", method: "POST", url: "https://example.com/upper" };
    writeFiles(directory.path, inFolder(filesOf({ good: passing }, { endpoint }), "upper"));
    for (const [path, code] of [
      ["upper", 0],
      ["down", 1],
    ] as const) {
      const url = `http://127.0.0.1:${port}/${path}`;
      writeFileSync(
        directory.join("toolcrib.yaml"),
        `packages: { demo.upper: { endpoint: { url: "${url}" } } }\n`,
      );
      const run = await runToolcrib(["test", "./upper", "--use-config"], { directory: directory.path });
      assert.equal(run.code, code, run.stdout + run.stderr);
      if (code === 1) assert.match(run.stdout, /the tool reported an error: .*500/);
    }
    assert.ok(requests >= 2);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

test("each implementation is tested, the results choose the one that calls use, and the audit names it", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const implementation = (id: string, file: string) => ({
    id,
    runtime: "node",
    endpoint: { type: "local", command: `node ./${file}` },
  });
  const files = filesOf(
    { good: { name: "capitals", input: { text: "abc" }, expected: { text: "ABC" } } },
    {
      endpoint: undefined,
      implementations: [implementation("first", "first.js"), implementation("second", "upper.js")],
    },
  );
  await install(directory, { ...files, "first.js": "console.log(JSON.stringify({ text: 'no' }));" });
  const before = JSON.parse((await runToolcrib(["info", "demo.upper", "--why", "--json"], setting)).stdout);
  assert.equal(before.chosen, "first");
  const tested = await runToolcrib(["test", "demo.upper", "--junit", "results.xml"], setting);
  assert.equal(tested.code, 1, tested.stderr);
  assert.match(tested.stdout, /demo\.upper 0\.1\.0 as first: 0 passed, 1 failed/);
  assert.match(tested.stdout, /demo\.upper 0\.1\.0 as second: 1 passed, 0 failed/);
  assert.match(
    readFileSync(directory.join("results.xml"), "utf8"),
    /tests="2" failures="1"[\s\S]*first: capitals/,
  );
  const why = JSON.parse((await runToolcrib(["info", "demo.upper", "--why", "--json"], setting)).stdout);
  assert.equal(why.chosen, "second");
  assert.deepEqual(
    why.implementations.map((one: { id: string; measured: object }) => [
      one.id,
      { ...one.measured, latencyMs: 0 },
    ]),
    [
      ["second", { passRate: 1, latencyMs: 0, runs: 1 }],
      ["first", { passRate: 0, latencyMs: 0, runs: 1 }],
    ],
  );
  assert.match(
    (await runToolcrib(["info", "demo.upper", "--why"], setting)).stdout,
    /runs as second[\s\S]*rank 1: 100 % of its tests passed in 1 run, \d+ ms a call[\s\S]*rank 2: 0 %/,
  );
  writeFileSync(directory.join("toolcrib.yaml"), "packages: {}\n");
  const called = await runToolcrib(["call", "demo.upper", "--arg", "text=x"], setting);
  assert.match(called.stdout, /"X"/, called.stderr);
  assert.match((await runToolcrib(["audit", "list"], setting)).stdout, /ran as second/);
  const one = await runToolcrib(["test", "demo.upper", "--implementation", "second", "--json"], setting);
  assert.equal(one.code, 0, one.stderr);
  assert.deepEqual(
    JSON.parse(one.stdout).implementations.map((run: { implementation: string }) => run.implementation),
    ["second"],
  );
  const none = await runToolcrib(["test", "demo.upper", "--implementation", "third"], setting);
  assert.match(
    none.stderr,
    /"third" is no implementation of demo\.upper that runs here[\s\S]*those that run are second, first/,
  );
});
