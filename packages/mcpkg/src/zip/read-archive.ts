/**
 * Reads a ZIP archive that may be hostile. It accepts only archives that every reader
 * understands in the same way: both headers of an entry agree, the entries fill the archive without
 * gaps and overlaps, nothing precedes them and nothing follows the directory. There are
 * no links, no devices, no encryption, no ZIP64, no comments and no alternative names.
 *
 * All sizes are checked before anything is inflated, and inflating stops at the stated size.
 * It writes nothing: the files are in memory.
 */

import { promisify } from "node:util";
import { crc32, type InflateRaw, inflateRaw, type ZlibOptions } from "node:zlib";
import { McpkgError } from "../mcpkg-error.ts";
import type { PackageFile, PackageFiles } from "../package-files.ts";
import { type ArchiveLimits, maxRatio, packageLimits, ratioFreeBytes } from "../package-limits.ts";
import { PathSet } from "../package-path.ts";
import { fileTypes, flags, methods, signatures, sizes } from "./zip-format.ts";

/** Extra fields that change the meaning of an entry: ZIP64, strong encryption, other names, AES. */
const forbiddenExtraFields = new Set([0x0001, 0x0017, 0x6375, 0x7075, 0x9901]);
/** Greatest version of the format that is needed for what is accepted. */
const versionMax = 20;
/** Stands for a size or an offset in a ZIP64 record. */
const inZip64 = 0xffff_ffff;

/** An entry of the directory. */
interface Entry {
  readonly name: Buffer;
  readonly path: string;
  readonly isFolder: boolean;
  readonly isExecutable: boolean;
  readonly flags: number;
  readonly method: number;
  readonly checksum: number;
  readonly compressedBytes: number;
  readonly bytes: number;
  readonly offset: number;
}

/**
 * Returns the files of an archive, which may be hostile, in the order of its directory.
 *
 * @param limits @default those of packages
 * @throws {McpkgError} `MCPKG_ARCHIVE_INVALID`, `MCPKG_ARCHIVE_TOO_LARGE`, `MCPKG_PATH_INVALID`
 */
export async function readArchive(
  bytes: Uint8Array,
  limits: ArchiveLimits = packageLimits,
): Promise<PackageFiles> {
  if (bytes.length > limits.maxBytes) {
    throw tooLarge(`it has ${bytes.length} bytes; at most ${limits.maxBytes} are allowed`);
  }
  const archive = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const directory = findDirectory(archive, limits);
  const entries = readDirectory(archive, directory);
  checkSizes(entries, limits);
  checkPaths(entries, limits);
  const data = new Map<Entry, Buffer>();
  let end = 0;
  // The entries fill the archive in some order, each once.
  for (const entry of entries.toSorted((one, other) => one.offset - other.offset)) {
    if (entry.offset !== end) {
      throw invalid(
        entry.offset < end
          ? `entries overlap at byte ${entry.offset}`
          : `bytes ${end} to ${entry.offset} belong to no entry`,
      );
    }
    const start = checkLocalHeader(archive, entry, directory.offset);
    data.set(entry, archive.subarray(start, start + entry.compressedBytes));
    end = endOfEntry(archive, entry, start, directory.offset);
  }
  if (end !== directory.offset) {
    throw invalid(`bytes ${end} to ${directory.offset} belong to no entry`);
  }
  const files = new Map<string, PackageFile>();
  for (const entry of entries) {
    const content = await inflate(entry, data.get(entry) as Buffer);
    if (!entry.isFolder) files.set(entry.path, { bytes: content, isExecutable: entry.isExecutable });
  }
  return files;
}

interface Directory {
  readonly offset: number;
  readonly end: number;
  readonly count: number;
}

/** Whether the bytes have the beginning of an entry, or the last record of a directory. Everything else was never packed. */
function isArchiveLike(archive: Buffer): boolean {
  return archive.indexOf("PK\x03\x04") !== -1 || archive.indexOf("PK\x05\x06") !== -1;
}

/** The record at the very end. A comment or anything else after it could hide a second directory. */
function findDirectory(archive: Buffer, { entriesMaxCount }: ArchiveLimits): Directory {
  const end = archive.length - sizes.endOfDirectory;
  if (!isArchiveLike(archive)) {
    throw new McpkgError("MCPKG_ARCHIVE_INVALID", "Cannot read the archive: the file is no ZIP archive", {
      hint: "of a package or bundle that is not packed, pass the folder with its manifest.json, not a file in it",
    });
  }
  if (end < 0 || archive.readUInt32LE(end) !== signatures.endOfDirectory) {
    throw invalid("it does not end with the directory of a ZIP file; nothing may follow, not even a comment");
  }
  const disks = [archive.readUInt16LE(end + 4), archive.readUInt16LE(end + 6)];
  const counts = [archive.readUInt16LE(end + 8), archive.readUInt16LE(end + 10)];
  const size = archive.readUInt32LE(end + 12);
  const offset = archive.readUInt32LE(end + 16);
  if (disks[0] !== 0 || disks[1] !== 0 || counts[0] !== counts[1]) {
    throw invalid("it is one part of an archive with several parts");
  }
  if (archive.readUInt16LE(end + 20) !== 0) throw invalid("it has a comment");
  if (counts[0] === 0xffff || size === inZip64 || offset === inZip64) throw invalid("it is a ZIP64 archive");
  const [count] = counts as [number, number];
  if (count > entriesMaxCount) {
    throw tooLarge(`it has ${count} entries; at most ${entriesMaxCount} are allowed`);
  }
  if (offset + size !== end) throw invalid("its directory is not where its last record says");
  return { offset, end, count };
}

