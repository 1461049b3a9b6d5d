#!/usr/bin/env node
// Starts the command: the source where there is one, which is in a checkout,
// else the build (dist), which is what gets published.
// Plain JavaScript that any Node can read, so that an old one is told off
// instead of failing with a syntax error. Keep the number in step with
// src/node-version.ts, which a test compares.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const oldestNode = 24;
const sourceCondition = "toolcrib-source";
// Calls leave garbage that is dead at once. With more room for it (MiB, three
// times this at most) the collector runs less often: a quarter more calls a second.
// It is told to give that room back once everything has started.
const serveFlags = ["serve", "metatool"].includes(process.argv[2])
  ? ["--max-semi-space-size=32", "--expose-gc"]
  : [];
const build = new URL("../dist/bin.js", import.meta.url);
const source = fileURLToPath(new URL("../src/bin.ts", import.meta.url));

if (Number(process.versions.node.split(".")[0]) < oldestNode) {
  process.stderr.write(
    `Toolcrib needs Node.js ${oldestNode} or newer; this is ${process.version}.\n` +
      "Get a newer one from https://nodejs.org/en/download, or with a version manager:\n" +
      `  nvm install ${oldestNode}      fnm install ${oldestNode}      volta install node@${oldestNode}      brew install node\n` +
      "In a checkout of Toolcrib, npm ci brings the right one; then use: npx toolcrib\n",
  );
  process.exitCode = 2;
} else if (existsSync(source)) {
  start([...serveFlags, `--conditions=${sourceCondition}`, source, ...process.argv.slice(2)]);
} else if (serveFlags.length > 0) {
  start([...serveFlags, fileURLToPath(build), ...process.argv.slice(2)]);
} else {
  await import(build.href);
}

// Conditions and sizes can only be given when Node starts.
function start(args) {
  if (process.platform !== "win32" && typeof process.execve === "function") {
    // The same process with another program: signals and exit code need no passing on.
    process.execve(process.execPath, [process.execPath, ...process.execArgv, ...args], process.env);
  }
  const child = spawn(process.execPath, [...process.execArgv, ...args], { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
  child.on("exit", (code, signal) => {
    process.exitCode = signal === null ? code : 1;
  });
}
