/** Pipes, devices, links and folders with the names of segments: no command waits for them, and verification names them. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeTemporaryDirectory } from "@toolcrib/testing";
import { runToolcrib } from "./transcript.ts";

/** Ways to put something in the place of a segment. */
const kinds: { readonly [what: string]: (path: string) => void } = {
  "a named pipe": (path) => void execFileSync("mkfifo", [path]),
  "a symbolic link": (path) => symlinkSync("/dev/zero", path),
  "a directory": (path) => mkdirSync(path),
};

describe("no audit command waits for a segment that is", {
  skip: process.platform === "win32" ? "there are no pipes in the file system" : false,
}, () => {
  for (const [what, make] of Object.entries(kinds))
    test(what, async () => {
      await using directory = await makeTemporaryDirectory();
      const setting = { directory: directory.path };
      const run = (...args: readonly string[]) => runToolcrib(args, setting);
      assert.equal((await run("pause", "all", "--reason", "look")).code, 0);
      const folder = directory.join(".toolcrib", "audit");
      const path = join(folder, "001-00000007.jsonl");
      make(path);

      const verified = await run("audit", "verify");
      assert.equal(verified.code, 1, verified.stderr);
      assert.ok(
        verified.stdout.includes(
          `FOUND 001-00000007.jsonl: it is ${what}, not a regular file, and was not read`,
        ),
        verified.stdout,
      );
      for (const args of [["list"], ["tail"]]) {
        const { code, stdout, stderr } = await run("audit", ...args);
        assert.equal(code, 0, stderr);
        assert.match(stdout, /guard\.paused/);
        assert.match(stderr, /001-00000007\.jsonl" is not a regular file and was not read/);
      }
      const exported = await run("audit", "export");
      assert.equal(exported.code === 0, false);
      assert.match(
        exported.stderr,
        new RegExp(`Cannot read audit segment "001-00000007.jsonl": it is ${what}`),
      );
      // A writer does not continue there, and does not start elsewhere as if nothing were wrong.
      const resumed = await run("resume", "all");
      assert.match(resumed.stderr, new RegExp(`Cannot use ".*" as an audit segment: it is ${what}`));
      renameSync(path, join(folder, "moved"));
      assert.equal((await run("audit", "verify")).code, 0);

      // The same for what is signed.
      const heads = directory.join(".toolcrib", "audit-heads");
      renameSync(join(heads, "001.json"), join(heads, "moved"));
      make(join(heads, "001.json"));
      const { stdout } = await run("audit", "verify");
      assert.match(stdout, new RegExp(`the signed head of writer 001 proves nothing: it is ${what}`));
      renameSync(directory.join(".toolcrib", "audit-key.pem"), directory.join("key"));
      make(directory.join(".toolcrib", "audit-key.pem"));
      assert.match((await run("audit", "verify")).stdout, new RegExp(`cannot be read: it is ${what}`));
      assert.match((await run("resume", "all")).stderr, /Cannot read the key of the audit trail/);
    });
});
