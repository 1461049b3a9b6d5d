import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import {
  createDirectory,
  createFile,
  FilesError,
  removeDrafts,
  removeFile,
  replaceFile,
} from "@toolcrib/files";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { type StepName, steppedFiles } from "./stepped.ts";

const isWindows = process.platform === "win32";
const deps = { randomBytes };

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

describe("replaceFile()", () => {
  test("creates and replaces a file, with mode 0600 unless the caller gives another", async () => {
    await using directory = await makeTemporaryDirectory();
    const path = directory.join("a");
    assert.equal(await replaceFile(deps, path, "one"), true);
    assert.equal(readFileSync(path, "utf8"), "one");
    if (!isWindows) assert.equal(modeOf(path), 0o600);
    await replaceFile(deps, path, Buffer.from("two"), { mode: 0o640, modifiedAtMs: 1_000_000 });
    assert.equal(readFileSync(path, "utf8"), "two");
    assert.equal(statSync(path).mtimeMs, 1_000_000);
    // The system takes the bits of the umask away.
    if (!isWindows) assert.equal(modeOf(path), 0o640 & ~process.umask());
    assert.deepEqual(readdirSync(directory.path), ["a"]);
  });

  test("writes the parts of a content in order, and changes nothing when one of them fails", async () => {
    await using directory = await makeTemporaryDirectory();
    const path = directory.join("a");
    async function* parts(failure?: Error) {
      yield "one ";
      yield "ünï ";
      if (failure !== undefined) throw failure;
      yield "three";
    }
    await replaceFile(deps, path, parts());
    assert.equal(readFileSync(path, "utf8"), "one ünï three");
    const failure = new Error("no more");
    await assert.rejects(replaceFile(deps, path, parts(failure)), failure);
    await assert.rejects(createFile(deps, directory.join("b"), parts(failure)), failure);
    assert.equal(readFileSync(path, "utf8"), "one ünï three");
    assert.deepEqual(readdirSync(directory.path), ["a"]);
  });

  test("keeps permission bits, owner and group if the option is set", { skip: isWindows }, async () => {
    await using directory = await makeTemporaryDirectory();
    const path = directory.join("a");
    await replaceFile(deps, path, "one", { keepPermissions: true, mode: 0o644 });
    chmodSync(path, 0o664);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(path, 65_534, 65_533);
    const before = statSync(path);
    await replaceFile(deps, path, "two", { keepPermissions: true, mode: 0o600 });
    const { mode, uid, gid } = statSync(path);
    assert.deepEqual([mode, uid, gid], [before.mode, before.uid, before.gid]);
    assert.equal(readFileSync(path, "utf8"), "two");
  });

  test("replaces a symbolic link, or with followSymlink the file that it points to", {
    skip: isWindows,
  }, async () => {
    await using directory = await makeTemporaryDirectory();
    mkdirSync(directory.join("dotfiles"));
    const file = directory.join("dotfiles", "config");
    writeFileSync(file, "old");
    symlinkSync("dotfiles/config", directory.join("near"));
    symlinkSync("near", directory.join("far"));
    await replaceFile(deps, directory.join("far"), "new", { followSymlink: true });
    assert.equal(readFileSync(file, "utf8"), "new");
    assert(lstatSync(directory.join("far")).isSymbolicLink());
    assert(lstatSync(directory.join("near")).isSymbolicLink());
    await replaceFile(deps, directory.join("far"), "own");
    assert(lstatSync(directory.join("far")).isFile());
    assert.equal(readFileSync(file, "utf8"), "new");
    assert.deepEqual(readdirSync(directory.join("dotfiles")), ["config"]);
  });

  test("creates the file that a dangling link points to, and refuses a loop", {
    skip: isWindows,
  }, async () => {
    await using directory = await makeTemporaryDirectory();
    symlinkSync("target", directory.join("link"));
    await replaceFile(deps, directory.join("link"), "new", { followSymlink: true });
    assert.equal(readFileSync(directory.join("target"), "utf8"), "new");
    symlinkSync("b", directory.join("a"));
    symlinkSync("a", directory.join("b"));
    await assert.rejects(replaceFile(deps, directory.join("a"), "new", { followSymlink: true }), {
      code: "FILE_UNWRITABLE",
      errno: "ELOOP",
    });
  });

  test("changes nothing if isStillWanted() cancels it", async () => {
    await using directory = await makeTemporaryDirectory();
    const path = directory.join("a");
    await replaceFile(deps, path, "one");
    assert.equal(await replaceFile(deps, path, "two", { isStillWanted: async () => false }), false);
    assert.equal(readFileSync(path, "utf8"), "one");
    assert.deepEqual(readdirSync(directory.path), ["a"]);
  });

  test("never writes into an existing draft, nor through a link", { skip: isWindows }, async () => {
    await using directory = await makeTemporaryDirectory();
    const fixed = { randomBytes: () => Buffer.alloc(16) };
    const draft = directory.join(`.${"0".repeat(32)}.draft`);
    symlinkSync("victim", draft);
    await assert.rejects(replaceFile(fixed, directory.join("a"), "secret"), { errno: "EEXIST" });
    assert(!existsSync(directory.join("victim")) && !existsSync(directory.join("a")));
  });

  test("explains a directory that does not exist", async () => {
    await using directory = await makeTemporaryDirectory();
    await assert.rejects(replaceFile(deps, directory.join("no", "a"), ""), {
      name: "FilesError",
      code: "FILE_UNWRITABLE",
      content: "old",
      message: `Cannot write "${directory.join("no", "a")}": it does not exist (ENOENT)`,
    });
  });
});

