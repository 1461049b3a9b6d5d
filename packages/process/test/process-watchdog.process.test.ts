import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { createProcessLauncher } from "@toolcrib/process";
import {
  assertNothingLeft,
  createTestLauncher,
  fixture,
  leftovers,
  never,
  readLine,
  startGateway,
  treeScripts,
  uniqueSleep,
  until,
  watchdogsOf,
} from "./process-harness.ts";

for (const script of treeScripts) {
  test(`A gateway killed with SIGKILL leaves nothing behind (${script})`, async () => {
    await using gateway = await startGateway(script, "hold", 2);
    assert.equal((await watchdogsOf(gateway.pid)).length, 1);
    gateway.child.kill("SIGKILL");
    await assertNothingLeft(gateway);
  });
}

test("A gateway that is a server of another one ends its own servers, and its watchdog outlives the first one's", async () => {
  await using host = createTestLauncher({ graceMs: 50, terminateGraceMs: 50, orphanGraceMs: 50 });
  const sleep = uniqueSleep();
  const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
  const args = [...conditions, fixture("gateway.ts"), fixture("escaped.sh"), sleep, "hold", "1"];
  const inner = await host.launch(process.execPath, args);
  let said = "";
  inner.stdout.on("data", (bytes) => {
    said += bytes;
  });
  await until("the inner gateway has launched its server", () => said.includes("launched "));
  process.kill(inner.pid, "SIGKILL");
  await inner.exited;
  await until("its watchdog has done its work", async () => (await watchdogsOf(inner.pid)).length === 0);
  assert.deepEqual(await leftovers(said.slice(0, 32), sleep), []);
});

test("A gateway that crashes leaves nothing behind", async () => {
  await using gateway = await startGateway("tree.sh", "crash", 1);
  await assertNothingLeft(gateway);
  assert.equal(gateway.child.exitCode, 1);
});

test("A signal to the gateway's whole group does not reach the watchdog", async () => {
  await using gateway = await startGateway("tree.sh", "hold", 1);
  process.kill(-gateway.pid, "SIGKILL");
  await assertNothingLeft(gateway);
});

test("A gateway that closes cleanly has no watchdog left when it ends", async () => {
  await using gateway = await startGateway("tree.sh", "close", 1);
  await gateway.exited;
  assert.equal(gateway.child.exitCode, 0);
  assert.deepEqual(await watchdogsOf(gateway.pid), []);
  assert.deepEqual(await leftovers(gateway.instance, gateway.sleep), []);
});

test("The watchdog starts with the first launch, is replaced after it was killed, and still ends earlier servers", async () => {
  await using host = createTestLauncher();
  const before = await watchdogsOf(process.pid);
  const server = await host.launch("sh", [fixture("tree.sh"), uniqueSleep()]);
  await readLine(server.stdout);
  const [watchdog, ...others] = (await watchdogsOf(process.pid)).filter((pid) => !before.includes(pid));
  assert.equal(others.length, 0);
  process.kill(watchdog!, "SIGKILL");
  await until("it was replaced", async () => {
    const now = await watchdogsOf(process.pid);
    return now.some((pid) => pid !== watchdog && !before.includes(pid));
  });
  assert.deepEqual(
    host.records.filter(({ event }) => event.startsWith("upstream.watchdog")).map(({ event }) => event),
    ["upstream.watchdog.restarted"],
  );
  await host.launcher[Symbol.asyncDispose]();
  assert.deepEqual(await watchdogsOf(process.pid), before);
});

