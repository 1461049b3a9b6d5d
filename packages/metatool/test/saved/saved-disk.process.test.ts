/** Full disks and directories without permission: a precise error, and no change. */

import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { MetatoolError } from "@toolcrib/metatool";
import { makeTemporaryDirectory, runProcess } from "@toolcrib/testing";
import { changes, type ToolState } from "./changes.ts";
import { definitionOf, type FileStep, fileNames, openTest, steppedFiles } from "./saved-harness.ts";

const isWindows = process.platform === "win32";

/** File steps of which the one with the number `failing` fails. */
function failingFiles(errno: string) {
  const state = { failing: undefined as number | undefined, steps: [] as FileStep[], isOn: false };
  const files = steppedFiles(async (step, run, half) => {
    if (!state.isOn) return run();
    const index = state.steps.push(step) - 1;
    if (index !== state.failing) return run();
    await half?.();
    throw Object.assign(new Error(`${errno}: as the test wants it, ${step}`), { code: errno });
  });
  return { files, state };
}

async function stepsOf(name: string): Promise<readonly FileStep[]> {
  await using directory = await makeTemporaryDirectory();
  const { files, state } = failingFiles("ENOSPC");
  await using saved = await openTest(directory.join("tools"), { files });
  await changes[name]!.prepare(saved);
  state.isOn = true;
  await changes[name]!.run(saved);
  return [...state.steps];
}

async function checkFailure(name: string, index: number, step: FileStep, errno: string): Promise<void> {
  const change = changes[name]!;
  const place = `${name}, ${errno} at step ${index} (${step})`;
  await using temporary = await makeTemporaryDirectory();
  const directory = temporary.join("tools");
  const { files, state } = failingFiles(errno);
  const problems: string[] = [];
  const saved = await openTest(directory, { files, onProblem: ({ code }) => problems.push(code) });
  await change.prepare(saved);
  Object.assign(state, { isOn: true, failing: index });
  const thrown = await change.run(saved).then(
    () => undefined,
    (error: unknown) => error,
  );
  state.isOn = false;
  const isDone = state.steps.slice(0, index).filter((one) => one === "rename" || one === "remove").length;
  if (thrown === undefined) {
    // The change is not durable, which is logged.
    assert.deepEqual([step, problems], ["syncDirectory", ["METATOOL_NOT_DURABLE"]], place);
  } else {
    assert(thrown instanceof MetatoolError, place);
    assert.equal(
      thrown.code,
      step === "syncDirectory" ? "METATOOL_NOT_DURABLE" : "METATOOL_UNWRITABLE",
      place,
    );
    assert.match(thrown.message, new RegExp(errno), place);
    if (thrown.code === "METATOOL_UNWRITABLE") assert.deepEqual(thrown.data, { errno }, place);
  }
  await saved[Symbol.asyncDispose]();
  assert.deepEqual(
    fileNames(directory).filter((file) => file.endsWith(".draft")),
    [],
    place,
  );
  await using again = await openTest(directory);
  const tool = await again.get("double");
  const found: ToolState = tool && { code: tool.code, executionCount: tool.metadata.executionCount };
  // Disposal, or a later one, retries the failed write: no count is lost.
  const isCounted = ["a flush of counters", "a disposal"].includes(name);
  assert.deepEqual(found, isDone > change.decisive || isCounted ? change.after : change.before, place);
}

for (const errno of ["ENOSPC", "EIO"]) {
  describe(`${errno} at any step of a change leaves the old state or the new one, and no draft:`, () => {
    for (const name of Object.keys(changes)) {
      test(name, async () => {
        const steps = await stepsOf(name);
        for (const [index, step] of steps.entries()) await checkFailure(name, index, step, errno);
      });
    }
  });
}

test("counters that cannot be written are kept, and written when the disk has space again", async () => {
  await using temporary = await makeTemporaryDirectory();
  const directory = temporary.join("tools");
  const { files, state } = failingFiles("ENOSPC");
  await using saved = await openTest(directory, { files });
  await saved.save(definitionOf());
  saved.recordExecution("double", 1);
  Object.assign(state, { isOn: true, failing: 1 });
  await assert.rejects(saved.flush(), { code: "METATOOL_UNWRITABLE", data: { errno: "ENOSPC" } });
  assert.equal(saved.current()[0]?.metadata.executionCount, 1);
  state.isOn = false;
  saved.recordExecution("double", 2);
  await saved.flush();
  await using other = await openTest(directory);
  assert.equal(other.current()[0]?.metadata.executionCount, 2);
});

/** Mounts a file system of `kilobytes` in memory; `undefined` where that is not possible. */
function mountTmpfs(t: TestContext, kilobytes: number): string | undefined {
  const directory = mkdtempSync(join(tmpdir(), "toolcrib-tmpfs-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${kilobytes}k`, "tmpfs", directory]);
  t.after(() => {
    if (mounted.status === 0) execFileSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true });
  });
  return mounted.status === 0 ? directory : undefined;
}

