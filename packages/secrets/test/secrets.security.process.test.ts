import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { inspect, isDeepStrictEqual } from "node:util";
import { isCodedError } from "@toolcrib/diagnostics";
import { openSecretStore } from "@toolcrib/secrets";
import type { SecretStore } from "@toolcrib/store";
import { makeTemporaryDirectory, runProcess, type TemporaryDirectory } from "@toolcrib/testing";

const canary = "c4nary-Value/with+signs=and spaces";

function openStore(home: string): Promise<SecretStore> {
  return openSecretStore({ home, env: {} }, { now: Date.now, randomBytes });
}

/** Creates a store with the canary as `kept`, and a second secret. */
async function makeStore(directory: TemporaryDirectory): Promise<SecretStore> {
  const store = await openStore(directory.path);
  await store.set("kept", canary);
  await store.set("other", "other value");
  return store;
}

/** Returns the code of the error of `action`, which must not contain the canary. */
async function refusal(action: Promise<unknown>): Promise<string> {
  try {
    await action;
  } catch (error) {
    assert.ok(isCodedError(error), inspect(error));
    assert.doesNotMatch(inspect(error, { depth: 10, showHidden: true }), /c4nary/);
    return error.code;
  }
  return assert.fail("nothing was refused");
}

test("no file contains a value, and only the owner has access", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.join("new/home");
  await using store = await openStore(home);
  await store.set("kept", canary);
  for (const path of readdirSync(home, { recursive: true, encoding: "utf8" })) {
    const status = statSync(join(home, path));
    assert.equal(status.mode & 0o777, status.isDirectory() ? 0o700 : 0o600, path);
    if (!status.isFile()) continue;
    const content = readFileSync(join(home, path), "latin1");
    for (const form of ["utf8", "base64", "hex", "base64url"] as const) {
      assert.ok(!content.includes(Buffer.from(canary).toString(form)), `${path} has it in ${form}`);
    }
  }
  assert.deepEqual(readdirSync(join(home, "secrets/.store")).sort(), ["kept.sealed", "key", "write.lock"]);
});

test("equal values are stored as different bytes", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await openStore(directory.path);
  const seen = new Set<string>();
  for (let round = 0; round < 20; round += 1) {
    await store.set("kept", canary);
    const line = JSON.parse(readFileSync(directory.join("secrets/.store/kept.sealed"), "utf8"));
    seen.add(line.nonce).add(line.sealed).add(line.tag);
  }
  assert.equal(seen.size, 60);
});

test("folders, keys and secrets that others can access are refused", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await makeStore(directory);
  const rows: readonly (readonly [path: string, open: number, closed: number])[] = [
    ["secrets", 0o777, 0o700],
    ["secrets", 0o720, 0o755],
    ["secrets/.store", 0o750, 0o700],
    ["secrets/.store", 0o701, 0o700],
    ["secrets/.store/key", 0o640, 0o600],
    ["secrets/.store/key", 0o604, 0o400],
    ["secrets/.store/kept.sealed", 0o644, 0o600],
  ];
  for (const [path, open, closed] of rows) {
    chmodSync(directory.join(path), open);
    assert.equal(await refusal(store.get("kept")), "SECRETS_EXPOSED", path);
    chmodSync(directory.join(path), closed);
    assert.equal(await store.get("kept"), canary);
  }
});

test("links to a secret, a key or a store are not followed", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await makeStore(directory);
  for (const path of ["secrets/.store/kept.sealed", "secrets/.store/key", "secrets/.store"]) {
    const moved = directory.join("moved");
    renameSync(directory.join(path), moved);
    symlinkSync(moved, directory.join(path));
    assert.equal(await refusal(store.get("kept")), "SECRETS_DAMAGED", path);
    assert.equal(
      await refusal(store.set(path.endsWith("kept.sealed") ? "more/.." : "kept", "new")),
      {
        "secrets/.store/kept.sealed": "SECRETS_NAME_INVALID",
        "secrets/.store/key": "SECRETS_DAMAGED",
        "secrets/.store": "SECRETS_DAMAGED",
      }[path],
    );
    rmSync(directory.join(path));
    renameSync(moved, directory.join(path));
    assert.equal(await store.get("kept"), canary);
  }
});

