/** Composites in processes of their own, which run in a sandbox of the operating system. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { test } from "node:test";
import { waitUntil } from "@toolcrib/testing";
import { echoStdio, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";

const skip = process.platform === "linux" ? false : "it looks at processes in /proc";

/** The Node processes that wait for a composite, or execute one, of any test in this process. */
function childPids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        return (
          words[0] === process.execPath && words.some((word) => word.includes("isolated/child-process."))
        );
      } catch {
        return false;
      }
    })
    .map(Number);
}

function namespacesOf(pid: number | "self"): readonly string[] {
  return ["net", "mnt", "pid", "ipc"].map((kind) => readlinkSync(`/proc/${pid}/ns/${kind}`));
}

async function run({ connect }: TestGateway, code: string) {
  const client = await connect();
  return client.callTool({ name: "eval_starlark", arguments: { code } });
}

test("an isolated composite runs without a network and without files, and calls tools", {
  skip,
}, async () => {
  const before = new Set(childPids());
  const pids = () => childPids().filter((pid) => !before.has(pid));
  await using setting = await startTestGateway({
    tool_servers: [echoStdio("s")],
    execution: { isolation: "process" },
  });
  await waitUntil(() => pids().length > 0, { what: "a process waits for a composite" });
  const [pid = 0] = pids();
  const own = namespacesOf("self");
  assert.deepEqual(
    namespacesOf(pid).filter((one) => own.includes(one)),
    [],
  );
  const root = `/proc/${pid}/root`;
  for (const hidden of [`${setting.home}/audit`, "/root", "/etc/shadow", "/sys/class"]) {
    assert.equal(existsSync(`${root}${hidden}`), false, hidden);
  }
  for (let count = 1; count <= 3; count += 1) {
    const result = await run(setting, `return s.echo(text="call ${count}")`);
    assert.match(textOf(result), new RegExp(`call ${count}`));
  }
  await setting.stop();
  await waitUntil(() => pids().length === 0, { what: "no process is left" });
});