test("A watchdog that is killed while it is started again is started without another launch", {
  skip: !existsSync("/proc/self/task") && "needs the list of children of a process of Linux",
}, async () => {
  let now = 0;
  let isToKill = false;
  const onRecord = (event: string) => {
    if (event === "upstream.watchdog.failed") isToKill = false;
    if (event !== "upstream.watchdog.restarted" || !isToKill) return;
    now += 60_000;
    // The new shell exists. Where it has already said that it is ready, it is replaced, and the next one is killed.
    queueMicrotask(() => {
      for (const pid of watchdogsHere()) process.kill(pid, "SIGKILL");
    });
  };
  await using host = createTestLauncher({}, process.env, onRecord, () => now);
  const before = watchdogsHere();
  const server = await host.launch("sh", [fixture("tree.sh"), uniqueSleep()]);
  await readLine(server.stdout);
  const [watchdog] = watchdogsHere().filter((pid) => !before.includes(pid));
  isToKill = true;
  process.kill(watchdog!, "SIGKILL");
  const events = () =>
    host.records.filter(({ event }) => event.startsWith("upstream.watchdog")).map(({ event }) => event);
  await until("its start has failed", () => events().includes("upstream.watchdog.failed"));
  await until("another one runs", () => watchdogsHere().some((pid) => !before.includes(pid)));
  assert.deepEqual([...new Set(events())], ["upstream.watchdog.restarted", "upstream.watchdog.failed"]);
  assert.equal(events().at(-1), "upstream.watchdog.failed");
  await host.launcher[Symbol.asyncDispose]();
  assert.deepEqual(watchdogsHere(), before);
});

/** The watchdogs of this process, read at once. */
function watchdogsHere(): readonly number[] {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, "utf8").trim().split(" ");
  return children
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("toolcrib-watchdog");
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Kills the watchdog of a launcher as often as it says, after a start of each. */
async function killWatchdogs(host: ReturnType<typeof createTestLauncher>, rounds: number): Promise<void> {
  const ofWatchdog = () => host.records.filter(({ event }) => event.startsWith("upstream.watchdog"));
  for (let round = 0; round < rounds; round += 1) {
    // A launch waits until the watchdog has said that it runs: one that is killed before that could not be started.
    await (await host.launch("cat")).stop();
    let own: number[] = [];
    await until("a watchdog runs", async () => {
      own = await watchdogsOf(process.pid);
      return own.length === 1;
    });
    const count = ofWatchdog().length;
    process.kill(own[0]!, "SIGKILL");
    await until("its end is noticed", () => ofWatchdog().length > count);
  }
}

test("No server is launched without a watchdog: when it is killed again and again, until that has stopped", async () => {
  let now = 0;
  await using host = createTestLauncher(
    {},
    process.env,
    () => {},
    () => now,
  );
  assert.deepEqual(await watchdogsOf(process.pid), []);
  const server = await host.launch("cat");
  await killWatchdogs(host, 6);
  assert.equal(host.records.at(-1)?.event, "upstream.watchdog.given-up");
  now = 59_999;
  await assert.rejects(host.launch("cat"), {
    code: "PROCESS_WATCHDOG_FAILED",
    message:
      "Cannot start the watchdog that ends all servers when the gateway dies: it was killed again and again; a launch tries again 60 s later",
  });
  now = 60_000;
  await (await host.launch("cat")).stop();
  assert.equal((await watchdogsOf(process.pid)).length, 1);
  await server.stop();
  assert.equal((await server.exited).code, 0);
});

test("A watchdog that is killed now and then is always replaced", async () => {
  let now = 0;
  await using host = createTestLauncher(
    {},
    process.env,
    () => {},
    () => now,
  );
  for (let round = 0; round < 8; round += 1) {
    await killWatchdogs(host, 1);
    now += 60_000;
  }
  const counts = host.records.filter(({ event }) => event === "upstream.watchdog.restarted");
  assert.equal(counts.length, 8);
  await (await host.launch("cat")).stop();
});

test("No server is launched without a watchdog: when the id of the gateway is invalid", async () => {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const deps = { env: {}, now: Date.now, logger: silent, randomBytes: () => new Uint8Array(0) };
  await using launcher = createProcessLauncher(deps);
  const spec = { command: "cat", args: [], env: {}, label: "test" };
  for (const _ of ["first", "again"]) {
    await assert.rejects(launcher.launch(spec, { signal: never }), {
      code: "PROCESS_WATCHDOG_FAILED",
      message:
        "Cannot start the watchdog that ends all servers when the gateway dies: its shell ended with code 1",
      hint: "it needs /bin/sh and sleep; in a container without a shell, run the gateway as process 1",
    });
  }
});
