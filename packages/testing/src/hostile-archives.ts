/** Archives that no reader of packages may accept, each with what the refusal says. For tests only. */

import { deflateRawSync } from "node:zlib";
import { type RawEntry, rawZip } from "./raw-zip.ts";

/** One archive. */
export interface HostileArchive {
  readonly title: string;
  /** Builds it. */
  readonly archive: () => Uint8Array;
  /** The text in the message of the refusal. */
  readonly message: RegExp;
}

/**
 * Returns archives that every reader of packages must refuse.
 *
 * @param base entries before the hostile one, such as a manifest. @default none
 */
export function hostileArchives(base: readonly RawEntry[] = []): readonly HostileArchive[] {
  const zip: typeof rawZip = (entries, options) => rawZip([...base, ...entries], options);
  const one = (entry: RawEntry) => zip([entry]);
  const list: readonly (readonly [title: string, archive: () => Uint8Array, message: RegExp])[] = [
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
    ["two equal paths", () => zip([{ name: "a" }, { name: "a" }]), /is in the package already/],
    ["two paths that differ by case", () => zip([{ name: "README" }, { name: "readme" }]), /already/],
    ["two paths that differ by the case of ß", () => zip([{ name: "ß" }, { name: "ẞ" }]), /already/],
    ["two paths that look alike", () => zip([{ name: "ﬁle" }, { name: "file" }]), /already/],
    ["a file with the path of a folder", () => zip([{ name: "a" }, { name: "a/b" }]), /already/],
    ["two folders that differ by case", () => zip([{ name: "a/b" }, { name: "A/c" }]), /confused/],
    ["the same folder twice", () => zip([{ name: "a/" }, { name: "a/" }]), /twice/],
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
        zip(
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
      () => zip(Array.from({ length: 501 - base.length }, (_, n) => ({ name: `f${n}` }))),
      /501 entries/,
    ],
    [
      "bytes before the archive",
      () => Buffer.concat([Buffer.from("#!/bin/sh\n"), one({ name: "a" })]),
      /directory is not where/,
    ],
    [
      "bytes before it, with moved offsets",
      () => zip([{ name: "a" }], { prefix: Buffer.from("x") }),
      /belong to no entry/,
    ],
    [
      "bytes after the archive",
      () => Buffer.concat([one({ name: "a" }), Buffer.from("x")]),
      /does not end with/,
    ],
    ["a comment of the archive", () => zip([{ name: "a" }], { comment: "x" }), /does not end with/],
    [
      "bytes between two entries",
      () => zip([{ name: "a" }, { name: "b", gap: Buffer.from("x") }]),
      /belong to no entry/,
    ],
    [
      "entries that overlap",
      () =>
        zip([
          { name: "a", data: "xxxx" },
          { name: "a2", sameAs: base.length },
        ]),
      /overlap/,
    ],
    [
      "an entry that the directory does not have",
      () => zip([{ name: "a" }, { name: "b", isHidden: true }]),
      /belong to no entry/,
    ],
    ["an empty file", () => Buffer.alloc(0), /is no ZIP archive/],
    ["another file", () => Buffer.from("not a zip file".repeat(10)), /is no ZIP archive/],
  ];
  return list.map(([title, archive, message]) => ({ title, archive, message }));
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
