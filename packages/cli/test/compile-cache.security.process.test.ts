/** Compiled code is executed: the command reads and writes it only where nobody else can write. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { test } from "node:test";
import { makeTemporaryDirectory, runProcess, waitUntil } from "@toolcrib/testing";
import { cleanEnvironment, modulesCommandLine } from "./transcript.ts";

const isPosix = process.platform !== "win32";
const without = { skip: isPosix ? false : "Windows has no modes" };

/** Runs `toolcrib --version` in `work`, and returns that folder and the one for caches. */
async function run(env: { readonly [name: string]: string | undefined }, prepare?: (caches: string) => void) {
  const directory = await makeTemporaryDirectory();
  const [work, caches] = [directory.join("work"), directory.join("caches")];
  mkdirSync(work);
  mkdirSync(caches);
  chmodSync(caches, 0o755);
  prepare?.(caches);
  const { code, stderr } = await runProcess(process.execPath, [...modulesCommandLine, "--version"], {
    cwd: work,
    env: {
      ...cleanEnvironment(directory.path),
      NODE_COMPILE_CACHE: undefined,
      XDG_CACHE_HOME: caches,
      ...env,
    },
  });
  assert.deepEqual({ code, stderr }, { code: 0, stderr: "" });
  return { directory, work, caches, [Symbol.asyncDispose]: () => directory[Symbol.asyncDispose]() };
}

test("the compile cache is in a folder of this user alone, whatever the umask", without, async () => {
  const umask = process.umask(0);
  try {
    await using ran = await run({});
    const folder = `${ran.caches}/toolcrib/compile`;
    assert.equal(statSync(folder).mode & 0o777, 0o700);
    assert.equal(statSync(`${ran.caches}/toolcrib`).mode & 0o777, 0o700);
    assert.notDeepEqual(readdirSync(folder), []);
  } finally {
    process.umask(umask);
  }
});

test("a gateway that is killed has stored its compiled code", without, async () => {
  await using directory = await makeTemporaryDirectory();
  const caches = directory.join("caches");
  mkdirSync(caches, { mode: 0o700 });
  writeFileSync(directory.join("toolcrib.yaml"), "tool_servers: []\n");
  const child = spawn(
    process.execPath,
    [...modulesCommandLine, "serve", "--listen", "127.0.0.1:0", "--home", directory.join("home")],
    {
      cwd: directory.path,
      env: { ...cleanEnvironment(directory.path), NODE_COMPILE_CACHE: undefined, XDG_CACHE_HOME: caches },
      stdio: "ignore",
    },
  );
  const ended = once(child, "exit");
  const stored = () => readdirSync(caches, { recursive: true }).length;
  try {
    await waitUntil(() => stored() > 100, { what: "compiled code is stored" });
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
});

const relative: readonly { readonly [name: string]: string }[] = [
  { HOME: "", XDG_CACHE_HOME: "" },
  { HOME: "here", XDG_CACHE_HOME: "caches" },
];
for (const env of relative) {
  test(`nothing is read or written in the current folder with ${JSON.stringify(env)}`, without, async () => {
    await using ran = await run({ ...env, TOOLCRIB_HOME: undefined });
    assert.deepEqual(readdirSync(ran.work), []);
  });
}

const prepared: readonly (readonly [title: string, prepare: (caches: string) => void])[] = [
  ["is open to others", (caches) => openFolder(`${caches}/toolcrib`)],
  ["has a folder for code that is open to others", (caches) => openFolder(`${caches}/toolcrib/compile`)],
  ["can be replaced by others", (caches) => chmodSync(caches, 0o777)],
  [
    "is a link to a folder that is open to others",
    (caches) => {
      openFolder(`${caches}/elsewhere`);
      symlinkSync(`${caches}/elsewhere`, `${caches}/toolcrib`);
    },
  ],
];
for (const [title, prepare] of prepared) {
  test(`code is not cached where the folder ${title}`, without, async () => {
    await using ran = await run({}, prepare);
    const folder = `${ran.caches}/toolcrib/compile`;
    assert.deepEqual(existsSync(folder) ? readdirSync(folder) : [], []);
  });
}

test("the home is that of the user, and not in the current folder, with an empty HOME", without, async () => {
  await using directory = await makeTemporaryDirectory();
  const command = async (...words: readonly string[]) =>
    await runProcess(process.execPath, [...modulesCommandLine, ...words], {
      cwd: directory.path,
      env: { ...cleanEnvironment(directory.path), HOME: "" },
    });
  const home = userInfo().homedir;
  assert.ok((await command("status")).stdout.includes(`No gateway is running for ${home}/`));
});

test("no folder is made where Node's own variable switches the cache off", async () => {
  await using ran = await run({ NODE_DISABLE_COMPILE_CACHE: "1" });
  assert.deepEqual(readdirSync(ran.caches), []);
});

const isRoot = process.geteuid?.() === 0;
test("code is not cached in a folder of another user", { skip: isRoot ? false : "needs root" }, async () => {
  const { chownSync } = await import("node:fs");
  await using ran = await run({}, (caches) => {
    mkdirSync(`${caches}/toolcrib`);
    chownSync(`${caches}/toolcrib`, 65_534, 65_534);
  });
  assert.deepEqual(readdirSync(`${ran.caches}/toolcrib/compile`), []);
});

function openFolder(path: string): void {
  mkdirSync(path, { recursive: true });
  chmodSync(path, 0o777);
}
