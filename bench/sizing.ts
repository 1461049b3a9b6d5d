/**
 * Measures the costs of calls, for the page about sizing: bytes of the audit trail, CPU time of the gateway and its memory, for
 * calls of a small tool with an upstream over stdio. It takes some seconds:
 *
 *     node --conditions=toolcrib-source bench/sizing.ts [--calls 3000]
 *
 * It compares nothing; `npm run bench` does.
 */

import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { allContenders, upstreamFile } from "./contenders.ts";
import { writeInstalled } from "./installed.ts";
import { describeMachine } from "./machine.ts";
import { readUsage } from "./process-tree.ts";
import { untilReady } from "./ready.ts";

const { values } = parseArgs({ options: { calls: { type: "string", default: "3000" } } });
const calls = Number(values.calls);
const inFlight = 8;
const signal = AbortSignal.timeout(120_000);

await writeInstalled();
const contender = allContenders().find(({ id }) => id === "toolcrib");
if (contender === undefined) throw new Error("There is no contender toolcrib");
const home = mkdtempSync(join(tmpdir(), "toolcrib-sizing-"));
try {
  const launched = await contender.launch(home, [{ id: "echo", hangs: false }]);
  await using child = launched.child;
  const { client } = await untilReady(launched, { count: 1, limitMs: 20_000, signal });
  const call = () =>
    client.request("tools/call", {
      name: "echo__echo",
      arguments: { message: "a sentence of fifty characters, more or less here" },
    });
  const use = () => readUsage(child.pid, upstreamFile) ?? { cpuMs: Number.NaN, rssBytes: Number.NaN };
  for (let made = 0; made < 200; made += 1) await call();
  const before = { ...use(), trail: bytesBelow(home, "audit") };
  let left = calls;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await call();
    }
  };
  await Promise.all(Array.from({ length: inFlight }, worker));
  const after = { ...use(), trail: bytesBelow(home, "audit") };
  client.close();
  console.log(describeMachine(new Date()));
  console.log(`calls: ${calls}, ${inFlight} at a time`);
  console.log(`audit trail: ${Math.round((after.trail - before.trail) / calls)} bytes a call`);
  console.log(`CPU time of the gateway: ${((after.cpuMs - before.cpuMs) / calls).toFixed(3)} ms a call`);
  console.log(
    `resident memory: ${Math.round(before.rssBytes / 1e6)} MB before, ${Math.round(after.rssBytes / 1e6)} MB after`,
  );
} finally {
  rmSync(home, { recursive: true, force: true });
}

/** The bytes of the files in all folders of the name `name` below `folder`. */
function bytesBelow(folder: string, name: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.split("/").at(-1) === name)
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}
