/**
 * A step of `npm run verify`: 5,000 random sets of policies, 100 requests each, against an independent
 * reference. Each shard is a run of one test file with its own seed, because a file must end within two minutes.
 *
 *     npm run verify -- policies
 */

import { spawn } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dirname, "..");
const testFile = "packages/cedar/test/agreement.test.ts";
/** Shards of 500 sets. */
const shardCount = 10;

const firstSeed = Math.floor(Math.random() * 2 ** 30);
const seeds = Array.from({ length: shardCount }, (_, at) => firstSeed + at);
let failed = 0;

async function work(): Promise<void> {
  for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift()) {
    const { isPassed, report } = await runShard(seed);
    if (!isPassed) failed += 1;
    console.log(`seed ${seed}: ${isPassed ? "agrees" : report}`);
  }
}

function runShard(seed: number): Promise<{ readonly isPassed: boolean; readonly report: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--conditions=toolcrib-source", "scripts/test.ts", testFile], {
      cwd: root,
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TOOLCRIB_TEST_ALL: "1", TOOLCRIB_TEST_SEED: String(seed) },
    });
    let report = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      report += text;
    });
    child.once("error", reject).once("close", (code) => {
      resolve({ isPassed: code === 0 && /^1 passed, 0 failed/m.test(report), report });
    });
  });
}

await Promise.all(Array.from({ length: availableParallelism() }, work));
console.log(`${shardCount - failed} passed, ${failed} failed, 0 skipped`);
process.exitCode = failed === 0 ? 0 : 1;
