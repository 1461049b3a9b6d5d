/** Programs of packages that misuse their tests: each fails within its limits, and nothing of them is left. */

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { makeTemporaryDirectory, waitUntil, writeFiles } from "@toolcrib/testing";
import { skipWithoutSandbox } from "./skip-without-sandbox.ts";
import { runToolcrib } from "./transcript.ts";

const marker = `hostile-${process.pid}-${Date.now()}`;

/** One program for all cases, which its input chooses. */
const program = `
const fs = require("node:fs");
const { spawn } = require("node:child_process");
const { what, path } = JSON.parse(process.argv.at(-1));
const print = (value) => process.stdout.write(JSON.stringify(value));
const sleeper = (options) => spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", ${JSON.stringify(marker)}], { stdio: "ignore", ...options });
process.on("SIGTERM", () => {});
if (what === "stdout") { const part = "x".repeat(65536); const write = () => { while (process.stdout.write(part)); }; process.stdout.on("drain", write); write(); }
if (what === "stderr") { const part = ("y".repeat(1000) + "\\n").repeat(60); const write = () => { while (process.stderr.write(part)); }; process.stderr.on("drain", write); write(); }
if (what === "bomb") {
  let started = 0, refused = 0;
  const more = () => { try { sleeper().on("error", () => { refused++; }); started++; } catch { refused++; } if (refused < 5 && started < 400) setImmediate(more); };
  more();
}
if (what === "daemon") { for (let at = 0; at < 3; at++) sleeper({ detached: true }).unref(); setTimeout(() => { print({ ok: true }); process.exit(0); }, 200); }
if (what === "read") {
  const seen = {};
  for (const one of [path, "/proc/1/environ", "/etc/shadow"]) { try { seen[one] = fs.readFileSync(one, "utf8"); } catch (error) { seen[one] = error.code; } }
  let parent = "none"; try { parent = fs.readdirSync(require("node:path").dirname(path)).join(); } catch (error) { parent = error.code; }
  print({ seen, parent, home: process.env.HOME ?? null, token: process.env.SECRET_OF_USER ?? null });
}
if (what === "write") {
  const done = [];
  for (const one of [path, "./planted", "./manifest.json"]) { try { fs.writeFileSync(one, "x"); done.push(one); } catch {} }
  print({ done });
}
if (what === "deep") process.stdout.write("[".repeat(200000) + "]".repeat(200000));
if (what === "memory") { const kept = []; for (;;) kept.push(Buffer.alloc(64 * 1024 * 1024, 1)); }
`;

const cases = ["stdout", "stderr", "bomb", "daemon", "read", "write", "deep", "memory"];

/** Those that end by themselves, and pass. */
const passing: readonly string[] = ["daemon", "read", "write"];

/** Command lines of processes that carry the marker. */
function leftOver(): readonly string[] {
  if (!existsSync("/proc/self/cmdline")) return [];
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      return line.includes(marker) ? [`${pid} ${line.slice(0, 80)}`] : [];
    } catch {
      return [];
    }
  });
}

const skip = await skipWithoutSandbox();

test("tests of hostile programs fail within their limits, and leave no process, file or knowledge", {
  skip,
}, async () => {
  await using directory = await makeTemporaryDirectory();
  const secret = directory.join("outside/secret.txt");
  const manifest = {
    toolId: "demo.hostile",
    name: "Hostile",
    version: "1.0.0",
    description: "For tests.",
    capabilities: ["demo"],
    endpoint: { type: "local", command: "node ./run.js" },
    input_schema: { type: "object" },
    output_schema: {},
    tests: cases.map((what) => `tests/${what}.test.json`),
  };
  const path = { read: secret, write: directory.join("outside/planted") } as {
    readonly [what: string]: string;
  };
  writeFiles(directory.path, {
    "outside/secret.txt": "the secret of the user",
    "toolcrib.yaml": "{}\n",
    "hostile/manifest.json": JSON.stringify(manifest),
    "hostile/run.js": program,
    ...Object.fromEntries(
      cases.map((what) => [
        `hostile/tests/${what}.test.json`,
        JSON.stringify({
          name: what,
          input: { what, path: path[what] ?? "" },
          timeoutMs: passing.includes(what) ? 60_000 : 2500,
          ...(what === "read"
            ? {
                assertions: [
                  { path: "$.token", equals: null },
                  { path: "$.seen[?search(@, 'secret of the user|root:|SECRET_OF_USER')]", notExists: true },
                ],
              }
            : {}),
          ...(what === "write" ? { expected: { done: [] } } : {}),
        }),
      ]),
    ),
  });
  const run = await runToolcrib(["test", "./hostile", "--json"], {
    directory: directory.path,
    env: { SECRET_OF_USER: "the secret of the user" },
    timeoutMs: 300_000,
  });
  assert.equal(run.code, 1, run.stderr);
  const { results } = JSON.parse(run.stdout) as {
    readonly results: readonly {
      readonly name: string;
      readonly outcome: string;
      readonly failures: string[];
    }[];
  };
  const outcomes = Object.fromEntries(results.map(({ name, outcome }) => [name, outcome]));
  assert.deepEqual(
    outcomes,
    {
      stdout: "error",
      stderr: "error",
      bomb: "error",
      daemon: "passed",
      read: "passed",
      write: "passed",
      deep: "error",
      memory: "error",
    },
    JSON.stringify(results, undefined, 1),
  );
  assert.ok(results.every(({ failures }) => JSON.stringify(failures).length < 10_000));
  assert.ok(!existsSync(directory.join("outside/planted")));
  assert.deepEqual(readdirSync(directory.join("hostile")).toSorted(), ["manifest.json", "run.js", "tests"]);
  await waitUntil(() => leftOver().length === 0);
});
