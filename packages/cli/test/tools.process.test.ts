import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import {
  checkGolden,
  makeTemporaryDirectory,
  type ServerProcess,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { echoServer, golden, type RunSetting, runToolcrib, startServe, transcript } from "./transcript.ts";

const config = {
  tool_servers: [
    echoServer("echo"),
    { id: "broken", transport: { kind: "stdio", command: "toolcrib-test-no-such-command" } },
  ],
  policy: { deny: ["echo:crash"] },
};

/** A server whose tool returns `{"a": 1}` as structured content, and the text of its arguments. */
const structuredServer = `
import { createInterface } from "node:readline";
createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const text = params?.arguments?.text;
  const results = {
    initialize: { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } },
    "tools/list": { tools: [{ name: "give", inputSchema: { type: "object" } }] },
    "tools/call": { content: text === undefined ? [] : [{ type: "text", text }], structuredContent: { a: 1 } },
  };
  const error = { code: -32601, message: "Method not found" };
  const answer = results[method] === undefined ? { error } : { result: results[method] };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\\n");
});
`;

/** Commands with the same result with and without a running gateway. */
const commands: readonly (readonly string[])[] = [
  ["search", "returns", "text", "--limit", "1", "--json"],
  ["describe", "echo:ekho"],
  ["call", "echo__echo", '{"text": "hello"}'],
  ["call", "echo:echo", "--arg", "text=42", "--json"],
  ["call", "echo__fail"],
  ["call", "echo__crash"],
  ["call", "broken__anything"],
  ["call", "echo__hang", "--timeout", "0.2"],
];

describe("with a configuration and no gateway", () => {
  let directory: TemporaryDirectory;
  before(async () => {
    directory = await makeTemporaryDirectory();
    writeFileSync(directory.join("toolcrib.json"), JSON.stringify(config));
  });
  after(() => directory[Symbol.asyncDispose]());

  test("tools are found and called, and every kind of failure has its exit code", async () => {
    checkGolden(golden("tools-alone.txt"), await transcript(commands, { directory: directory.path }));
  });

  test("invalid JSON arguments are reported with their position before any server starts", async () => {
    const setting = { directory: directory.path, stdin: '{"text": "from stdin"' };
    const text = await transcript(
      [
        ["call", "echo__echo", '{"text": hello}'],
        ["call", "echo__echo", "[1]"],
        ["call", "echo__echo", "-"],
        ["call", "echo__echo", "{}", "--arg", "text=x"],
        ["call", "echo__echo", "--arg", "text"],
      ],
      setting,
    );
    checkGolden(golden("arguments.txt"), text);
  });

  test("a result whose text differs from its structured content is printed once, with a note", async () => {
    await using own = await makeTemporaryDirectory();
    const setting = { directory: own.path };
    writeFileSync(own.join("server.mjs"), structuredServer);
    const server = {
      id: "s",
      transport: { kind: "stdio", command: process.execPath, args: [own.join("server.mjs")] },
      first_contact: "pin",
    };
    writeFileSync(own.join("toolcrib.json"), JSON.stringify({ tool_servers: [server] }));
    const call = (text: string) =>
      runToolcrib(["call", "s__give", JSON.stringify(text === "" ? {} : { text })], setting);
    const [other, same, none] = await Promise.all([call("One item"), call('{"a": 1.0}'), call("")]);
    assert.equal(other.stdout, "One item\n");
    assert.match(other.stderr, /The result also has structured content; --json shows it/);
    assert.equal(same.stdout, '{"a": 1.0}\n');
    assert.doesNotMatch(same.stderr, /structured content/);
    assert.equal(none.stdout, '{\n  "a": 1\n}\n');
  });

  test("describe separates what is believed about a tool from what its server says", async () => {
    await using own = await makeTemporaryDirectory();
    const setting = { directory: own.path };
    const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
    const inputSchema = {
      type: "object",
      properties: { timezone: { type: "string" }, unit: { enum: ["s", "ms"] } },
      required: ["timezone", "unit"],
    };
    const definition = JSON.stringify({ name: "give", annotations, inputSchema });
    const text = structuredServer.replace(/\{ name: "give", .*? \} \}/, definition);
    assert.notEqual(text, structuredServer);
    writeFileSync(own.join("server.mjs"), text);
    const describeWith = async (trust: object, ...words: string[]) => {
      const server = {
        id: "s",
        transport: { kind: "stdio", command: process.execPath, args: [own.join("server.mjs")] },
        first_contact: "pin",
        ...trust,
      };
      writeFileSync(own.join("toolcrib.json"), JSON.stringify({ tool_servers: [server] }));
      return (await runToolcrib(["describe", "s__give", ...words], setting)).stdout;
    };
    const unverified = await describeWith({});
    assert.match(unverified, /^s:give, server\n/m);
    // What only the caller knows is a placeholder.
    assert.match(unverified, /call s__give '\{"timezone":"<timezone>","unit":"s"\}'/);
    assert.match(
      unverified.replaceAll("\n", " "),
      /Treated as if it writes, may destroy data, accesses external systems: its server is unverified, so that what it declares is not believed \(it says that it only reads, destroys no data, accesses no external systems\)/,
    );
    const json = JSON.parse(await describeWith({}, "--json"));
    assert.equal(json.annotations.readOnlyHint, false);
    assert.deepEqual(json._meta["toolcrib/declared"], {
      annotations,
      trustState: "unverified",
      mutabilityClass: "unknown",
    });
    const verified = await describeWith({ trust_state: "verified" });
    assert.match(
      verified,
      /^s:give, server; says that it only reads, destroys no data, accesses no external systems\n/m,
    );
    assert.doesNotMatch(verified, /Treated/);
  });

  test("the commands in hints name the home that --home names", async () => {
    const home = directory.join("other home");
    const { stderr } = await runToolcrib(["--home", home, "call", "zzz__qqq"], { directory: directory.path });
    assert.ok(stderr.includes(`see toolcrib --home '${home}' list`), stderr);
    const plain = await runToolcrib(["call", "zzz__qqq"], { directory: directory.path });
    assert.match(plain.stderr, /see toolcrib list/);
  });

  test("list filters by server and reports missing servers", async () => {
    const setting = { directory: directory.path };
    const [all, one, none, json] = await Promise.all([
      runToolcrib(["list"], setting),
      runToolcrib(["list", "--server", "broken"], setting),
      runToolcrib(["list", "--server", "ecko"], setting),
      runToolcrib(["list", "--server", "echo", "--json"], setting),
    ]);
    assert.equal(all.code, 0);
    assert.match(all.stdout, /^TOOL +DESCRIPTION\necho__echo +Returns its text\n/);
    assert.match(all.stdout, /\n\n28 tools of 1 server\n$/);
    assert.match(
      all.stderr,
      /^warning: the tools of "broken" are missing: the server is unavailable: Cannot launch/,
    );
    assert.deepEqual([one.code, one.stdout], [5, ""]);
    assert.deepEqual([none.code, none.stderr.split("\n")[1]], [4, "hint: did you mean echo?"]);
    assert.equal(json.stderr, "");
    const [first] = JSON.parse(json.stdout);
    assert.deepEqual(first, {
      id: "echo:echo",
      name: "echo__echo",
      namespace: "echo",
      origin: "server",
      tags: [],
      description: "Returns its text",
    });
  });
});

