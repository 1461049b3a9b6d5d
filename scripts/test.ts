/**
 * `npm test`: the unit and end-to-end tests of the packages, on source (or on
 * `dist` with `--dist`), and one closing line that counts them.
 *
 * Arguments are folders or files to restrict the run to, or flags:
 * `--update` rewrites golden files, `--dist` builds and tests the build.
 */

import { spawn, spawnSync } from "node:child_process";
import { globSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";

const flags = new Set(process.argv.slice(2).filter((argument) => argument.startsWith("--")));
const places = process.argv.slice(2).filter((argument) => !argument.startsWith("--"));
const unknown = [...flags].filter((flag) => flag !== "--update" && flag !== "--dist");
if (unknown.length > 0) {
  console.error(`No such flag: ${unknown.join(", ")}; there are --update and --dist`);
  process.exit(2);
}

const files = (places.length === 0 ? ["packages", "examples", "scripts"] : places).flatMap((place) => {
  if (statSync(place, { throwIfNoEntry: false })?.isFile()) return [place];
  return globSync(`${place.replace(/\/$/, "")}/**/*.test.ts`, {
    exclude: (name) => name.includes("node_modules") || name.includes("/dist/"),
  });
});
if (files.length === 0) {
  console.error(`No test file below ${places.join(", ")}`);
  process.exit(2);
}

if (flags.has("--dist")) {
  // A build that is older than the sources would prove nothing.
  const build = spawnSync(process.execPath, [...process.execArgv, "scripts/build.ts"], { stdio: "inherit" });
  if (build.status !== 0) process.exit(1);
}

const child = spawn(
  process.execPath,
  [
    ...(flags.has("--dist") ? [] : ["--conditions=toolcrib-source"]),
    "--import=./scripts/test-guard.ts",
    "--test",
    "--test-timeout=120000",
    `--test-concurrency=${Math.max(2, availableParallelism())}`,
    "--test-reporter=./scripts/test-reporter.ts",
    ...files.sort(),
  ],
  {
    stdio: "inherit",
    env: {
      // Every file, and what it starts, loads the same sources: what Node compiled once need not be compiled again.
      NODE_COMPILE_CACHE: join(import.meta.dirname, "../node_modules/.cache/toolcrib-tests"),
      ...process.env,
      ...(flags.has("--update") ? { TOOLCRIB_UPDATE_GOLDEN: "1" } : {}),
    },
  },
);
child.on("exit", (code, signal) => {
  process.exitCode = signal === null ? (code ?? 1) : 1;
});
