/**
 * `npm run verify`: all cases of the lists that `npm test` samples, and every available
 * conformance suite. Each step ends with a line of counts; the last line is their sum.
 *
 *     npm run verify -- [STEP ...]
 *
 * Exits with 1 when a step fails or counts nothing.
 */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { listVerifiedTests } from "./verified-tests.ts";

const root = join(import.meta.dirname, "..");
const script = (path: string, ...args: readonly string[]) => [
  process.execPath,
  "--conditions=toolcrib-source",
  path,
  ...args,
];

/** One command whose output ends with `N passed, N failed`. */
interface Step {
  readonly name: string;
  readonly command: readonly string[];
}

interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

const steps: readonly Step[] = [
  { name: "cases", command: script("scripts/test.ts", ...listVerifiedTests(root)) },
  { name: "policies", command: script("scripts/verify-policies.ts") },
  { name: "mcp", command: script("scripts/conformance.ts") },
  { name: "features", command: script("scripts/features.ts") },
  { name: "starlark-go", command: script("scripts/verify-starlark.ts") },
  { name: "release", command: script("scripts/verify-release.ts") },
  { name: "checkout", command: script("scripts/verify-checkout.ts") },
  { name: "site", command: script("scripts/verify-site.ts") },
];

/**
 * Steps that run only where they are named. All but the last fetch packages, which can fail. The last starts a process for
 * each change of the policy: 258 changes take about five minutes of CPU time, and far more time on a machine that does
 * anything else.
 */
const furtherSteps: readonly Step[] = [
  { name: "server-upgrades", command: script("scripts/verify-upgrades.ts") },
  { name: "real-servers", command: script("scripts/verify-real-servers.ts") },
  { name: "adopted-servers", command: script("scripts/verify-adopted-servers.ts") },
  { name: "first-day", command: script("scripts/verify-first-day.ts") },
  { name: "real-clients", command: script("scripts/verify-real-clients.ts") },
  { name: "cluster", command: script("scripts/verify-cluster.ts") },
  { name: "policy-mutations", command: script("scripts/verify-mutations.ts") },
];

const chosen = process.argv.slice(2);
const all = [...steps, ...furtherSteps];
const unknown = chosen.filter((name) => !all.some((step) => step.name === name));
if (unknown.length > 0) {
  console.error(
    `Unknown step ${unknown.join(", ")}; the steps are ${all.map(({ name }) => name).join(", ")}`,
  );
  process.exit(2);
}
process.exitCode = await verify(
  chosen.length === 0 ? steps : all.filter(({ name }) => chosen.includes(name)),
);

/** Runs `selected` one after the other and returns the exit code. */
async function verify(selected: readonly Step[]): Promise<number> {
  let sum: Counts = { passed: 0, failed: 0, skipped: 0 };
  let hasFailed = false;
  for (const { name, command } of selected) {
    console.log(`\n# ${name}`);
    const { code, counts } = await run(command);
    const isBad = code !== 0 || counts === undefined || counts.passed + counts.skipped === 0;
    if (isBad) console.log(`FAILED ${name}: exit code ${code}${counts === undefined ? ", no count" : ""}`);
    hasFailed ||= isBad;
    sum = {
      passed: sum.passed + (counts?.passed ?? 0),
      // A step that fails without a failed case is one failure.
      failed: sum.failed + Math.max(counts?.failed ?? 0, isBad ? 1 : 0),
      skipped: sum.skipped + (counts?.skipped ?? 0),
    };
  }
  console.log(`\n${sum.passed} passed, ${sum.failed} failed, ${sum.skipped} skipped`);
  return hasFailed ? 1 : 0;
}

/** Runs `command`, shows its output and reads the counts from its last line that has them. */
async function run([file = "", ...args]: readonly string[]): Promise<{
  code: number | null;
  counts?: Counts;
}> {
  const child = spawn(file, args, {
    cwd: root,
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...process.env, TOOLCRIB_TEST_ALL: "1" },
  });
  let tail = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    process.stdout.write(text);
    tail = (tail + text).slice(-10_000);
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject).on("close", resolve);
  });
  const last = [...tail.matchAll(/^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm)].at(-1);
  if (last === undefined) return { code };
  const [passed = 0, failed = 0, skipped = 0] = last.slice(1).map((text) => Number(text ?? 0));
  return { code, counts: { passed, failed, skipped } };
}