function readDirectory(archive: Buffer, { offset, end, count }: Directory): readonly Entry[] {
  const entries: Entry[] = [];
  let at = offset;
  for (let index = 0; index < count; index += 1) {
    if (at + sizes.centralHeader > end || archive.readUInt32LE(at) !== signatures.centralHeader) {
      throw invalid(`entry ${index + 1} of its directory is not readable`);
    }
    const nameLength = archive.readUInt16LE(at + 28);
    const extraLength = archive.readUInt16LE(at + 30);
    const commentLength = archive.readUInt16LE(at + 32);
    const nameStart = at + sizes.centralHeader;
    const next = nameStart + nameLength + extraLength + commentLength;
    if (next > end) throw invalid(`entry ${index + 1} of its directory is not readable`);
    if (commentLength > 0) throw invalid(`entry ${index + 1} has a comment`);
    checkExtraFields(archive.subarray(nameStart + nameLength, next));
    if (archive.readUInt16LE(at + 34) !== 0) {
      throw invalid("it is one part of an archive with several parts");
    }
    entries.push(readEntry(archive, at, archive.subarray(nameStart, nameStart + nameLength)));
    at = next;
  }
  if (at !== end) throw invalid("its directory has more entries than it says");
  return entries;
}

function readEntry(archive: Buffer, at: number, name: Buffer): Entry {
  const entryFlags = archive.readUInt16LE(at + 8);
  const decoded = decodeName(name, entryFlags);
  const shown = quoted(decoded);
  const method = archive.readUInt16LE(at + 10);
  if ((entryFlags & ~(flags.deflateLevels | flags.descriptor | flags.utf8)) !== 0) {
    throw invalid(`${shown} is encrypted, or needs another feature of ZIP files`);
  }
  if (method !== methods.stored && method !== methods.deflated) {
    throw invalid(`${shown} is compressed with method ${method}; 0 and 8 (deflate) are allowed`);
  }
  if (archive.readUInt16LE(at + 6) > versionMax) throw invalid(`${shown} needs a later version of ZIP files`);
  const isFolder = decoded.endsWith("/");
  const mode = archive.readUInt32LE(at + 38) >>> 16;
  const type = mode & fileTypes.mask;
  const ownType = isFolder ? fileTypes.directory : fileTypes.regular;
  if (type !== 0 && type !== ownType) {
    throw invalid(`${shown} is a link or a device, or not what its name says`);
  }
  const entry = {
    name,
    path: isFolder ? decoded.slice(0, -1) : decoded,
    isFolder,
    isExecutable: !isFolder && (mode & fileTypes.executable) !== 0,
    flags: entryFlags,
    method,
    checksum: archive.readUInt32LE(at + 16),
    compressedBytes: archive.readUInt32LE(at + 20),
    bytes: archive.readUInt32LE(at + 24),
    offset: archive.readUInt32LE(at + 42),
  };
  if ([entry.compressedBytes, entry.bytes, entry.offset].includes(inZip64)) {
    throw invalid("it is a ZIP64 archive");
  }
  if (isFolder && entry.bytes > 0) throw invalid(`${shown} is a folder with content`);
  if (method === methods.stored && entry.compressedBytes !== entry.bytes) {
    throw invalid(`${shown} has two different sizes`);
  }
  return entry;
}

/** Without the flag for UTF-8, readers disagree about all characters but those of ASCII. */
function decodeName(name: Buffer, entryFlags: number): string {
  if ((entryFlags & flags.utf8) === 0 && name.some((byte) => byte > 0x7e)) {
    throw invalid("the name of an entry has other characters than ASCII, and is not marked as UTF-8");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(name);
  } catch (cause) {
    throw invalid("the name of an entry is not UTF-8", cause);
  }
}

function checkExtraFields(extra: Buffer): void {
  for (let at = 0; at < extra.length; ) {
    if (at + 4 > extra.length) throw invalid("an extra field is not readable");
    const id = extra.readUInt16LE(at);
    if (forbiddenExtraFields.has(id)) {
      throw invalid(`the extra field 0x${id.toString(16).padStart(4, "0")} is not allowed`);
    }
    at += 4 + extra.readUInt16LE(at + 2);
    if (at > extra.length) throw invalid("an extra field is not readable");
  }
}

function checkSizes(entries: readonly Entry[], { maxBytes }: ArchiveLimits): void {
  let total = 0;
  for (const { path, bytes, compressedBytes } of entries) {
    total += bytes;
    if (bytes > ratioFreeBytes && bytes > compressedBytes * maxRatio) {
      throw tooLarge(
        `${quoted(path)} would be ${Math.round(bytes / Math.max(1, compressedBytes))} times as large as in the archive; at most ${maxRatio} times are allowed`,
      );
    }
    if (total > maxBytes) throw tooLarge(`its files have more than ${maxBytes} bytes together`);
  }
}

