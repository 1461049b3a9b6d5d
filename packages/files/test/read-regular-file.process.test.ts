import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { readRegularFile, readRegularFileAtOnce } from "@toolcrib/files";
import { makeTemporaryDirectory } from "@toolcrib/testing";

for (const read of [readRegularFile, readRegularFileAtOnce]) {
  test(`${read.name}() reads only regular files, up to a limit`, async () => {
    await using directory = await makeTemporaryDirectory();
    const path = directory.join("file");
    const check = async (text: string, maxBytes: number, expected: string) => {
      writeFileSync(path, text);
      chmodSync(path, 0o640);
      const { bytes, mode } = await read(path, maxBytes);
      assert.deepEqual([Buffer.from(bytes).toString(), mode], [expected, 0o640]);
    };
    await check("", 10, "");
    await check("four", 10, "four");
    await check("four", 4, "four");
    // One byte more than the limit shows that the file is larger.
    await check("fourteen", 4, "fourt");
    mkdirSync(directory.join("folder"));
    await assert.rejects(read(directory.join("folder"), 10), { code: "EISDIR" });
    await assert.rejects(read(directory.join("none"), 10), { code: "ENOENT" });
    if (process.platform === "win32") return;
    execFileSync("mkfifo", [directory.join("pipe")]);
    await assert.rejects(read(directory.join("pipe"), 10), { code: "EINVAL" });
  });
}
