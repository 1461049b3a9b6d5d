/** The configuration of a running gateway: changed, broken, repaired; by files, by the command, by a signal. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { isProcessAlive, makeTemporaryDirectory, waitUntil } from "@toolcrib/testing";
import { HttpClient, replaceConfig, smallServer } from "./reload-harness.ts";
import { cleanEnvironment, commandLine, runToolcrib, startServe } from "./transcript.ts";

const serve = { listen: "127.0.0.1:0" };

test("a changed configuration applies as a whole, and servers that stay keep their processes and calls", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const [a, b, c] = [smallServer("a", "ta"), smallServer("b", "tb"), smallServer("c", "tc")];
  replaceConfig(directory, { tool_servers: [a, b], serve });
  await using gateway = await startServe(["--auth", "none"], setting);
  await using client = await HttpClient.open(gateway.url);
  assert.deepEqual(await client.tools(), ["a__ta", "b__tb"]);
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const [pidA, pidB] = [(await client.call("a__ta")).text, (await client.call("b__tb")).text];

  // Calls in flight of the server that stays and of the one that leaves.
  const staying = client.call("a__ta", { ms: 1500 });
  const leaving = client.call("b__tb", { ms: 1500 });
  await waitUntil(async () => {
    const status = await fetch(`${gateway.url}/api/v1/status`);
    return ((await status.json()) as { callsInFlight: number }).callsInFlight === 2;
  });
  const before = client.notified.length;
  const labelled = { ...a, labels: { team: "x" }, containment: { max_execution_seconds: 77 } };
  replaceConfig(directory, { tool_servers: [c, labelled], policy: { deny: ["a:nothing"] }, serve });
  await waitUntil(async () => (await client.tools()).join() === "a__ta,c__tc");
  assert.deepEqual(
    [await staying, await leaving],
    [
      { text: pidA, isError: false },
      { text: pidB, isError: false },
    ],
  );
  assert.equal((await client.call("a__ta")).text, pidA);
  assert.notEqual((await client.call("c__tc")).text, pidB);
  assert.match((await client.call("b__tb")).text, /b__tb/);
  await waitUntil(() => !isProcessAlive(Number(pidB)));
  // One for the change; a server that takes long to start is another one.
  await waitUntil(() => client.notified.length > before);
  assert.ok(client.notified.length <= before + 2, client.notified.join());

  // A change of the transport restarts the server, and its calls wait for it.
  const changed = smallServer("a", "ta", { env: { OTHER: "1" } });
  replaceConfig(directory, { tool_servers: [c, changed], serve });
  await waitUntil(async () => (await client.call("a__ta")).text !== pidA);
  await waitUntil(() => !isProcessAlive(Number(pidA)));
  const { stdout } = await runToolcrib(["audit", "list"], setting);
  assert.match(stdout, /tool_servers\.b, tool_servers\.c, tool_servers\.a, policy\.deny/);

  // The files were read again by themselves: there is nothing left for the command.
  const { loadedAt } = JSON.parse((await runToolcrib(["status", "--json"], setting)).stdout).configuration;
  const reloaded = await runToolcrib(["reload"], setting);
  assert.deepEqual(
    [reloaded.code, reloaded.stdout],
    [0, `Nothing to apply: the configuration in the files is already in use, since ${loadedAt}\n`],
  );
});

test("an invalid change changes nothing and is shown with its place, and a repaired one applies", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const config = { tool_servers: [smallServer("a", "ta")], serve };
  replaceConfig(directory, config);
  await using gateway = await startServe(["--auth", "none"], setting);
  await using client = await HttpClient.open(gateway.url);
  const { text: pid } = await client.call("a__ta");

  replaceConfig(directory, { ...config, tool_servers: [smallServer("b", "tb")], policy: { deny: 5 } });
  const configuration = async () =>
    JSON.parse((await runToolcrib(["status", "--json"], setting)).stdout).configuration;
  await waitUntil(async () => (await configuration()).lastError !== undefined);
  const { lastError, files } = await configuration();
  assert.match(
    lastError.message,
    /^toolcrib\.json:\d+:\d+: error CONFIG_WRONG_TYPE\n"policy\.deny" must be a list/,
  );
  assert.deepEqual(files, ["toolcrib.json"]);
  const refused = await runToolcrib(["reload"], setting);
  assert.equal(refused.code, 2);
  assert.match(refused.stdout, /^not applied: .*\ntoolcrib\.json:\d+:\d+: error CONFIG_WRONG_TYPE\n/);
  const shown = (await runToolcrib(["status"], setting)).stdout;
  assert.match(shown, /^changed .*toolcrib\.json and is not in force/m);
  // Each finding has its lines, with the caret below what is wrong.
  const finding = lastError.message.split("\n").map((line: string) => `  ${line}\n`);
  assert.ok(
    finding.some((line: string) => /^ +\^/.test(line)),
    lastError.message,
  );
  assert.ok(shown.includes(`\nnot in force the changed configuration:\n${finding.join("")}`), shown);
  assert.equal((await client.call("a__ta")).text, pid);
  assert.match(gateway.stderr(), /CONFIG_WRONG_TYPE.*"changed configuration is not used/);
  const { stdout } = await runToolcrib(["audit", "list"], setting);
  assert.match(stdout, /config\.rejected .*CONFIG_WRONG_TYPE/);

  // The file is gone for a moment, as with some editors.
  rmSync(directory.join("toolcrib.json"));
  const repaired = { ...config, serve: { ...serve, mode: "search", limits: { max_sessions: 7 } } };
  writeFileSync(directory.join("toolcrib.json"), JSON.stringify(repaired));
  await waitUntil(async () => (await configuration()).lastError === undefined);
  assert.deepEqual((await configuration()).pendingRestart, ["serve.limits"]);
  const again = await runToolcrib(["reload"], setting);
  assert.deepEqual([again.code, again.stdout], [0, "needs a restart serve.limits\n"]);
  assert.deepEqual(await client.tools(), []);
  assert.equal((await client.call("a__ta")).text, pid);
});

test("policy files, SIGHUP and a gateway on standard input: changes apply", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const config = { tool_servers: [smallServer("a", "ta"), smallServer("b", "tb")], serve };
  replaceConfig(directory, config);
  await using gateway = await startServe(["--auth", "none"], setting);
  await using client = await HttpClient.open(gateway.url);
  assert.deepEqual(await client.tools(), ["a__ta", "b__tb"]);
  const allows = (server: string) => `permit(principal, action, resource in ToolServer::"${server}");\n`;
  writeFileSync(directory.join("main.cedar"), allows("a"));
  replaceConfig(directory, { ...config, policy: { files: ["main.cedar"] } });
  await waitUntil(async () => (await client.tools()).join() === "a__ta");
  writeFileSync(directory.join("main.cedar"), allows("b"));
  await waitUntil(async () => (await client.tools()).join() === "b__tb");
  replaceConfig(directory, config);
  process.kill(gateway.pid, "SIGHUP");
  await waitUntil(async () => (await client.tools()).join() === "a__ta,b__tb");
  assert.equal((await client.call("a__ta")).isError, false);
  assert.equal(readFileSync(directory.join("toolcrib.json"), "utf8").includes("main.cedar"), false);
});

test("a gateway on standard input and output applies changes, and notifies its client", async () => {
  await using directory = await makeTemporaryDirectory();
  replaceConfig(directory, { tool_servers: [smallServer("a", "ta")] });
  const gateway = spawn(process.execPath, [...commandLine, "serve", "--stdio"], {
    cwd: directory.path,
    env: cleanEnvironment(directory.path) as NodeJS.ProcessEnv,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const ended = new Promise((resolve) => gateway.on("exit", resolve));
  // biome-ignore lint/suspicious/noExplicitAny: the test reads members of messages
  const messages: any[] = [];
  createInterface({ input: gateway.stdout }).on("line", (line) => messages.push(JSON.parse(line)));
  let lastId = 0;
  const ask = async (method: string, params: object) => {
    const id = ++lastId;
    gateway.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await waitUntil(() => messages.some((one) => one.id === id));
    return messages.find((one) => one.id === id).result;
  };
  const names = async () => {
    const { tools } = await ask("tools/list", {});
    return tools
      .map(({ name }: { readonly name: string }) => name)
      .filter((name: string) => name.includes("__"));
  };
  const clientInfo = { name: "test", version: "1" };
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  gateway.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/initialized" })}\n`);
  await waitUntil(async () => (await names()).join() === "a__ta");
  const before = messages.length;
  replaceConfig(directory, { tool_servers: [smallServer("a", "ta"), smallServer("b", "tb")] });
  await waitUntil(() =>
    messages.slice(before).some(({ method }) => method === "notifications/tools/list_changed"),
  );
  // A server that starts slowly is listed later than the first notification.
  await waitUntil(async () => (await names()).join() === "a__ta,b__tb");
  gateway.stdin.end();
  await ended;
});

test("a gateway that is killed while it applies changes leaves a home that starts", async () => {
  await using directory = await makeTemporaryDirectory();
  const setting = { directory: directory.path };
  const servers = (count: number) =>
    Array.from({ length: count }, (_, at) => smallServer(`s${at}`, `t${at}`));
  replaceConfig(directory, { tool_servers: servers(1), serve });
  for (const [round, waitMs] of [0, 60, 110].entries()) {
    await using gateway = await startServe(["--auth", "none"], setting);
    await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
    replaceConfig(directory, {
      tool_servers: servers(2 + (round % 2)),
      serve,
      policy: { deny: [`x${round}:*`] },
    });
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    process.kill(gateway.pid, "SIGKILL");
    await gateway.stop();
  }
  await using gateway = await startServe(["--auth", "none"], setting);
  await using client = await HttpClient.open(gateway.url);
  await waitUntil(async () => (await client.tools()).join() === "s0__t0,s1__t1");
  assert.equal((await client.call("s1__t1")).isError, false);
  const verified = await runToolcrib(["audit", "verify"], setting);
  assert.equal(verified.code, 0, verified.stdout);
});
