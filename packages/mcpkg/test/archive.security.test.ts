import assert from "node:assert/strict";
import { test } from "node:test";
import { McpkgError, type PackageFile, readArchive, writeArchive } from "@toolcrib/mcpkg";
import { hostileArchives, rawZip, runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { echoFiles, filesOf } from "./sample-packages.ts";

for (const { title, archive, message } of hostileArchives()) {
  test(`readArchive() refuses ${title}`, async () => {
    await assert.rejects(readArchive(archive()), (error: unknown) => {
      assert(error instanceof McpkgError, String(error));
      assert.match(error.message, message);
      return true;
    });
  });
}

test("readArchive() reads archives of other programs: deflated, with descriptors, folders and extra fields", async () => {
  const text = "Some text. ".repeat(100);
  const files = await readArchive(
    rawZip([
      { name: "a/" },
      { name: "a/deflated.txt", data: text, method: 8 },
      { name: "a/streamed.txt", data: text, method: 8, descriptor: "signed" },
      { name: "a/plain.txt", data: text, method: 8, descriptor: "bare" },
      { name: "stored.txt", data: text, extra: extraField(0x5455, 5) },
      { name: "run.sh", data: text, mode: 0o100755 },
      { name: "übung.txt", data: text },
    ]),
  );
  assert.deepEqual(
    [...files].map(([path, { bytes, isExecutable }]) => [
      path,
      Buffer.from(bytes).toString() === text,
      isExecutable,
    ]),
    [
      ["a/deflated.txt", true, false],
      ["a/streamed.txt", true, false],
      ["a/plain.txt", true, false],
      ["stored.txt", true, false],
      ["run.sh", true, true],
      ["übung.txt", true, false],
    ],
  );
});

test("what writeArchive() writes does not depend on the order of the files, and is read again", async () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,12}(?:\/[a-z][a-z0-9-]{0,12}){0,3}\.(?:json|md|js)$/);
  const file = fc.record({ bytes: fc.uint8Array({ maxLength: 500 }), isExecutable: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.tuple(name, file), { selector: ([path]) => path, maxLength: 20 }),
      async (entries) => {
        const archive = writeArchive(new Map(entries));
        assert.deepEqual(writeArchive(new Map(entries.toReversed())), archive);
        const read = await readArchive(archive);
        assert.deepEqual(toPlain(read), toPlain(new Map(entries)));
      },
    ),
    { numRuns: runCount(100) },
  );
});

test("no change of one bit makes readArchive() return other files", async () => {
  const files = echoFiles();
  const archive = writeArchive(files);
  let accepted = 0;
  for (let bit = 0; bit < archive.length * 8; bit += 1) {
    const changed = Uint8Array.from(archive);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    const read = await readArchive(changed).catch((error: unknown) => {
      assert(error instanceof McpkgError, `bit ${bit}: ${String(error)}`);
    });
    if (read === undefined) continue;
    accepted += 1;
    // Times, versions, owners and permissions have no meaning; executables do.
    assert.deepEqual(
      toPlain(read).map(([path, bytes]) => [path, bytes]),
      toPlain(files).map(([path, bytes]) => [path, bytes]),
      `bit ${bit}`,
    );
  }
  assert(accepted > 0, "changes of times are accepted");
});

test("no cut of an archive is accepted", async () => {
  const archive = writeArchive(echoFiles());
  for (let length = 0; length < archive.length; length += 1) {
    await assert.rejects(readArchive(archive.subarray(0, length)), McpkgError);
  }
});

test("random bytes are refused with an error of the package", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
      await assert.rejects(readArchive(bytes), McpkgError);
    }),
    { numRuns: runCount(300) },
  );
});

function extraField(id: number, length: number): Buffer {
  const field = Buffer.alloc(4 + length);
  field.writeUInt16LE(id, 0);
  field.writeUInt16LE(length, 2);
  return field;
}

function toPlain(files: ReadonlyMap<string, PackageFile>): [string, string, boolean][] {
  return [...files]
    .map(([path, { bytes, isExecutable }]): [string, string, boolean] => [
      path,
      Buffer.from(bytes).toString("hex"),
      isExecutable,
    ])
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
}

test("filesOf() is the same after a round trip", async () => {
  const files = filesOf({ "manifest.json": "{}" });
  assert.deepEqual(toPlain(await readArchive(writeArchive(files))), toPlain(files));
});
