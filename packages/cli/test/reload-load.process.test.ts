/**
 * A configuration that is changed again and again while clients call: servers are added, removed and changed, the file
 * is broken and repaired. `npm run verify` makes 100 changes with 32 clients, and reports how soon clients saw them.
 */

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { loadavg } from "node:os";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  canFindProcesses,
  findProcessesByEnvironment,
  makeTemporaryDirectory,
  runsAll,
  waitUntil,
} from "@toolcrib/testing";
import { HttpClient, replaceConfig, smallServer } from "./reload-harness.ts";
import { startServe } from "./transcript.ts";

const changeCount = runsAll ? 100 : 5;
const clientCount = runsAll ? 32 : 4;
/** Milliseconds between two calls of a client. */
const pauseMs = runsAll ? 0 : 50;

/** Marks the processes of this test. */
const mark = `TOOLCRIB_RELOAD_TEST=${process.pid}`;

test("reload under load: no call of a server that stays fails, and every change becomes visible", async (t) => {
  await using directory = await makeTemporaryDirectory();
  const steady = [markedServer("steady", "tool"), markedServer("second", "tool")];
  const write = (others: readonly object[], more: object = {}) =>
    replaceConfig(directory, {
      tool_servers: [...steady, ...others],
      serve: { listen: "127.0.0.1:0" },
      ...more,
    });
  write([]);
  await using gateway = await startServe(["--auth", "none"], { directory: directory.path });
  await waitUntil(async () => (await fetch(`${gateway.url}/readyz`)).ok);
  const clients = await Promise.all(Array.from({ length: clientCount }, () => HttpClient.open(gateway.url)));
  const [watcher] = clients as [HttpClient];
  const pid = (await watcher.call("steady__tool")).text;
  assert.match(pid, /^\d+$/);
  const descriptors = () => readdirSync(`/proc/${gateway.pid}/fd`).length;
  const descriptorsBefore = process.platform === "linux" ? descriptors() : 0;

  let isOver = false;
  let calls = 0;
  const failures: string[] = [];
  const callers = clients.map(async (client) => {
    while (!isOver) {
      const [steadyCall, second] = await Promise.all([
        client.call("steady__tool"),
        client.call("second__tool"),
      ]);
      if (steadyCall.isError || steadyCall.text !== pid) failures.push(steadyCall.text);
      if (second.isError) failures.push(second.text);
      calls += 2;
      await delay(pauseMs);
    }
  });

  const visibleAfter: number[] = [];
  const notifiedAfter: number[] = [];
  let notifications = 0;
  const change = async (others: readonly object[], more: object, isVisible: () => Promise<boolean>) => {
    const known = watcher.notified.length;
    write(others, more);
    const startedAt = performance.now();
    while (!(await isVisible())) {
      await delay(5);
      const isLate = performance.now() - startedAt > 30_000;
      if (isLate) isOver = true;
      assert.equal(
        isLate,
        false,
        `change ${visibleAfter.length} did not become visible\n${gateway.stderr()}`,
      );
    }
    visibleAfter.push(performance.now() - startedAt);
    return { known, startedAt };
  };
  /** Makes a change of the list, and waits until the watcher is notified of it. */
  const changeList = async (others: readonly object[], more: object, tools: string) => {
    const { known, startedAt } = await change(
      others,
      more,
      async () => (await watcher.tools()).join() === tools,
    );
    const notifiedAt = await waitUntil(() => watcher.notifiedOfToolsAt(known), {
      what: `a notification of change ${visibleAfter.length}`,
    });
    notifiedAfter.push(notifiedAt - startedAt);
    // Further notifications of one change are counted with it.
    if (runsAll) await delay(450);
    notifications += watcher.notified.length - known;
  };
  const base = "second__tool,steady__tool";
  for (let at = 0; at < changeCount; at += 1) {
    const round = Math.floor(at / 5);
    const [added, changed, kept] = [`add${round}`, `change${round}`, `kept${round}`];
    const both = markedServer("extra", changed, [kept]);
    const denied = { policy: { deny: [`extra:${changed}`] } };
    switch (at % 5) {
      case 0:
        await changeList([markedServer("extra", added)], {}, `extra__${added},${base}`);
        break;
      case 1:
        await changeList([both], {}, `extra__${changed},extra__${kept},${base}`);
        break;
      case 2:
        await change(
          [markedServer("wrong", "tool")],
          { policy: { deny: 7 } },
          async () => refusals(gateway.stderr()) === round + 1,
        );
        assert.equal((await watcher.tools()).join(), `extra__${changed},extra__${kept},${base}`);
        break;
      case 3:
        await changeList([both], denied, `extra__${kept},${base}`);
        break;
      default:
        await changeList([], {}, base);
    }
  }
  isOver = true;
  await Promise.all(callers);
  assert.deepEqual(failures.slice(0, 3), []);
  // Four of five changes are visible in the list.
  const changes = (changeCount / 5) * 4;
  if (runsAll) {
    t.diagnostic(
      `reload: ${changeCount} changes, ${clientCount} clients, ${calls} calls; visible after ${shown(visibleAfter)}, clients notified after ${shown(notifiedAfter)}; ${notifications} notifications of ${changes} changed lists; load ${loadavg()[0]?.toFixed(1)}`,
    );
  }
  // Each change waited for its notification. A server that is slow to list makes another one, and no more.
  assert.ok(notifications <= 2 * changes, `${notifications} notifications of ${changes} changed lists`);
  // Nothing is left of the servers that came and went.
  if (canFindProcesses) await waitUntil(() => findProcessesByEnvironment(mark).length === 2);
  for (const client of clients) await client[Symbol.asyncDispose]();
  if (process.platform === "linux") {
    await waitUntil(() => descriptors() <= descriptorsBefore + 2);
  }
  await gateway.stop();
  if (canFindProcesses) await waitUntil(() => findProcessesByEnvironment(mark).length === 0);
});

/** A server whose process the test finds. */
function markedServer(id: string, tool: string, more: readonly string[] = []): object {
  const [name = "", value = ""] = mark.split("=");
  return smallServer(id, tool, { env: { [name]: value }, more });
}

/** Returns how often a changed configuration was refused. */
function refusals(log: string): number {
  return log.split("changed configuration is not used").length - 1;
}

/** The median and the largest of some times. */
function shown(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b).map(Math.round);
  const late = sorted.filter((ms) => ms > 500).length;
  return `${sorted[Math.floor(sorted.length / 2)]} ms (median) and ${sorted.at(-1)} ms (largest; ${late} above 500)`;
}
