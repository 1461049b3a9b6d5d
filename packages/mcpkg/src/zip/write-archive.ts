/**
 * Writes the files of a package as a ZIP archive whose bytes depend on nothing but the
 * files: entries in the order of their names as bytes, one fixed time, no compression. Compression
 * would differ between processors and versions of the library; what carries the archive can compress it.
 */

import { crc32 } from "node:zlib";
import type { PackageFile, PackageFiles } from "../package-files.ts";
import { fileTypes, flags, madeOnUnix, methods, signatures, sizes } from "./zip-format.ts";

/** 1980-01-01, the first day of the format. */
const fixedDate = 0x0021;
const fixedTime = 0;
/** Version of the format that a reader needs: 2.0, for folders in names. */
const versionNeeded = 20;

/** Returns the archive of `files`: the same bytes for the same files on every machine. */
export function writeArchive(files: PackageFiles): Uint8Array {
  return Buffer.concat(partsOf(files));
}

/** Whether `archive` has exactly the bytes that `writeArchive` gives `files`. Copies no file. */
export function isWrittenArchive(archive: Uint8Array, files: PackageFiles): boolean {
  let at = 0;
  for (const part of partsOf(files)) {
    if (Buffer.compare(part, archive.subarray(at, at + part.length)) !== 0) return false;
    at += part.length;
  }
  return at === archive.length;
}

function partsOf(files: PackageFiles): readonly Buffer[] {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  const entries = [...files].map(([path, file]) => ({ name: Buffer.from(path, "utf8"), file }));
  entries.sort((one, other) => Buffer.compare(one.name, other.name));
  for (const { name, file } of entries) {
    const local = Buffer.alloc(sizes.localHeader);
    local.writeUInt32LE(signatures.localHeader, 0);
    const shared = sharedFields(name, file);
    shared.copy(local, 4);
    const { buffer, byteOffset, byteLength } = file.bytes;
    parts.push(local, name, Buffer.from(buffer, byteOffset, byteLength));
    directory.push(centralHeader(shared, file, offset), name);
    offset += local.length + name.length + file.bytes.length;
  }
  const directoryBytes = Buffer.concat(directory);
  const end = Buffer.alloc(sizes.endOfDirectory);
  end.writeUInt32LE(signatures.endOfDirectory, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directoryBytes.length, 12);
  end.writeUInt32LE(offset, 16);
  return [...parts, directoryBytes, end];
}

/** The 26 bytes that both headers of an entry have in common. */
function sharedFields(name: Buffer, { bytes }: PackageFile): Buffer {
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(versionNeeded, 0);
  fields.writeUInt16LE(flags.utf8, 2);
  fields.writeUInt16LE(methods.stored, 4);
  fields.writeUInt16LE(fixedTime, 6);
  fields.writeUInt16LE(fixedDate, 8);
  fields.writeUInt32LE(crc32(bytes), 10);
  fields.writeUInt32LE(bytes.length, 14);
  fields.writeUInt32LE(bytes.length, 18);
  fields.writeUInt16LE(name.length, 22);
  return fields;
}

function centralHeader(shared: Buffer, { isExecutable }: PackageFile, offset: number): Buffer {
  const header = Buffer.alloc(sizes.centralHeader);
  header.writeUInt32LE(signatures.centralHeader, 0);
  header.writeUInt16LE((madeOnUnix << 8) | versionNeeded, 4);
  shared.copy(header, 6);
  const mode = fileTypes.regular | (isExecutable ? 0o755 : 0o644);
  header.writeUInt32LE((mode << 16) >>> 0, 38);
  header.writeUInt32LE(offset, 42);
  return header;
}