test("on a full disk, saving fails and loses nothing, and works when there is space", async (t) => {
  const disk = mountTmpfs(t, 256);
  if (disk === undefined) return t.skip("a tmpfs cannot be mounted here");
  const directory = join(disk, "tools");
  const saved = await openTest(directory);
  const kept = await saved.save(definitionOf({ code: `# ${"k".repeat(20_000)}\n` }));
  const ballast = join(disk, "ballast");
  writeFileSync(ballast, "");
  for (let size = 4096; ; size += 4096) {
    try {
      writeFileSync(ballast, Buffer.alloc(size));
    } catch {
      break;
    }
  }
  const full = {
    code: "METATOOL_UNWRITABLE",
    message: /the disk is full \(ENOSPC\)/,
    data: { errno: "ENOSPC" },
  };
  await assert.rejects(saved.save(definitionOf({ code: `# ${"n".repeat(60_000)}\n` })), full);
  await assert.rejects(saved.save(definitionOf({ name: "other", code: `# ${"o".repeat(60_000)}\n` })), full);
  saved.recordExecution("double", 1);
  await assert.rejects(saved.flush(), full);
  assert.deepEqual(fileNames(directory), ["double.json"]);
  assert.equal((await saved.get("double"))?.code, kept.tool.code);
  rmSync(ballast);
  await saved.save(definitionOf({ name: "other" }));
  await saved[Symbol.asyncDispose]();
  assert.deepEqual(fileNames(directory), ["double.json", "other.json"]);
  await using again = await openTest(directory);
  assert.equal((await again.get("double"))?.metadata.executionCount, 1);
});

const unprivilegedId = 65_534;
const child = fileURLToPath(new URL("./permission-child.ts", import.meta.url));
const conditions = process.execArgv.filter((argument) => argument.startsWith("--conditions"));

/** Runs `permission-child.ts` on `directory` as a user other than root. */
async function tryAsUser(directory: string): Promise<unknown> {
  const isRoot = process.getuid?.() === 0;
  const args = [...conditions, child, directory, isRoot ? String(unprivilegedId) : "-"];
  const { code, stdout, stderr } = await runProcess(process.execPath, args);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout);
}

describe("without permission", { skip: isWindows && "Windows has other permissions" }, () => {
  async function withDirectory(run: (directory: string) => Promise<void>): Promise<void> {
    await using temporary = await makeTemporaryDirectory();
    const directory = temporary.join("tools");
    chmodSync(temporary.path, 0o755);
    mkdirSync(directory);
    {
      await using saved = await openTest(directory);
      await saved.save(definitionOf());
      await saved.save(definitionOf({ name: "other" }));
    }
    const isRoot = process.getuid?.() === 0;
    const names = fileNames(directory).map((name) => join(directory, name));
    if (isRoot)
      for (const path of [directory, join(directory, ".saved-tools.lock"), ...names]) {
        chownSync(path, unprivilegedId, unprivilegedId);
      }
    await run(directory);
    // So that the directory can be removed.
    chmodSync(directory, 0o700);
  }

  test("to write, tools are listed and a change fails with the reason", () =>
    withDirectory(async (directory) => {
      chmodSync(directory, 0o500);
      const hint = "give the user who runs toolcrib write access to the directory; nothing was changed";
      assert.deepEqual(await tryAsUser(directory), {
        names: ["double", "other"],
        diagnostics: [],
        save: { code: "METATOOL_UNWRITABLE", errno: "EACCES", hint },
        problems: [],
      });
      assert.deepEqual(fileNames(directory), ["double.json", "other.json"]);
    }));

  test("to read one file, the others are listed and the file is reported and left alone", () =>
    withDirectory(async (directory) => {
      chmodSync(join(directory, "double.json"), 0);
      assert.deepEqual(await tryAsUser(directory), {
        names: ["other"],
        diagnostics: ["METATOOL_FILE_UNREADABLE Cannot read the saved tool: permission denied (EACCES)"],
        save: { code: "METATOOL_FILE_IN_THE_WAY" },
        problems: [],
      });
      assert.equal(statSync(join(directory, "double.json")).mode & 0o777, 0);
    }));

  const noOther = process.getuid?.() !== 0 && "only root can own what another user cannot enter";
  test("to list, opening fails with the reason", { skip: noOther }, () =>
    withDirectory(async (directory) => {
      chmodSync(join(directory, ".."), 0o700);
      assert.deepEqual(await tryAsUser(directory), {
        open: { code: "METATOOL_DIRECTORY_UNUSABLE", errno: "EACCES" },
      });
    }),
  );
});

test("a file at the path of the directory is an error", async () => {
  await using temporary = await makeTemporaryDirectory();
  writeFileSync(temporary.join("tools"), "");
  await assert.rejects(openTest(temporary.join("tools")), { code: "METATOOL_DIRECTORY_UNUSABLE" });
  assert(existsSync(temporary.join("tools")));
});

test("the directory is created for its owner only, and closed to others when it was open", {
  skip: isWindows,
}, async () => {
  await using temporary = await makeTemporaryDirectory();
  const rows: readonly [path: string, mode: number | undefined][] = [
    [temporary.join("home", "tools"), undefined],
    [temporary.join("open"), 0o755],
  ];
  for (const [path, mode] of rows) {
    if (mode !== undefined) mkdirSync(path, { mode });
    await using saved = await openTest(path);
    await saved.save(definitionOf());
    assert.equal(statSync(path).mode & 0o777, 0o700);
    assert.equal(statSync(join(path, "double.json")).mode & 0o777, 0o600);
  }
  assert.equal(statSync(temporary.join("home")).mode & 0o777, 0o700);
});
