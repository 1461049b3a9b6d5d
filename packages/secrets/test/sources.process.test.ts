import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { test } from "node:test";
import { isCodedError } from "@toolcrib/diagnostics";
import { createSecretSource, openSecretStore, readNamedSecret, type SecretSource } from "@toolcrib/secrets";
import { makeTemporaryDirectory, type TemporaryDirectory } from "@toolcrib/testing";

/** Returns the value that a source reads, or the code of its error. */
async function outcome(source: SecretSource, name: string): Promise<string> {
  try {
    return await source.read(name);
  } catch (error) {
    assert.ok(isCodedError(error) && error.hint !== undefined, String(error));
    return error.code;
  }
}

const readFileWithMode = async (path: string) => ({
  bytes: await readFile(path),
  mode: (await stat(path)).mode & 0o777,
});

test("createSecretSource() reads variables and treats an empty one as missing", async () => {
  const source = createSecretSource({ kind: "env", env: { A: "value", EMPTY: " " } });
  assert.equal(await outcome(source, "A"), "value");
  for (const name of ["B", "EMPTY", "constructor", "__proto__"]) {
    assert.equal(await outcome(source, name), "SECRETS_NOT_FOUND");
  }
});

test("createSecretSource() reads files that other users cannot read", async () => {
  await using directory = await makeTemporaryDirectory();
  const source = createSecretSource({ kind: "file", readFile: readFileWithMode });
  const check = async (content: string | Uint8Array, mode: number, expected: string) => {
    const path = directory.join("file");
    // One that only root could write remains of the case before.
    rmSync(path, { force: true });
    writeFileSync(path, content);
    chmodSync(path, mode);
    assert.equal(await outcome(source, path), expected);
  };
  await check("value\n", 0o600, "value");
  await check("value\r\n", 0o400, "value");
  await check("value\n", 0o640, "value");
  await check("value\n", 0o604, "SECRETS_EXPOSED");
  await check("\n", 0o600, "SECRETS_UNUSABLE");
  await check(Buffer.from([0xff]), 0o600, "SECRETS_UNUSABLE");
  await check("x".repeat(64 * 1024 + 1), 0o600, "SECRETS_UNUSABLE");
  assert.equal(await outcome(source, directory.join("absent")), "SECRETS_NOT_FOUND");
  assert.equal(await outcome(source, directory.path), "SECRETS_UNREADABLE");
});

test("createSecretSource() reads the current content of the store", async () => {
  await using directory = await makeTemporaryDirectory();
  const settings = { home: directory.path, env: {} };
  const source = createSecretSource({ kind: "store", ...settings });
  assert.equal(await outcome(source, "a"), "SECRETS_NOT_FOUND");
  await using store = await openSecretStore(settings, { now: Date.now, randomBytes });
  await store.set("a", "first");
  assert.equal(await outcome(source, "a"), "first");
  await store.set("a", "rotated");
  assert.equal(await outcome(source, "a"), "rotated");
  assert.equal(await outcome(source, "a b"), "SECRETS_NAME_INVALID");
});

/** Creates a keychain command that logs its calls, has the entry `kept`, and fails for `broken`. */
function writeKeychain(directory: TemporaryDirectory, platform: "linux" | "darwin"): string {
  mkdirSync(directory.join(platform));
  const [command, absent] = platform === "linux" ? ["secret-tool", 1] : ["security", 44];
  const script = [
    "#!/bin/sh",
    `{ echo "$@"; /usr/bin/env; } > "${directory.join("called")}"`,
    `case "$*" in`,
    "  *kept*) printf 'the value' ;;",
    `  *key*) printf '${Buffer.alloc(32, 7).toString("base64")}' ;;`,
    "  *broken*) printf 'half of the value'; echo 'no session' >&2; exit 1 ;;",
    `  *) exit ${absent} ;;`,
    "esac",
    "",
  ].join("\n");
  writeFileSync(directory.join(platform, command as string), script, { mode: 0o700 });
  return directory.join(platform);
}

