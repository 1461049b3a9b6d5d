import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateRawSync } from "node:zlib";
import { McpkgError, type PackageFile, readArchive, writeArchive } from "@toolcrib/mcpkg";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { type RawEntry, rawZip } from "./raw-zip.ts";
import { echoFiles, filesOf } from "./sample-packages.ts";

/** Archives that are refused: entries or changes of a correct archive, and what the message says. */
const hostile: readonly (readonly [title: string, make: () => Uint8Array, message: RegExp])[] = [
  ["a path that leaves the package", () => one({ name: "../x" }), /stays in the package/],
  ["a path that leaves it later", () => one({ name: "a/../../x" }), /stays in the package/],
  ["an absolute path", () => one({ name: "/etc/passwd" }), /is relative/],
  ["a path with a drive", () => one({ name: "C:/x" }), /has none of/],
  ["a path with backslashes", () => one({ name: "..\\x" }), /has none of/],
  ["a path of a stream of NTFS", () => one({ name: "manifest.json:x" }), /has none of/],
  ["a path with NUL", () => one({ name: "a\0b" }), /control/],
  ["a path with a line feed", () => one({ name: "a\nb" }), /control/],
  ["a path with a bidirectional override", () => one({ name: "a\u202eb" }), /invisible/],
  ["a path with an invisible character", () => one({ name: "a\u200bb" }), /invisible/],
  ["a device of Windows", () => one({ name: "aux.txt" }), /device/],
  ["a path that ends with a dot", () => one({ name: "manifest.json." }), /ends with a dot/],
  ["a path that ends with a space", () => one({ name: "manifest.json " }), /ends with a dot or a space/],
  ["a decomposed path", () => one({ name: "e\u0301" }), /composed/],
  ["an empty path", () => one({ name: "" }), /1 to 240/],
  ["a long path", () => one({ name: "a".repeat(241) }), /1 to 240/],
  ["a deep path", () => one({ name: "a/b/c/d/e/f/g/h/i" }), /at most 8/],
  ["two equal paths", () => rawZip([{ name: "a" }, { name: "a" }]), /is in the package already/],
  ["two paths that differ by case", () => rawZip([{ name: "README" }, { name: "readme" }]), /already/],
  ["two paths that look alike", () => rawZip([{ name: "ﬁle" }, { name: "file" }]), /already/],
  ["a file with the path of a folder", () => rawZip([{ name: "a" }, { name: "a/b" }]), /already/],
  ["two folders that differ by case", () => rawZip([{ name: "a/b" }, { name: "A/c" }]), /confused/],
  ["the same folder twice", () => rawZip([{ name: "a/" }, { name: "a/" }]), /twice/],
  ["a symbolic link", () => one({ name: "a", mode: 0o120777, data: "/etc/passwd" }), /a link or a device/],
  ["a device", () => one({ name: "a", mode: 0o020666 }), /a link or a device/],
  ["a pipe", () => one({ name: "a", mode: 0o010666 }), /a link or a device/],
  ["a file that says it is a folder", () => one({ name: "a", mode: 0o040755 }), /a link or a device/],
  ["a folder with content", () => one({ name: "a/", data: "x" }), /folder with content/],
  ["an encrypted file", () => one({ name: "a", flags: 0x801 }), /encrypted/],
  ["masked headers", () => one({ name: "a", flags: 0x2800 }), /encrypted/],
  ["another compression", () => one({ name: "a", method: 12 }), /method 12/],
  ["a later version", () => one({ name: "a", version: 45 }), /later version/],
  ["a name that is not UTF-8", () => one({ name: Buffer.from([0xff]) }), /not UTF-8/],
  ["a name in an unknown encoding", () => one({ name: "é", flags: 0 }), /not marked as UTF-8/],
  ["another name for Unicode", () => one({ name: "a", extra: extraField(0x7075, 9) }), /0x7075/],
  ["a field of ZIP64", () => one({ name: "a", extra: extraField(0x0001, 16) }), /0x0001/],
  ["a broken extra field", () => one({ name: "a", extra: Buffer.from([1, 2, 255, 255]) }), /extra field/],
  ["a comment of an entry", () => one({ name: "a", comment: "x" }), /comment/],
  [
    "another name in the local header",
    () => one({ name: "a", local: { name: "b" } }),
    /headers of "a" differ/,
  ],
  ["another method in the local header", () => one({ name: "a", local: { method: 8 } }), /headers/],
  ["another size in the local header", () => one({ name: "a", data: "x", local: { size: 2 } }), /headers/],
  ["another checksum in the local header", () => one({ name: "a", local: { checksum: 1 } }), /headers/],
  ["a wrong checksum", () => one({ name: "a", checksum: 1 }), /checksum/],
  ["a wrong size", () => one({ name: "a", data: "xyz", method: 8, size: 2 }), /size/],
  ["a size that is too large", () => one({ name: "a", data: "xyz", method: 8, size: 4 }), /size/],
  [
    "bytes after the content",
    () => one({ name: "a", packed: withRest("xyz"), data: "xyz", method: 8 }),
    /after its content/,
  ],
  ["a bomb", () => one({ name: "a", data: Buffer.alloc(10_000_000), method: 8 }), /times as large/],
  [
    "too many bytes",
    () =>
      rawZip(
        Array.from({ length: 3 }, (_, n) => ({
          name: `f${n}`,
          method: 8,
          packed: random(700_000),
          size: 30_000_000,
        })),
      ),
    /together/,
  ],
  [
    "too many entries",
    () => rawZip(Array.from({ length: 501 }, (_, n) => ({ name: `f${n}` }))),
    /501 entries/,
  ],
  [
    "bytes before the archive",
    () => Buffer.concat([Buffer.from("#!/bin/sh\n"), one({ name: "a" })]),
    /directory is not where/,
  ],
  [
    "bytes before it, with moved offsets",
    () => rawZip([{ name: "a" }], { prefix: Buffer.from("x") }),
    /belong to no entry/,
  ],
  [
    "bytes after the archive",
    () => Buffer.concat([one({ name: "a" }), Buffer.from("x")]),
    /does not end with/,
  ],
  ["a comment of the archive", () => rawZip([{ name: "a" }], { comment: "x" }), /does not end with/],
  [
    "bytes between two entries",
    () => rawZip([{ name: "a" }, { name: "b", gap: Buffer.from("x") }]),
    /belong to no entry/,
  ],
  [
    "entries that overlap",
    () =>
      rawZip([
        { name: "a", data: "xxxx" },
        { name: "a2", sameAs: 0 },
      ]),
    /overlap/,
  ],
  [
    "an entry that the directory does not have",
    () => rawZip([{ name: "a" }, { name: "b", isHidden: true }]),
    /belong to no entry/,
  ],
  ["an empty file", () => Buffer.alloc(0), /does not end with/],
  ["another file", () => Buffer.from("not a zip file".repeat(10)), /does not end with/],
];

for (const [title, make, message] of hostile) {
  test(`readArchive() refuses ${title}`, async () => {
    await assert.rejects(readArchive(make()), (error: unknown) => {
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

function one(entry: RawEntry): Uint8Array {
  return rawZip([entry]);
}

function extraField(id: number, length: number): Buffer {
  const field = Buffer.alloc(4 + length);
  field.writeUInt16LE(id, 0);
  field.writeUInt16LE(length, 2);
  return field;
}

function withRest(text: string): Buffer {
  return Buffer.concat([deflateRawSync(text), Buffer.from("hidden")]);
}

function random(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, n) => (n * 7919) & 0xff));
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
