/** The first minute of a gateway in a new home: the first list, search and call of a client find the tools of servers that are still starting. */

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { test } from "node:test";
import { Client as ClientV2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  echoStdioPath,
  fixtureCommand,
  makeTemporaryDirectory,
  runsAll,
  type TemporaryDirectory,
  waitUntil,
} from "@toolcrib/testing";
import { cleanEnvironment, commandLine, echoServer, runToolcrib, startServe } from "./transcript.ts";

const servers = [echoServer("quick", "--builtin", "echo"), echoServer("late", "--start-delay", "2500")];

function writeConfig(directory: TemporaryDirectory, document: object = {}): void {
  writeFileSync(
    directory.join("toolcrib.json"),
    JSON.stringify({ tool_servers: servers, policy: { waive_approval: ["*"] }, ...document }),
  );
}

function stdioOf(directory: TemporaryDirectory) {
  return {
    command: process.execPath,
    args: [...commandLine, "serve", "--stdio"],
    cwd: directory.path,
    env: cleanEnvironment(directory.path) as Record<string, string>,
    stderr: "ignore" as const,
  };
}

/** Connects a client to a gateway on stdio, in a new home. */
const generations = [
  {
    name: "v1",
    async connect(directory: TemporaryDirectory) {
      const client = new ClientV1({ name: "first", version: "1.0.0" });
      await client.connect(new StdioV1(stdioOf(directory)));
      return client;
    },
  },
  {
    name: "v2",
    async connect(directory: TemporaryDirectory) {
      const client = new ClientV2({ name: "second", version: "2.0.0" });
      await client.connect(new StdioV2(stdioOf(directory)));
      return client as unknown as ClientV1;
    },
  },
];

for (const { name, connect } of generations) {
  test(`serve --stdio answers the first list of a ${name} client with the tools of every server`, async () => {
    await using directory = await makeTemporaryDirectory();
    writeConfig(directory, { serve: { list_wait_seconds: 60 } });
    const client = await connect(directory);
    try {
      const { tools } = await client.listTools();
      const names = tools.map((tool) => tool.name);
      assert.ok(names.includes("quick__echo"), names.join());
      assert.ok(names.includes("late__echo"), names.join());
    } finally {
      await client.close();
    }
  });

  test(`serve --stdio lets the first call of a ${name} client wait for its server`, async () => {
    await using directory = await makeTemporaryDirectory();
    const gate = directory.join("gate");
    // Without containment, it sees the file that lets it start.
    const containment = { network_egress: "allow", filesystem_write: "allow" };
    const gated = { ...echoServer("late", "--start-when", gate), containment };
    // Lists do not wait, calls do.
    writeConfig(directory, { serve: { list_wait_seconds: 0 }, tool_servers: [gated] });
    const client = await connect(directory);
    try {
      const call = (tool: string, args: object) => client.callTool({ name: tool, arguments: { ...args } });
      const { tools } = await client.listTools();
      assert.ok(!tools.some((tool) => tool.name === "late__echo"));
      const calls = Promise.all([
        call("late__echo", { text: "direct" }),
        call("call_tool", { name: "late__echo", arguments: { text: "by name" } }),
        call("eval_starlark", { code: 'return late.echo(text = "composite")' }),
      ]);
      // Answered after the calls were read, which wait.
      await client.ping();
      writeFileSync(gate, "");
      const answers = await calls;
      const texts = answers.map(({ content, isError }) => [isError ?? false, JSON.stringify(content)]);
      assert.deepEqual(
        texts.map(([isError]) => isError),
        [false, false, false],
        JSON.stringify(texts),
      );
      for (const [at, text] of ["direct", "by name", "composite"].entries()) {
        assert.match(String(texts[at]?.[1]), new RegExp(text));
      }
    } finally {
      await client.close();
    }
  });
}

test("the command line lists and calls tools of servers that are starting in the running gateway", async () => {
  await using directory = await makeTemporaryDirectory();
  writeConfig(directory, { serve: { list_wait_seconds: 60 } });
  const setting = { directory: directory.path, env: { TOOLCRIB_LISTEN: "127.0.0.1:0" } };
  await using gateway = await startServe(["--auth", "none"], setting);
  const [listed, called] = await Promise.all([
    runToolcrib(["list", "--json"], setting),
    runToolcrib(["call", "late__echo", "--arg", "text=hello"], setting),
  ]);
  assert.match(listed.stdout, /late:echo/);
  assert.deepEqual([called.code, called.stdout.trim(), called.stderr], [0, "hello", ""]);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
});

test("after a restart, serve --stdio lists a server that takes long to start, and a call waits for it", async () => {
  await using directory = await makeTemporaryDirectory();
  // The declaration stays the same while the start gets slower: its delay is in a file.
  const delay = directory.join("delay.json");
  const wrapper = directory.join("slow.mjs");
  writeFileSync(
    wrapper,
    `import { readFileSync } from "node:fs";
     process.argv.push("--start-delay", readFileSync(${JSON.stringify(delay)}, "utf8"));
     await import(${JSON.stringify(echoStdioPath)});`,
  );
  const slow = {
    id: "slow",
    transport: { kind: "stdio", ...fixtureCommand(wrapper) },
    trust_state: "certified",
  };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ tool_servers: [slow] }));
  const [generation] = generations as [(typeof generations)[0] & object];
  const names = async (client: ClientV1) => (await client.listTools()).tools.map((tool) => tool.name);
  writeFileSync(delay, "0");
  const first = await generation.connect(directory);
  const complete = await names(first);
  assert.ok(complete.includes("slow__echo"));
  await first.close();
  // As long as the time limit of a start once was, where all cases run.
  writeFileSync(delay, runsAll ? "21000" : "2000");
  const second = await generation.connect(directory);
  try {
    assert.deepEqual(await names(second), complete);
    const { content } = await second.callTool({ name: "slow__echo", arguments: { text: "late" } });
    assert.deepEqual(content, [{ type: "text", text: "late" }]);
  } finally {
    await second.close();
  }
});
