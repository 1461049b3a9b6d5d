/** Composites in processes of their own, which run in a sandbox of the operating system. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { test } from "node:test";
import { waitUntil } from "@toolcrib/testing";
import { echoStdio, startTestGateway, type TestGateway, textOf } from "./gateway-harness.ts";

const skip = process.platform === "linux" ? false : "it looks at processes in /proc";

/** The parent of a process, from `/proc/PID/stat`: its second field, which can contain spaces, is in parentheses. */
function parentOf(pid: string): string {
  const text = readFileSync(`/proc/${pid}/stat`, "utf8");
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[1] ?? "0";
}

/** Whether this process started `pid`, or what started it. */
function isOwn(pid: string): boolean {
  let current = pid;
  while (current !== "0" && current !== "1" && current !== String(process.pid)) current = parentOf(current);
  return current === String(process.pid);
}

/** The Node processes below this one that wait for a composite, or execute one. */
function childPids(): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((pid) => {
      try {
        const [program, ...words] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        const isChild =
          program === process.execPath && words.some((word) => word.includes("isolated/child-process."));
        return isChild && isOwn(pid);
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
  await using setting = await startTestGateway({
    tool_servers: [echoStdio("s")],
    execution: { isolation: "process" },
  });
  await waitUntil(() => childPids().length > 0, { what: "a process waits for a composite" });
  const [pid = 0] = childPids();
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
  await waitUntil(() => childPids().length === 0, { what: "no process is left" });
});
