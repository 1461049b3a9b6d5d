/** Calls that wait for an approval which would not count any more: their server is gone, or the policy changed. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { echoStdioPath, fixtureCommand, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { cleanEnvironment, commandLine, runToolcrib, startServe } from "./transcript.ts";

/** The folder of the server and of its modules. */
const workspace = join(import.meta.dirname, "../../..");

async function setUp() {
  const directory = await makeTemporaryDirectory();
  const transport = { kind: "stdio", ...fixtureCommand(echoStdioPath) };
  const config = {
    sandbox: { mode: "preferred" },
    tool_servers: [{ id: "s", transport, first_contact: "pin", containment: { read_paths: [workspace] } }],
    serve: { listen: "127.0.0.1:0" },
  };
  /** Changes the configuration. */
  const change = (more: object) =>
    writeFileSync(directory.join("toolcrib.json"), JSON.stringify({ ...config, ...more }));
  change({});
  const setting = { directory: directory.path };
  const run = (...words: readonly string[]) => runToolcrib(words, setting);
  return { directory, setting, run, change };
}

test("a call whose approval would not count is not offered, and refused with the reason", async () => {
  const { directory, run, setting, change } = await setUp();
  await using _directory = directory;
  const ids: string[] = [];
  {
    await using gateway = await startServe(["--auth", "none"], setting);
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
    const client = new Client({ name: "c", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
    for (const path of ["a", "b"]) {
      const text = JSON.stringify(await client.callTool({ name: "s__echo", arguments: { text: path } }));
      ids.push(/call:[0-9a-f]{16}/.exec(text)?.[0] ?? assert.fail(text));
    }
    await client.close();
  }
  const [id = "", other = ""] = ids;
  // Without a gateway, what waits is still offered, and can be approved.
  assert.match((await run("approve")).stdout, new RegExp(`^CALL.*\n${id} `));
  assert.equal((await run("approve", other, "--yes")).code, 0);
  const cases = [
    [{ policy: { deny: ["s:echo"] } }, "the policy denies it now"],
    [{ policy: { deny: ["s:write"] } }, "the policy changed after it was requested"],
    [{ tool_servers: [] }, 'its server "s" is not configured'],
  ] as const;
  for (const [more, reason] of cases) {
    change(more);
    const isRunning = "policy" in more && reason.includes("denies");
    await using gateway = isRunning ? await startServe(["--auth", "none"], setting) : undefined;
    if (gateway !== undefined) await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
    const line = `cannot be approved any more ${id}: anonymous wanted to call s:echo, and ${reason}\n`;
    const { stdout } = await run("approve");
    assert.equal(stdout, `Nothing else waits for approval\n\n${line}`);
    const refused = await run("approve", id, "--yes");
    assert.equal(refused.code, 1, refused.stdout);
    assert.ok(
      refused.stderr.includes(
        `Nothing was approved: an approval of "${id}" would not count, because ${reason}`,
      ),
      refused.stderr,
    );
    if (gateway === undefined) continue;
    const { stdout: status } = await run("status");
    assert.ok(status.includes(line) && !status.includes("waits for approval call:"), status);
  }
  assert.match((await run("approve", id, "--deny")).stdout, /^Denied for 10 minutes/);
});

test("status shows two of many calls whose approval would not count, and the number of the others", async () => {
  const { directory, run, setting, change } = await setUp();
  await using _directory = directory;
  {
    await using gateway = await startServe(["--auth", "none"], setting);
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
    const client = new Client({ name: "c", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
    for (const text of ["a", "b", "c", "d", "e"]) {
      await client.callTool({ name: "s__echo", arguments: { text } });
    }
    await client.close();
  }
  change({ policy: { deny: ["s:echo"] } });
  await using gateway = await startServe(["--auth", "none"], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const { stdout } = await run("status");
  assert.equal(stdout.split("cannot be approved any more").length - 1, 2, stdout);
  assert.match(stdout, /^and 3 more calls: .*toolcrib approve$/m);
  assert.equal((await run("approve")).stdout.split("cannot be approved any more").length - 1, 5);
});

test("status --watch says that a call waits, and that it cannot be approved any more", async () => {
  const { directory, run, setting, change } = await setUp();
  await using _directory = directory;
  await using gateway = await startServe(["--auth", "none"], setting);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const followed = ["--json", "--no-color"].map((flag) => {
    const args = [...commandLine, "status", "--watch", "--interval", "1s", flag];
    const child = spawn(process.execPath, args, {
      cwd: directory.path,
      env: { ...process.env, ...cleanEnvironment(directory.path) },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const one = { child, ended: once(child, "close"), text: "" };
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      one.text += text;
    });
    return one;
  });
  const [json, text] = followed;
  assert.ok(json !== undefined && text !== undefined);
  try {
    const client = new Client({ name: "c", version: "1" });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
    const answer = JSON.stringify(await client.callTool({ name: "s__echo", arguments: { text: "a" } }));
    const id = /call:[0-9a-f]{16}/.exec(answer)?.[0] ?? assert.fail(answer);
    await client.close();
    const waits = { what: "call", id, client: "anonymous", tool: "s:echo" };
    const has = (wanted: string) => waitUntil(() => text.text.includes(wanted));
    await has(`waits for approval ${id}: anonymous wants to call s:echo\n`);
    await waitUntil(() => json.text.includes(id));
    change({ policy: { deny: ["s:echo"] } });
    assert.equal((await run("reload")).code, 0);
    const reason = "the policy denies it now";
    await has(`cannot be approved any more ${id}: anonymous wanted to call s:echo, and ${reason}\n`);
    const states = () =>
      json.text
        .split("\n")
        .filter((line) => line.endsWith("}"))
        .map((line) => JSON.parse(line) as { readonly [name: string]: unknown })
        .filter(({ what }) => what === "call")
        .map(({ time: _time, ...rest }) => rest);
    await waitUntil(() => states().length >= 2);
    assert.deepEqual(states(), [
      { ...waits, state: "waits for approval" },
      { ...waits, state: "outdated", reason },
    ]);
  } finally {
    for (const { child } of followed) child.kill("SIGINT");
    await Promise.all(followed.map(({ ended }) => ended));
  }
});
