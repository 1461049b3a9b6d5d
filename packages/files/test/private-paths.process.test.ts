import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  createPrivateFile,
  isOpenToOthers,
  makePrivateDirectory,
  tryLock,
  waitForLock,
} from "@toolcrib/files";
import { makeTemporaryDirectory } from "@toolcrib/testing";

const skip = process.platform === "win32" && "Windows has no permission bits";

describe("private paths", () => {
  test("makePrivateDirectory() creates 0700 with its parents, and removes access of others from an existing directory", {
    skip,
  }, async () => {
    await using directory = await makeTemporaryDirectory();
    await makePrivateDirectory(directory.join("a", "b"));
    assert.equal(statSync(directory.join("a")).mode & 0o777, 0o700);
    assert.equal(statSync(directory.join("a", "b")).mode & 0o777, 0o700);
    mkdirSync(directory.join("open"));
    chmodSync(directory.join("open"), 0o755);
    await makePrivateDirectory(directory.join("open"));
    assert.equal(statSync(directory.join("open")).mode & 0o777, 0o700);
  });

  test("makePrivateDirectory() fails if a file has the path", async () => {
    await using directory = await makeTemporaryDirectory();
    writeFileSync(directory.join("a"), "");
    await assert.rejects(makePrivateDirectory(directory.join("a")), { code: "EEXIST" });
  });

  test("createPrivateFile() creates 0600 and removes access of others from an existing file, without changing its content", {
    skip,
  }, async () => {
    await using directory = await makeTemporaryDirectory();
    createPrivateFile(directory.join("new"));
    writeFileSync(directory.join("old"), "content", { mode: 0o644 });
    createPrivateFile(directory.join("old"));
    for (const name of ["new", "old"]) assert.equal(statSync(directory.join(name)).mode & 0o777, 0o600);
    assert.equal(statSync(directory.join("old")).size, 7);
  });

  test("isOpenToOthers() checks the forbidden permission bits", { skip }, () => {
    const rows: readonly [mode: number, forbidden: number | undefined, expected: boolean][] = [
      [0o700, undefined, false],
      [0o100600, undefined, false],
      [0o710, undefined, true],
      [0o604, undefined, true],
      [0o755, 0o022, false],
      [0o775, 0o022, true],
    ];
    for (const [mode, forbidden, expected] of rows) {
      assert.equal(isOpenToOthers(mode, forbidden), expected, mode.toString(8));
    }
  });
});

describe("locks", () => {
  test("tryLock() allows one exclusive holder or several shared holders", async () => {
    await using directory = await makeTemporaryDirectory();
    {
      using exclusive = tryLock(directory.path, "a", "exclusive");
      assert(exclusive !== undefined);
      assert.equal(tryLock(directory.path, "a", "exclusive"), undefined);
      assert.equal(tryLock(directory.path, "a", "shared"), undefined);
      using other = tryLock(directory.path, "b", "exclusive");
      assert(other !== undefined);
    }
    using one = tryLock(directory.path, "a", "shared");
    using two = tryLock(directory.path, "a", "shared");
    assert(one !== undefined && two !== undefined);
    assert.equal(tryLock(directory.path, "a", "exclusive"), undefined);
  });

  test("waitForLock() waits for the holder, up to its time limit", async () => {
    await using directory = await makeTemporaryDirectory();
    const held = tryLock(directory.path, "a", "exclusive");
    assert.equal(await waitForLock(directory.path, "a", 30), undefined);
    const waiting = waitForLock(directory.path, "a", 60_000);
    held?.[Symbol.dispose]();
    using lock = await waiting;
    assert(lock !== undefined);
  });

  test("waitForLock() measures its time limit, and not its attempts", async () => {
    await using directory = await makeTemporaryDirectory();
    const held = tryLock(directory.path, "a", "exclusive");
    const waiting = waitForLock(directory.path, "a", 500);
    // A busy machine: the limit passes before the second attempt.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 600);
    const released = delay(100).then(() => held?.[Symbol.dispose]());
    assert.equal(await waiting, undefined);
    await released;
  });

  test("the lock of a killed process is free", async () => {
    await using directory = await makeTemporaryDirectory();
    const code = `
      const { tryLock } = await import("@toolcrib/files");
      globalThis.lock = tryLock(${JSON.stringify(directory.path)}, "a", "exclusive");
      process.stdout.write("held");
      setInterval(() => {}, 1000);
    `;
    const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
    const child = spawn(process.execPath, [...conditions, "--input-type=module", "--eval", code], {
      cwd: import.meta.dirname,
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    assert.equal(tryLock(directory.path, "a", "exclusive"), undefined);
    child.kill("SIGKILL");
    await once(child, "close");
    using lock = tryLock(directory.path, "a", "exclusive");
    assert(lock !== undefined);
  });

  test("a lock file that cannot be created is an error", async () => {
    await using directory = await makeTemporaryDirectory();
    assert.throws(() => tryLock(directory.join("missing"), "a", "exclusive"), {
      name: "FilesError",
      code: "FILE_LOCK_UNUSABLE",
    });
  });
});