describe("a failure at any step leaves the old or the new content, reports which, and leaves no draft:", () => {
  const changes: Readonly<
    Record<string, (path: string, steps: ReturnType<typeof steppedFiles>) => Promise<unknown>>
  > = {
    "replaceFile()": (path, steps) =>
      replaceFile({ randomBytes, steps }, path, "new", { keepPermissions: true, modifiedAtMs: 1000 }),
    "removeFile()": (path, steps) => removeFile(path, steps),
  };
  for (const [name, change] of Object.entries(changes)) {
    for (const errno of ["ENOSPC", "EIO", "EACCES"]) {
      test(`${name}, ${errno}`, async () => {
        for (let failing = 0; ; failing += 1) {
          await using directory = await makeTemporaryDirectory();
          const path = directory.join("a");
          writeFileSync(path, "old");
          let count = 0;
          let failed: StepName | undefined;
          const steps = steppedFiles(async (step, run) => {
            if (count++ !== failing) return run();
            failed = step;
            throw Object.assign(new Error(`${errno} at ${step}`), { code: errno });
          });
          const error = await change(path, steps).then(
            () => undefined,
            (thrown: unknown) => thrown,
          );
          if (failed === undefined) break;
          assert(error instanceof FilesError, failed);
          const isNew = failed === "syncDirectory";
          assert.equal(error.code, isNew ? "FILE_NOT_DURABLE" : "FILE_UNWRITABLE", failed);
          assert.deepEqual([error.content, error.errno], [isNew ? "new" : "old", errno], failed);
          const expected = !isNew ? "old" : name === "removeFile()" ? undefined : "new";
          assert.equal(existsSync(path) ? readFileSync(path, "utf8") : undefined, expected, failed);
          assert.deepEqual(readdirSync(directory.path), expected === undefined ? [] : ["a"], failed);
        }
      });
    }
  }
});

