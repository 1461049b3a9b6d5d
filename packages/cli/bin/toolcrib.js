#!/usr/bin/env node
// Starts the command: in the published package from its build (dist); in a
// checkout from the bundle of npm ci (scripts/bundle-command.ts) while no source
// has changed since, otherwise from the sources.
// Plain JavaScript that any Node can parse, so that an old Node gets a clear
// message instead of a syntax error. Keep the number in sync with
// src/node-version.ts; a test compares them.
// A CommonJS module (package.json of this folder): Node loads it with a fraction
// of the code that it needs for an ES module, so that what it sets is set early.

"use strict";

// A test compares these with the modules that a gateway has loaded when it waits.
const modulesOfGateways = [
  "assert/strict",
  "child_process",
  "cluster",
  "crypto",
  "dns",
  "fs/promises",
  "http",
  "module",
  "perf_hooks",
  "process",
  "sqlite",
  "stream/promises",
  "timers/promises",
  "vm",
  "worker_threads",
];

const oldestNode = 24;
const isOldNode = Number(process.versions.node.split(".")[0]) < oldestNode;

// A gateway runs its start once, and can then wait for hours: it needs V8's
// optimizing compilers, 9 MB of the program of Node, only for its calls
// (src/serve/optimizing.ts). As early as possible, because V8 optimizes what Node does
// with the paths of modules, too. Compilers that the user chose stay as they are.
const chosenCompilers = /--(?:no[-_]?)?(?:jitless|lite[-_]mode|opt|turbofan|maglev|max[-_]opt|invocation[-_]count)\b/;
const nodeFlags = [...process.execArgv, process.env.NODE_OPTIONS].join(" ");
if (!isOldNode && process.argv.includes("serve") && !chosenCompilers.test(nodeFlags)) {
  // First the modules of Node that a gateway needs: what Node has compiled of them was
  // compiled for other flags, and V8 would compile it again.
  for (const name of modulesOfGateways) require(`node:${name}`);
  const { setFlagsFromString } = require("node:v8");
  setFlagsFromString("--no-opt");
  setFlagsFromString("--no-maglev");
  globalThis[Symbol.for("toolcrib.compilersAreOff")] = true;
}

const { spawn } = require("node:child_process");
const { existsSync, readFileSync, statSync } = require("node:fs");
const { join } = require("node:path");
const { pathToFileURL } = require("node:url");

const sourceCondition = "toolcrib-source";
const build = join(__dirname, "../dist/bin.js");
const source = join(__dirname, "../src/bin.ts");
const root = join(__dirname, "../../..");
const bundled = join(root, "node_modules/.cache/toolcrib-command/current.json");

if (isOldNode) {
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
  else load(bundle);
} else {
  load(build);
}

function load(path) {
  import(pathToFileURL(path).href).catch((error) => {
    // As for an error that nothing catches.
    process.nextTick(() => {
      throw error;
    });
  });
}

// The entry of the bundle; undefined if there is none, or a source is not as it was, or the
// checkout was moved since: the paths of the sources are in the bundle.
function currentBundle() {
  try {
    const { root: bundledRoot, entry, sources } = JSON.parse(readFileSync(bundled, "utf8"));
    if (bundledRoot !== root) return undefined;
    for (const [path, mtimeMs, size] of sources) {
      const stats = statSync(`${root}/${path}`);
      if (stats.mtimeMs !== mtimeMs || stats.size !== size) return undefined;
    }
    const path = join(root, entry);
    return existsSync(path) ? path : undefined;
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