describe("through the running gateway", () => {
  let directory: TemporaryDirectory;
  let gateway: ServerProcess;
  let setting: RunSetting;
  before(async () => {
    directory = await makeTemporaryDirectory();
    setting = { directory: directory.path };
    // Commands in any folder find the gateway of this home; without --config they read no configuration.
    const mode = { serve: { mode: "search", listen: "127.0.0.1:0" } };
    writeFileSync(directory.join("served.json"), JSON.stringify({ ...config, ...mode }));
    gateway = await startServe(["-c", "served.json"], setting);
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  });
  after(async () => {
    await gateway[Symbol.asyncDispose]();
    await directory[Symbol.asyncDispose]();
  });

  test("tools are found and called as without a gateway", async () => {
    checkGolden(golden("tools-alone.txt"), await transcript(commands, setting));
  });

  test("tools are shown to people, and results of every kind", async () => {
    const text = await transcript(
      [
        ["search", "returns", "text", "--limit", "3"],
        ["search", "--why", "returns", "text", "--limit", "1"],
        ["search", "forget"],
        ["search", "forget", "--all", "--tool", "echo:echo"],
        ["search", "forget", "--identity", "nobody"],
        ["search", "forget", "--all"],
        ["search", "zebra"],
        ["describe", "echo__structured"],
        ["describe", "search_tools", "--json"],
        ["call", "echo__structured", "-a", "value=4"],
        ["call", "echo__echo", "{}"],
        ["call", "echo__rpc_error"],
        ["call", "ekho"],
      ],
      setting,
    );
    checkGolden(golden("tools-served.txt"), text);
  });

  test("list shows every tool in every serve mode", async () => {
    const { stdout, code } = await runToolcrib(["list", "--json"], setting);
    assert.equal(code, 0);
    assert.equal(JSON.parse(stdout).length, 28);
  });

  test("a token of the environment is not used, and --config bypasses the gateway", async () => {
    const [called, past] = await Promise.all([
      runToolcrib(["call", "echo__echo", "-a", "text=x"], {
        ...setting,
        env: { TOOLCRIB_TOKEN: "x".repeat(40) },
      }),
      runToolcrib(["list", "-c", "served.json", "--server", "nope"], setting),
    ]);
    assert.equal(called.code, 0);
    assert.equal(past.code, 4);
  });
});

test("list is not a success when no server is available", async () => {
  await using directory = await makeTemporaryDirectory();
  const [, broken] = config.tool_servers;
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [broken] }));
  writeFileSync(directory.join("empty.json"), JSON.stringify({ tool_servers: [] }));
  const setting = { directory: directory.path };
  const { code, stdout, stderr } = await runToolcrib(["list", "--json"], setting);
  assert.equal(code, 5);
  assert.deepEqual(JSON.parse(stdout), []);
  assert.match(stderr, /the tools of "broken" are missing/);
  const empty = await runToolcrib(["list", "-c", "empty.json"], setting);
  assert.equal(empty.code, 0);
  assert.match(
    empty.stdout,
    /^No tools\. No servers yet: .*toolcrib.* add NAME adds one, .* import takes over/,
  );
});