test("a process that is killed at any step of replaceFile() leaves the old or the new content", async () => {
  const child = fileURLToPath(new URL("./kill-child.ts", import.meta.url));
  const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));
  const run = (...args: readonly string[]) => runProcess(process.execPath, [...conditions, child, ...args]);
  await using first = await makeTemporaryDirectory();
  writeFileSync(first.join("target"), "old");
  const steps = JSON.parse((await run(first.path)).stdout) as StepName[];
  assert.deepEqual(
    steps,
    ["create", "write", "setPermissions", "setModified", "sync", "close", "rename", "syncDirectory"],
    "the content is on the disk before its name, and the name before the end",
  );
  for (const [index, step] of steps.entries()) {
    for (const when of ["before", "after"]) {
      await using directory = await makeTemporaryDirectory();
      writeFileSync(directory.join("target"), "old");
      const { signal } = await run(directory.path, String(index), when);
      assert.equal(signal, "SIGKILL");
      const isDone = index > steps.indexOf("rename") || (step === "rename" && when === "after");
      const place = `${when} ${step}`;
      assert.equal(readFileSync(directory.join("target"), "utf8"), isDone ? "new" : "old", place);
      await removeDrafts(directory.path);
      assert.deepEqual(readdirSync(directory.path), ["target"], place);
    }
  }
});

describe("createFile()", () => {
  test("creates a file once, atomically, for its owner only", async () => {
    await using directory = await makeTemporaryDirectory();
    const path = directory.join("token");
    const results = await Promise.all(["a", "b", "c"].map((text) => createFile(deps, path, text)));
    assert.deepEqual(results.filter(Boolean), [true]);
    assert.match(readFileSync(path, "utf8"), /^[abc]$/);
    if (!isWindows) assert.equal(modeOf(path), 0o600);
    assert.deepEqual(readdirSync(directory.path), ["token"]);
    assert.equal(await createFile(deps, path, "d"), false);
  });

  test("does not replace an existing link with its name", { skip: isWindows }, async () => {
    await using directory = await makeTemporaryDirectory();
    symlinkSync("elsewhere", directory.join("token"));
    assert.equal(await createFile(deps, directory.join("token"), "d"), false);
    assert.deepEqual(readdirSync(directory.path), ["token"]);
  });
});

describe("removeDrafts()", () => {
  test("removes only drafts, and recent ones only on request", async () => {
    await using directory = await makeTemporaryDirectory();
    const draft = `.${"0123456789abcdef".repeat(2)}.draft`;
    const others = [".hidden", ".short.draft", "notes.txt"];
    for (const name of [draft, ...others]) writeFileSync(directory.join(name), "");
    const now = Date.now();
    utimesSync(directory.join(draft), now / 1000, now / 1000);
    await removeDrafts(directory.path, { writtenBeforeMs: now - 60_000 });
    assert.deepEqual(readdirSync(directory.path).sort(), [draft, ...others].sort());
    await removeDrafts(directory.path, { writtenBeforeMs: now + 60_000 });
    assert.deepEqual(readdirSync(directory.path).sort(), others);
  });
});

describe("createDirectory()", () => {
  const files = new Map([
    ["manifest.yaml", "a"],
    ["tools/one.star", "b"],
  ]);

  test("creates all files, also if an empty directory has the path", async () => {
    await using directory = await makeTemporaryDirectory();
    mkdirSync(directory.join("out"));
    await createDirectory(deps, directory.join("out"), files);
    assert.equal(readFileSync(join(directory.path, "out", "tools", "one.star"), "utf8"), "b");
    assert.deepEqual(readdirSync(directory.path), ["out"]);
  });

  test("refuses a directory that has content, and leaves nothing behind", { skip: isWindows }, async () => {
    await using directory = await makeTemporaryDirectory();
    mkdirSync(directory.join("out"));
    writeFileSync(directory.join("out", "mine"), "");
    await assert.rejects(createDirectory(deps, directory.join("out"), files), { errno: "ENOTEMPTY" });
    assert.deepEqual(readdirSync(directory.path), ["out"]);
    assert.deepEqual(readdirSync(directory.join("out")), ["mine"]);
  });
});