function checkPaths(entries: readonly Entry[], limits: ArchiveLimits): void {
  const paths = new PathSet(limits);
  const folders = new Set<string>();
  for (const { path, isFolder } of entries) {
    if (!isFolder) paths.addFile(path);
    else if (folders.has(path)) throw invalid(`it has the folder ${quoted(path)} twice`);
    else paths.addFolder(path);
    if (isFolder) folders.add(path);
  }
}

/** Checks the local header of `entry` against the directory. Returns where its data begins. */
function checkLocalHeader(archive: Buffer, entry: Entry, limit: number): number {
  const { offset: at, path } = entry;
  const differs = () => invalid(`the two headers of ${quoted(path)} differ`);
  if (at + sizes.localHeader > limit || archive.readUInt32LE(at) !== signatures.localHeader) throw differs();
  const nameLength = archive.readUInt16LE(at + 26);
  const extraLength = archive.readUInt16LE(at + 28);
  const nameStart = at + sizes.localHeader;
  const start = nameStart + nameLength + extraLength;
  if (start + entry.compressedBytes > limit) throw invalid(`${quoted(path)} is cut off`);
  if (!archive.subarray(nameStart, nameStart + nameLength).equals(entry.name)) throw differs();
  checkExtraFields(archive.subarray(nameStart + nameLength, start));
  if (archive.readUInt16LE(at + 4) > versionMax) throw differs();
  if (archive.readUInt16LE(at + 6) !== entry.flags || archive.readUInt16LE(at + 8) !== entry.method) {
    throw differs();
  }
  const own = [14, 18, 22].map((field) => archive.readUInt32LE(at + field));
  const listed = [entry.checksum, entry.compressedBytes, entry.bytes];
  const hasDescriptor = (entry.flags & flags.descriptor) !== 0;
  const isSame = own.every((value, index) => value === listed[index] || (hasDescriptor && value === 0));
  if (!isSame) throw differs();
  return start;
}

/** Returns where the entry ends: after its data, or after the descriptor that repeats its sizes. */
function endOfEntry(archive: Buffer, entry: Entry, start: number, limit: number): number {
  const end = start + entry.compressedBytes;
  if ((entry.flags & flags.descriptor) === 0) return end;
  const listed = Buffer.alloc(12);
  listed.writeUInt32LE(entry.checksum, 0);
  listed.writeUInt32LE(entry.compressedBytes, 4);
  listed.writeUInt32LE(entry.bytes, 8);
  // Its signature is optional.
  const isSigned = end + 16 <= limit && archive.readUInt32LE(end) === signatures.descriptor;
  const fields = end + (isSigned ? 4 : 0);
  if (!archive.subarray(fields, Math.min(fields + 12, limit)).equals(listed)) {
    throw invalid(`the two headers of ${quoted(entry.path)} differ`);
  }
  return fields + 12;
}

const inflateOnce = promisify(inflateRaw) as (
  data: Uint8Array,
  options: ZlibOptions,
) => Promise<Buffer | { readonly buffer: Buffer; readonly engine: InflateRaw }>;

async function inflate(entry: Entry, data: Buffer): Promise<Buffer> {
  const content = entry.method === methods.stored ? data : await inflateWhole(entry, data);
  if (content.length !== entry.bytes || crc32(content) !== entry.checksum) {
    throw invalid(`${quoted(entry.path)} does not have the size or the checksum that the archive states`);
  }
  return content;
}

async function inflateWhole({ path, bytes }: Entry, data: Buffer): Promise<Buffer> {
  try {
    // One byte more than stated, so that a longer content is noticed; zero is no limit.
    // One chunk is the result itself; several are copied once more.
    const options = { info: true, maxOutputLength: bytes + 1, chunkSize: Math.max(64, bytes + 1) };
    const { buffer, engine } = (await inflateOnce(data, options)) as {
      readonly buffer: Buffer;
      readonly engine: InflateRaw;
    };
    if (engine.bytesWritten !== data.length) throw invalid(`${quoted(path)} has bytes after its content`);
    return buffer;
  } catch (cause) {
    if (cause instanceof McpkgError) throw cause;
    throw invalid(`${quoted(path)} cannot be inflated to the size that the archive states`, cause);
  }
}

function quoted(name: string): string {
  return JSON.stringify(name.length > 240 ? `${name.slice(0, 240)}…` : name);
}

function invalid(reason: string, cause?: unknown): McpkgError {
  return new McpkgError("MCPKG_ARCHIVE_INVALID", `Cannot read the archive: ${reason}`, {
    ...(cause === undefined ? {} : { cause }),
    hint: "build it with: toolcrib pack DIR",
  });
}

function tooLarge(reason: string): McpkgError {
  return new McpkgError("MCPKG_ARCHIVE_TOO_LARGE", `Cannot read the archive: ${reason}`);
}