test("createSecretSource() runs the keychain command of the platform", async () => {
  await using directory = await makeTemporaryDirectory();
  for (const platform of ["linux", "darwin"] as const) {
    const env = { PATH: writeKeychain(directory, platform), OTHER_SECRET: "must stay" };
    const source = createSecretSource({ kind: "keychain", env, platform });
    assert.equal(await outcome(source, "kept"), "the value");
    const called = readFileSync(directory.join("called"), "utf8");
    assert.match(
      called,
      platform === "linux" ? /^lookup service toolcrib account kept\n/ : /^find-generic-password /,
    );
    assert.doesNotMatch(called, /OTHER_SECRET|must stay/);
    assert.equal(await outcome(source, "absent"), "SECRETS_NOT_FOUND");
    assert.equal(await outcome(source, "broken"), "SECRETS_KEYCHAIN_UNAVAILABLE");
    assert.equal(await outcome(source, "a; rm -rf b"), "SECRETS_NAME_INVALID");
    assert.equal(await outcome(source, "--help"), "SECRETS_NAME_INVALID");
    const elsewhere = createSecretSource({
      kind: "keychain",
      env: { PATH: directory.join("nowhere") },
      platform,
    });
    assert.equal(await outcome(elsewhere, "kept"), "SECRETS_KEYCHAIN_UNAVAILABLE");
  }
  const other = createSecretSource({ kind: "keychain", env: {}, platform: "win32" });
  assert.equal(await outcome(other, "kept"), "SECRETS_KEYCHAIN_UNAVAILABLE");
});

test("the key of the store can be a keychain entry", { skip: process.platform !== "linux" }, async () => {
  await using directory = await makeTemporaryDirectory();
  const PATH = writeKeychain(directory, "linux");
  const settings = {
    home: directory.path,
    env: { PATH, TOOLCRIB_SECRETS_KEY: "keychain:store-key" },
  };
  await using store = await openSecretStore(settings, { now: Date.now, randomBytes });
  await store.set("a", "1");
  const given = { TOOLCRIB_SECRETS_KEY: Buffer.alloc(32, 7).toString("hex") };
  assert.equal(
    await outcome(createSecretSource({ kind: "store", home: directory.path, env: given }), "a"),
    "1",
  );
  const absent = { PATH, TOOLCRIB_SECRETS_KEY: "keychain:absent" };
  assert.equal(
    await outcome(createSecretSource({ kind: "store", home: directory.path, env: absent }), "a"),
    "SECRETS_NOT_FOUND",
  );
});

test("readNamedSecret() reads the variable, else the store, else the file", async () => {
  await using directory = await makeTemporaryDirectory();
  const home = directory.path;
  const find = async (env: { readonly [name: string]: string }) => {
    const { kind, value } = await readNamedSecret("my-api.key", { env, readFile: readFileWithMode, home });
    return `${kind}: ${value}`;
  };
  await assert.rejects(find({}), /Cannot find secret "my-api\.key": .*TOOLCRIB_SECRET_MY_API_KEY is not set/);
  mkdirSync(directory.join("secrets"), { mode: 0o700 });
  writeFileSync(directory.join("secrets/my-api.key"), "in a file\n", { mode: 0o600 });
  assert.equal(await find({}), "file: in a file");
  chmodSync(directory.join("secrets/my-api.key"), 0o640);
  await assert.rejects(find({}), { code: "SECRETS_EXPOSED" });
  chmodSync(directory.join("secrets/my-api.key"), 0o600);
  await using store = await openSecretStore({ home, env: {} }, { now: Date.now, randomBytes });
  await store.set("my-api.key", "in the store");
  assert.equal(await find({}), "store: in the store");
  assert.equal(await find({ TOOLCRIB_SECRET_MY_API_KEY: "in a variable" }), "env: in a variable");
});
