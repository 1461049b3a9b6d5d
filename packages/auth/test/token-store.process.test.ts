import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { isTokenName, makeToken, openTokenStore, readToken } from "@toolcrib/auth";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { localIdentity } from "@toolcrib/tool";

const isWindows = process.platform === "win32";

/** A logger that keeps its records. */
function createTestLogger() {
  const records: { level: string; fields: object; message: string }[] = [];
  const at = (level: string) => (fields: object, message: string) => {
    records.push({ level, fields, message });
  };
  return { records, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** Opens a store over `home` with a clock that the test advances. */
async function open(home: string, environmentToken?: string) {
  const logger = createTestLogger();
  const clock = { time: 1_000_000 };
  const store = await openTokenStore(home, { now: () => clock.time, randomBytes, logger, environmentToken });
  return { store, logger, clock };
}

function whoIs(store: Awaited<ReturnType<typeof openTokenStore>>, token: string): string | undefined {
  return store.authenticate(`Bearer ${token}`)?.name;
}

function writeToken(home: string, name: string, token: string): string {
  const path = join(home, "tokens", name);
  writeFileSync(path, `${token}\n`, { mode: 0o600 });
  return path;
}

test('openTokenStore() creates the token "default" once, readable by its owner only', async () => {
  await using home = await makeTemporaryDirectory();
  const { store } = await open(home.join("deep", "home"));
  const path = home.join("deep", "home", "tokens", "default");
  const token = readFileSync(path, "utf8").trim();
  assert.match(token, /^tcb_[A-Za-z0-9_-]{43}$/);
  const { credential, ...identity } = store.authenticate(`Bearer ${token}`) ?? {};
  assert.deepEqual(identity, localIdentity("token", "default"));
  assert.match(credential ?? "", /^[\w+/]{16}$/);
  if (!isWindows) {
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(home.join("deep", "home", "tokens")).mode & 0o777, 0o700);
  }
  assert.deepEqual(readdirSync(home.join("deep", "home", "tokens")), ["default"]);
  const again = await open(home.join("deep", "home"));
  assert.equal(whoIs(again.store, token), "default");
  assert.equal(readToken(home.join("deep", "home"), "default"), token);
});

test("stores that create the token concurrently use the same one", async () => {
  await using home = await makeTemporaryDirectory();
  const stores = await Promise.all(Array.from({ length: 8 }, () => open(home.path)));
  const token = readToken(home.path, "default");
  assert.ok(stores.every(({ store }) => whoIs(store, token) === "default"));
  assert.deepEqual(readdirSync(home.join("tokens")), ["default"]);
});

test("a store uses the token that another gateway creates first", async () => {
  await using home = await makeTemporaryDirectory();
  const store = await openTokenStore(home.path, {
    now: () => 0,
    logger: createTestLogger(),
    randomBytes(count) {
      // The store has found no file and is about to write its draft.
      if (count === 16) writeToken(home.path, "default", "other-token-0123456789");
      return randomBytes(count);
    },
  });
  assert.deepEqual(store.names(), ["default"]);
  assert.equal(whoIs(store, "other-token-0123456789"), "default");
  assert.equal(readToken(home.path, "default"), "other-token-0123456789");
  assert.deepEqual(readdirSync(home.join("tokens")), ["default"]);
});

test("a token's name is the identity", async () => {
  await using home = await makeTemporaryDirectory();
  await open(home.path);
  writeToken(home.path, "ci", "ci-token-0123456789");
  writeToken(home.path, "laptop.old_2-x", "laptop-token-0123456789");
  const { store } = await open(home.path);
  assert.equal(whoIs(store, "ci-token-0123456789"), "ci");
  assert.equal(whoIs(store, "laptop-token-0123456789"), "laptop.old_2-x");
  assert.deepEqual(store.names(), ["ci", "default", "laptop.old_2-x"]);
});

test("the scheme Bearer is case-insensitive, and the token is compared exactly", async () => {
  await using home = await makeTemporaryDirectory();
  const { store } = await open(home.path, "Environment-Token-1");
  const check = (authorization: string | undefined, name: string | undefined) =>
    assert.equal(store.authenticate(authorization)?.name, name, String(authorization));
  check("Bearer Environment-Token-1", "env");
  check("bearer  Environment-Token-1", "env");
  check("BEARER Environment-Token-1", "env");
  check("Bearer environment-token-1", undefined);
  check("Bearer Environment-Token-1 ", undefined);
  check("Bearer Environment-Token-", undefined);
  check("Bearer", undefined);
  check("Environment-Token-1", undefined);
  check("Basic Environment-Token-1", undefined);
  check("", undefined);
  check(undefined, undefined);
});

test("the environment's token must have a valid length and valid characters", async () => {
  await using home = await makeTemporaryDirectory();
  for (const token of [
    "short",
    "x".repeat(513),
    "has spaces in it, so no",
    "new\nline-in-the-token",
    "ümlaut-0123456789",
  ]) {
    await assert.rejects(open(home.path, token), { code: "TOKEN_INVALID" }, token);
    await assert.rejects(open(home.path, token), (error: Error) => !error.message.includes(token));
  }
  assert.deepEqual((await open(home.path, "")).store.names(), ["default"]);
});

test("added, changed and removed files take effect within a second", async () => {
  await using home = await makeTemporaryDirectory();
  const { store, clock, logger } = await open(home.path);
  const path = writeToken(home.path, "ci", "first-token-0123456789");
  assert.equal(whoIs(store, "first-token-0123456789"), undefined);
  clock.time += 1000;
  assert.equal(whoIs(store, "first-token-0123456789"), "ci");
  // The same file with other content.
  writeFileSync(path, "second-token-012345678");
  clock.time += 1000;
  assert.equal(whoIs(store, "first-token-0123456789"), undefined);
  assert.equal(whoIs(store, "second-token-012345678"), "ci");
  rmSync(path);
  clock.time += 1000;
  assert.equal(whoIs(store, "second-token-012345678"), undefined);
  // Unchanged files are neither read nor logged again.
  clock.time += 1000;
  assert.equal(whoIs(store, "second-token-012345678"), undefined);
  assert.deepEqual(
    logger.records.map(({ message, fields }) => [message, fields]),
    [
      ["tokens changed", { names: ["ci", "default"] }],
      ["tokens changed", { names: ["ci", "default"] }],
      ["tokens changed", { names: ["default"] }],
    ],
  );
});

test("a clock that is set back does not keep a removed token alive", async () => {
  await using home = await makeTemporaryDirectory();
  const { store, clock } = await open(home.path);
  const token = readToken(home.path, "default");
  rmSync(home.join("tokens", "default"));
  clock.time -= 100_000;
  assert.equal(whoIs(store, token), undefined);
});

test("without the folder no file is accepted, and the environment's token remains valid", async () => {
  await using home = await makeTemporaryDirectory();
  const { store, clock, logger } = await open(home.path, "environment-token-1");
  const token = readToken(home.path, "default");
  rmSync(home.join("tokens"), { recursive: true });
  for (let round = 0; round < 3; round += 1) {
    clock.time += 1000;
    assert.equal(whoIs(store, token), undefined);
    assert.equal(whoIs(store, "environment-token-1"), "env");
  }
  assert.equal(logger.records.filter(({ level }) => level === "error").length, 1);
});

test("a file that other users may read fails the start, and the hint contains the fix", {
  skip: isWindows,
}, async () => {
  await using home = await makeTemporaryDirectory();
  await open(home.path);
  const path = writeToken(home.path, "ci", "ci-token-0123456789");
  for (const mode of [0o640, 0o604, 0o620, 0o601]) {
    chmodSync(path, mode);
    await assert.rejects(open(home.path), {
      code: "TOKEN_FILE_EXPOSED",
      message: `Cannot trust "${path}": other users of this machine may use it (mode ${mode.toString(8)}, must be 600)`,
      hint: `chmod 600 '${path}'; make a new token if anyone may have read it`,
    });
    assert.throws(() => readToken(home.path, "ci"), { code: "TOKEN_FILE_EXPOSED" });
  }
});

test("a folder that other users may open fails the start", { skip: isWindows }, async () => {
  await using home = await makeTemporaryDirectory();
  await open(home.path);
  chmodSync(home.join("tokens"), 0o755);
  await assert.rejects(open(home.path), { code: "TOKEN_FILE_EXPOSED", hint: /^chmod 700 / });
});

test("a file that becomes readable by other users is no longer accepted", { skip: isWindows }, async () => {
  await using home = await makeTemporaryDirectory();
  const { store, clock, logger } = await open(home.path);
  const token = readToken(home.path, "default");
  const path = writeToken(home.path, "ci", "ci-token-0123456789");
  chmodSync(home.join("tokens", "default"), 0o644);
  clock.time += 1000;
  assert.equal(whoIs(store, token), undefined);
  assert.equal(whoIs(store, "ci-token-0123456789"), "ci");
  assert.match(JSON.stringify(logger.records), /TOKEN_FILE_EXPOSED.*chmod 600/);
  chmodSync(home.join("tokens", "default"), 0o600);
  clock.time += 1000;
  assert.equal(whoIs(store, token), "default");
  chmodSync(home.join("tokens"), 0o777);
  clock.time += 1000;
  assert.equal(whoIs(store, token), undefined);
  assert.equal(whoIs(store, readFileSync(path, "utf8").trim()), undefined);
});

test("files that are not token files are refused or skipped", async () => {
  await using home = await makeTemporaryDirectory();
  await open(home.path);
  const check = async (prepare: (path: string) => void, code: string | undefined, name = "odd") => {
    const path = home.join("tokens", name);
    prepare(path);
    if (code === undefined) assert.deepEqual((await open(home.path)).store.names(), ["default"]);
    else await assert.rejects(open(home.path), { code }, name);
    rmSync(path, { recursive: true });
  };
  await check((path) => mkdirSync(path, { mode: 0o700 }), "TOKEN_FILE_UNREADABLE");
  await check((path) => writeFileSync(path, "x".repeat(5000), { mode: 0o600 }), "TOKEN_FILE_UNREADABLE");
  await check((path) => writeFileSync(path, "", { mode: 0o600 }), "TOKEN_INVALID");
  await check(
    (path) => writeFileSync(path, "two-tokens-0123456789\ntwo-tokens-0123456788\n", { mode: 0o600 }),
    "TOKEN_INVALID",
  );
  await check((path) => writeFileSync(path, randomBytes(40), { mode: 0o600 }), "TOKEN_INVALID");
  // Skipped names: editors' files, drafts, the name of the environment's token.
  for (const name of [".hidden", "default~", "#default#", "half.tmp", "env", "with space", "x".repeat(65)]) {
    await check((path) => writeFileSync(path, "ci-token-0123456789", { mode: 0o600 }), undefined, name);
  }
  if (isWindows) return;
  await check((path) => symlinkSync("/nowhere", path), undefined);
  await check((path) => symlinkSync("/dev/zero", path), "TOKEN_FILE_UNREADABLE");
  // The store must not wait for a pipe without a writer.
  await check((path) => execFileSync("mkfifo", ["-m", "600", path]), "TOKEN_FILE_UNREADABLE");
});

test("more token files than the limit are refused", async () => {
  await using home = await makeTemporaryDirectory();
  await open(home.path);
  for (let index = 0; index < 1000; index += 1)
    writeToken(home.path, `t${index}`, `token-${index}-0123456789abc`);
  await assert.rejects(open(home.path), { code: "TOKEN_TOO_MANY" });
});

test("the error for an unusable home folder names it", async () => {
  await using home = await makeTemporaryDirectory();
  writeFileSync(home.join("file"), "");
  await assert.rejects(open(home.join("file")), { code: "TOKEN_FILE_UNREADABLE" });
  assert.throws(() => readToken(home.path, "default"), {
    code: "TOKEN_FILE_UNREADABLE",
    message: `Cannot use "${home.join("tokens", "default")}": it does not exist (ENOENT)`,
  });
});

test("makeToken() returns 256 bits after a prefix, and isTokenName() accepts only safe file names", () => {
  assert.equal(
    makeToken(() => new Uint8Array(32).fill(255)),
    `tcb_${"_".repeat(42)}8`,
  );
  for (const name of ["a", "default", "ci-2.old_x", "x".repeat(64)]) assert.ok(isTokenName(name), name);
  for (const name of ["", ".", "..", "../x", "a/b", "a\\b", "a\0b", ".a", "-a", "a b", "env", "a.tmp"])
    assert.ok(!isTokenName(name), name);
});

test("isRevoked() is true for an identity whose token was removed or replaced, and false while its file cannot be read", async () => {
  await using home = await makeTemporaryDirectory();
  const { store, clock } = await open(home.path);
  const path = writeToken(home.path, "ci", `tcb_${"a".repeat(43)}`);
  const next = () => (clock.time += 1000);
  next();
  const first = store.authenticate(`Bearer tcb_${"a".repeat(43)}`);
  assert.ok(first);
  assert.equal(store.isRevoked(first), false);
  assert.equal(store.isRevoked(localIdentity("stdio", "ci")), false);
  // An identity of an earlier version names no token.
  assert.equal(store.isRevoked(localIdentity("token", "ci")), true);
  if (!isWindows) {
    chmodSync(path, 0o644);
    next();
    assert.equal(store.isRevoked(first), false);
    chmodSync(path, 0o600);
    chmodSync(home.join("tokens"), 0o755);
    next();
    assert.equal(store.isRevoked(first), false);
    chmodSync(home.join("tokens"), 0o700);
  }
  writeToken(home.path, "ci", `tcb_${"b".repeat(43)}`);
  next();
  assert.equal(store.isRevoked(first), true);
  const second = store.authenticate(`Bearer tcb_${"b".repeat(43)}`);
  assert.ok(second);
  assert.notEqual(second.credential, first.credential);
  assert.equal(store.isRevoked(second), false);
  rmSync(path);
  next();
  assert.equal(store.isRevoked(second), true);
});
