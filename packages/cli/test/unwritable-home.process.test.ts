import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { runToolcrib } from "./transcript.ts";

interface Disk {
  readonly directory: string;
  /** Uses up all space. */
  fill(): void;
  /** Frees the space that `fill` used. */
  free(): void;
  makeReadOnly(): void;
}

/** Mounts a file system of one megabyte in memory, with a configuration that needs no server. */
function mountDisk(t: TestContext): Disk | undefined {
  const directory = mkdtempSync(join(tmpdir(), "toolcrib-disk-"));
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", directory]);
  t.after(() => {
    if (mounted.status === 0) execFileSync("umount", ["-l", directory]);
    rmSync(directory, { recursive: true });
  });
  if (mounted.status !== 0) return undefined;
  const document = { tool_servers: [], serve: { listen: "127.0.0.1:0" } };
  writeFileSync(join(directory, "toolcrib.json"), JSON.stringify(document));
  writeFileSync(join(directory, "one.star"), "def main():\n    return 1\n");
  const ballast = join(directory, "ballast");
  return {
    directory,
    fill() {
      // A page at a time, until nothing fits.
      writeFileSync(ballast, "");
      for (const size of [64 * 1024, 4096]) {
        while (spawnSync("sh", ["-c", `head -c ${size} /dev/zero >> "$0"`, ballast]).status === 0);
      }
    },
    free: () => rmSync(ballast),
    makeReadOnly: () => void execFileSync("mount", ["-o", "remount,ro", directory]),
  };
}

/** Runs a gateway for one call, so that the home has a trail. */
async function writeTrail(directory: string): Promise<void> {
  const { code, stderr } = await runToolcrib(["eval", "one.star"], { directory });
  assert.equal(code, 0, stderr);
}

test("audit list shows the trail on a full disk", async (t) => {
  const disk = mountDisk(t);
  if (disk === undefined) return t.skip("a tmpfs cannot be mounted here");
  const { directory } = disk;
  await writeTrail(directory);
  for (const hasIndex of [false, true]) {
    // A new index needs space for its file, an existing one for its log.
    if (!hasIndex)
      for (const end of ["", "-wal", "-shm"])
        rmSync(join(directory, `.toolcrib/toolcrib.db${end}`), { force: true });
    else {
      disk.free();
      await runToolcrib(["audit", "list"], { directory });
      await writeTrail(directory);
    }
    disk.fill();
    const { code, stdout, stderr } = await runToolcrib(["audit", "list", "--json"], { directory });
    assert.deepEqual([code, stderr], [0, ""]);
    const types = (JSON.parse(stdout) as { type: string }[]).map(({ type }) => type);
    assert.equal(types.filter((type) => type === "call.intent").length, hasIndex ? 2 : 1);
  }
});

for (const state of ["full", "read-only"] as const) {
  for (const home of ["new", "existing"] as const) {
    test(`serve explains a ${state} disk to the user of ${home === "new" ? "a new" : "an existing"} home`, async (t) => {
      const disk = mountDisk(t);
      if (disk === undefined) return t.skip("a tmpfs cannot be mounted here");
      const { directory } = disk;
      if (home === "existing") await writeTrail(directory);
      else mkdirSync(join(directory, ".toolcrib"), { mode: 0o700 });
      if (state === "full") disk.fill();
      else disk.makeReadOnly();
      // The last page of an existing segment can have space for a record, so only the first command is certain to fail.
      const commands = [["serve"], ["serve", "--stdio"], ["eval", "one.star"]];
      for (const args of commands.slice(0, state === "full" && home === "existing" ? 1 : 3)) {
        const { code, stderr } = await runToolcrib(args, { directory });
        const text = `${args.join(" ")}: ${stderr}`;
        assert.notEqual(code, 0, text);
        assert.match(
          stderr,
          /^error (?:STORE_HOME_UNUSABLE|AUDIT_UNWRITABLE|TOKEN_FILE_UNREADABLE|FILE_UNWRITABLE): /m,
          text,
        );
        assert.match(
          stderr,
          state === "full" ? /the disk is full \(ENOSPC\)/ : /the file system is read-only \(EROFS\)/,
          text,
        );
        assert(stderr.includes(join(directory, ".toolcrib")), text);
        assert.match(stderr, /^hint: free (?:disk|some) space/m, text);
      }
    });
  }
}
