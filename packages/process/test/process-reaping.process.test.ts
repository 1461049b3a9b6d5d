import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import {
  createTestLauncher,
  fixture,
  leftovers,
  readLine,
  treeScripts,
  uniqueSleep,
} from "./process-harness.ts";

test("stop() closes the server's input and ends its descendants in groups and sessions of their own", async () => {
  await using host = createTestLauncher();
  const sleep = uniqueSleep();
  const server = await host.launch("sh", [fixture("tree.sh"), sleep]);
  await readLine(server.stdout);
  assert.equal((await leftovers(host.launcher.instance, sleep)).length, 5);
  await server.stop();
  assert.deepEqual(await leftovers(host.launcher.instance, sleep), []);
  const exit = await server.exited;
  assert.equal(exit.code, 0);
  assert.equal(exit.signal, undefined);
  assert.equal(exit.wasStopped, true);
  assert.equal(exit.orphanCount, 4);
  assert.deepEqual(exit.leftover, []);
});

test("stop() kills a server, its child and its daemon when they ignore signals and the end of input", async () => {
  await using host = createTestLauncher({ graceMs: 50, terminateGraceMs: 50, orphanGraceMs: 50 });
  const sleep = uniqueSleep();
  const server = await host.launch("sh", [fixture("stubborn.sh"), sleep]);
  await readLine(server.stdout);
  await server.stop();
  assert.deepEqual(await leftovers(host.launcher.instance, sleep), []);
  assert.equal((await server.exited).signal, "SIGKILL");
});

test("stop() sends SIGTERM to a server that still runs after the grace period", async () => {
  await using host = createTestLauncher();
  const server = await host.launch("sleep", ["300"]);
  await server.stop(0);
  assert.equal((await server.exited).signal, "SIGTERM");
});

test("stop() can be called repeatedly, concurrently, and after the end", async () => {
  await using host = createTestLauncher();
  const server = await host.launch("cat");
  await Promise.all([server.stop(), server.stop(), server[Symbol.asyncDispose]()]);
  await server.stop();
  assert.equal((await server.exited).code, 0);
});

test("stop() ends a child that cleared its environment and left the group, while its parent lives", async () => {
  await using host = createTestLauncher();
  const sleep = uniqueSleep();
  const script = `env -i setsid sleep ${sleep} & until grep -qs sleep /proc/$!/comm; do sleep 0.01; done; echo; cat`;
  const server = await host.launch("sh", ["-c", script]);
  await readLine(server.stdout);
  await server.stop();
  assert.deepEqual(await leftovers(host.launcher.instance, sleep), []);
});

for (const script of treeScripts) {
  test(`A server killed with SIGKILL is reported after its orphans were ended (${script})`, async () => {
    await using host = createTestLauncher({ orphanGraceMs: 100 });
    const sleep = uniqueSleep();
    const server = await host.launch("sh", [fixture(script), sleep]);
    await readLine(server.stdout);
    process.kill(server.pid, "SIGKILL");
    const exit = await server.exited;
    assert.deepEqual(await leftovers(host.launcher.instance, sleep), []);
    assert.equal(exit.signal, "SIGKILL");
    assert.equal(exit.wasStopped, false);
    assert.ok(exit.orphanCount >= { "tree.sh": 4, "stubborn.sh": 2, "escaped.sh": 1 }[script]);
  });
}

test("Disposing the launcher ends every server at once; disposing it again has no effect", async () => {
  const host = createTestLauncher();
  const sleep = uniqueSleep();
  const servers = await Promise.all([1, 2, 3].map(() => host.launch("sh", [fixture("tree.sh"), sleep])));
  await Promise.all(servers.map((server) => readLine(server.stdout)));
  await host.launcher[Symbol.asyncDispose]();
  await host.launcher[Symbol.asyncDispose]();
  assert.deepEqual(await leftovers(host.launcher.instance, sleep), []);
  assert.deepEqual(
    host.records.filter(({ event }) => event === "upstream.launcher.leftover"),
    [],
  );
});

test("Other servers and unrelated processes with similar markers are not signalled", async () => {
  await using host = createTestLauncher();
  await using other = createTestLauncher();
  const instance = host.launcher.instance;
  const unrelated = [
    { TOOLCRIB_INSTANCE: `${instance}0` },
    { TOOLCRIB_INSTANCE: instance.slice(0, -1) },
    { TOOLCRIB_SERVER: `${instance}/10` },
    { XTOOLCRIB_INSTANCE: instance, NOTE: `TOOLCRIB_SERVER=${instance}/1` },
    {},
  ].map((env) => spawn("/bin/sleep", ["300"], { env, detached: true, stdio: "ignore" }));
  try {
    await Promise.all(unrelated.map((child) => once(child, "spawn")));
    const [first, second, third] = [
      await host.launch("cat"),
      await host.launch("cat"),
      await other.launch("cat"),
    ];
    await first.stop();
    for (const pid of [second.pid, third.pid]) assert.equal(process.kill(pid, 0), true);
    await host.launcher[Symbol.asyncDispose]();
    assert.equal(process.kill(third.pid, 0), true);
    for (const child of unrelated) assert.deepEqual([child.exitCode, child.signalCode], [null, null]);
  } finally {
    for (const child of unrelated) child.kill("SIGKILL");
  }
});
