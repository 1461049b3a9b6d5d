#!/usr/bin/env node
// Starts the command: in the published package from its build (dist); in a
// checkout from the bundle of npm ci (scripts/bundle-command.ts) while no source
// has changed since, otherwise from the sources.
// Plain JavaScript that any Node can parse, so that an old Node gets a clear
// message instead of a syntax error. Keep the number in sync with
// src/node-version.ts; a test compares them.

import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";

const oldestNode = 24;
const sourceCondition = "toolcrib-source";
const build = new URL("../dist/bin.js", import.meta.url);
const source = fileURLToPath(new URL("../src/bin.ts", import.meta.url));
const root = new URL("../../../", import.meta.url);
const bundled = new URL("node_modules/.cache/toolcrib-command/current.json", root);

if (Number(process.versions.node.split(".")[0]) < oldestNode) {
  process.stderr.write(
    `Toolcrib needs Node.js ${oldestNode} or newer; this is ${process.version}.\n` +
      "Get a newer one from https://nodejs.org/en/download, or with a version manager:\n" +
      `  nvm install ${oldestNode}      fnm install ${oldestNode}      volta install node@${oldestNode}      brew install node\n` +
      "In a checkout of Toolcrib, npm ci brings the right one; then use: npx toolcrib\n",
  );
  process.exitCode = 2;
} else if (existsSync(source)) {
  const bundle = currentBundle();
  if (bundle === undefined) start([`--conditions=${sourceCondition}`, source, ...process.argv.slice(2)]);
  else await import(bundle.href);
} else {
  await import(build.href);
}

// The entry of the bundle; undefined if there is none, or a source is not as it was.
function currentBundle() {
  try {
    const { entry, sources } = JSON.parse(readFileSync(bundled, "utf8"));
    const folder = fileURLToPath(root);
    for (const [path, mtimeMs, size] of sources) {
      const stats = statSync(folder + path);
      if (stats.mtimeMs !== mtimeMs || stats.size !== size) return undefined;
    }
    const url = new URL(entry, root);
    return existsSync(url) ? url : undefined;
  } catch {
    return undefined;
  }
}

// Conditions can only be set when Node starts.
function start(args) {
  if (process.platform !== "win32" && typeof process.execve === "function") {
    // Replaces the program of this process, so signals and the exit code need no forwarding.
    process.execve(process.execPath, [process.execPath, ...process.execArgv, ...args], process.env);
  }
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = signal === null ? code : 1;
  });
}