test("a link at the path of a secret is replaced, not followed", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await makeStore(directory);
  writeFileSync(directory.join("victim"), "untouched", { mode: 0o600 });
  rmSync(directory.join("secrets/.store/kept.sealed"));
  symlinkSync(directory.join("victim"), directory.join("secrets/.store/kept.sealed"));
  await store.set("kept", "new value");
  assert.equal(readFileSync(directory.join("victim"), "utf8"), "untouched");
  assert.equal(await store.get("kept"), "new value");
});

test("a pipe or a folder at the path of a secret is refused without waiting", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await makeStore(directory);
  const path = directory.join("secrets/.store/kept.sealed");
  rmSync(path);
  mkdirSync(path, { mode: 0o700 });
  assert.equal(await refusal(store.get("kept")), "SECRETS_DAMAGED");
  rmSync(path, { recursive: true });
  const { code } = await runProcess("mkfifo", ["-m", "600", path]);
  assert.equal(code, 0);
  assert.equal(await refusal(store.get("kept")), "SECRETS_DAMAGED");
});

test("no name escapes the store, and no invalid name is quoted", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await makeStore(directory);
  const names = [
    "../kept",
    "..",
    ".",
    "a/../kept",
    "/etc/passwd",
    "..\\kept",
    ".store",
    "kept\0",
    "kept\n",
    "C:kept",
    "%2e%2e",
    `${canary}`,
    "k\u0435pt",
  ];
  for (const name of names) {
    for (const action of [
      store.get(name),
      store.set(name, "x"),
      store.delete(name),
      store.rename("kept", name),
    ]) {
      assert.equal(await refusal(action), "SECRETS_NAME_INVALID", JSON.stringify(name));
    }
  }
  assert.equal(await store.get("key"), undefined, "the key is no secret of the store");
});

/** Returns whether two stored lines are equal after decoding. */
function isSameContent(one: Buffer, other: Buffer): boolean {
  const read = (line: Buffer) => {
    const { nonce, tag, sealed, ...header } = JSON.parse(line.toString("utf8"));
    return [header, ...[nonce, tag, sealed].map((text) => Buffer.from(text, "base64").toString("hex"))];
  };
  try {
    return isDeepStrictEqual(read(one), read(other));
  } catch {
    return false;
  }
}

test("every changed byte, and every file under the name of another secret, is detected", async () => {
  await using directory = await makeTemporaryDirectory();
  await using store = await makeStore(directory);
  const path = directory.join("secrets/.store/kept.sealed");
  const sound = readFileSync(path);
  const allowed = new Set(["SECRETS_DAMAGED", "SECRETS_KEY_WRONG"]);
  for (let at = 0; at < sound.length - 1; at += 1) {
    const changed = Buffer.from(sound);
    changed[at] = (changed[at] as number) ^ 1;
    writeFileSync(path, changed);
    // Two base64 texts can encode the same bytes; then nothing changed.
    if (isSameContent(sound, changed)) continue;
    const code = await refusal(store.get("kept"));
    assert.ok(allowed.has(code), `byte ${at}: ${code}`);
  }
  for (let length = 0; length < sound.length - 1; length += 7) {
    writeFileSync(path, sound.subarray(0, length));
    assert.equal(await refusal(store.get("kept")), "SECRETS_DAMAGED", `cut to ${length} bytes`);
  }
  copyFileSync(directory.join("secrets/.store/other.sealed"), path);
  assert.equal(await refusal(store.get("kept")), "SECRETS_DAMAGED", "another secret's file");
  const renamed = readFileSync(path, "utf8").replace('"name":"other"', '"name":"kept"');
  writeFileSync(path, renamed);
  assert.equal(await refusal(store.get("kept")), "SECRETS_DAMAGED", "another secret under this name");
  writeFileSync(path, Buffer.alloc(1 << 20, "{"));
  assert.equal(await refusal(store.get("kept")), "SECRETS_DAMAGED", "a megabyte");
  writeFileSync(path, sound);
  assert.equal(await store.get("kept"), canary);
});
