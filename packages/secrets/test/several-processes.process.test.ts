import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { openSecretStore } from "@toolcrib/secrets";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { roundOf } from "./round-value.ts";

// The child runs on the sources or on the build, like this test.
const isSource = fileURLToPath(import.meta.resolve("@toolcrib/secrets")).endsWith(".ts");
const conditions = isSource ? ["--conditions=toolcrib-source"] : [];
const writer = (home: string, name: string, rounds: number) => [
  ...conditions,
  join(import.meta.dirname, "child-writer.ts"),
  home,
  name,
  String(rounds),
];

const deps = { now: Date.now, randomBytes };

test("two processes that create the store and write to it concurrently lose nothing", async () => {
  await using directory = await makeTemporaryDirectory();
  const names = ["one", "two", "shared", "shared"];
  const outcomes = await Promise.all(
    names.map((name) => runProcess(process.execPath, writer(directory.path, name, 15))),
  );
  for (const { code, stderr } of outcomes) assert.equal(code, 0, stderr);
  await using store = await openSecretStore({ home: directory.path, env: {} }, deps);
  assert.deepEqual(
    (await store.list()).map(({ name, problem }) => [name, problem]),
    ["one", "shared", "two"].map((name) => [name, undefined]),
  );
  for (const name of new Set(names)) assert.equal(roundOf(name, (await store.get(name)) ?? ""), 15);
});

test("a process that is killed while it writes leaves a complete secret and no lock", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openSecretStore({ home: directory.path, env: {} }, deps);
  await store.set("beside", "untouched");
  for (const killAfter of [1, 2, 3, 5, 8]) {
    const child = spawn(process.execPath, writer(directory.path, "kept", 100_000), {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    let confirmed = 0;
    for await (const line of createInterface({ input: child.stdout })) {
      confirmed = Number(line);
      if (confirmed === killAfter) child.kill("SIGKILL");
    }
    await exited;
    const round = roundOf("kept", (await store.get("kept")) ?? "");
    assert.ok(round !== undefined && round >= confirmed, `round ${round}, ${confirmed} was confirmed`);
    assert.equal(await store.get("beside"), "untouched");
    assert.equal(await store.set("after", `round ${killAfter}`), killAfter === 1 ? "created" : "changed");
  }
  assert.deepEqual(
    readdirSync(directory.join("secrets/.store")).sort(),
    ["after.sealed", "beside.sealed", "kept.sealed", "key", "write.lock"],
    "what killed writers left is gone",
  );
});
