/**
 * Tar archives (POSIX ustar). The writer's bytes depend on nothing but the entries: sorted by path, fixed times and
 * owners. The reader is for archives whose digest was checked: it finds files and understands nothing else.
 */

import { ToolpackImageError } from "./toolpack-image-error.ts";

/** A file or folder of an archive. */
export interface TarEntry {
  /** Relative path with slashes, ASCII, at most 100 characters; a folder has no slash at its end. */
  readonly path: string;
  /** The content of a file; absent for a folder. */
  readonly bytes?: Uint8Array;
  /** Permission bits. @default 0o644 for files, 0o755 for folders */
  readonly mode?: number;
}

const blockBytes = 512;
const pathMaxLength = 100;
/** Largest size that eleven octal digits can express. */
const fileMaxBytes = 0o77777777777;

/**
 * Writes entries as a tar archive, in parts that follow each other. Folders of files are added.
 *
 * @throws {ToolpackImageError} `IMAGE_PATH_CONFLICT`
 */
export function writeTar(entries: readonly TarEntry[]): readonly Uint8Array[] {
  const all = withFolders(entries);
  const parts = all.flatMap(({ path, bytes, mode }) => {
    const size = bytes?.length ?? 0;
    const header = toHeader({ path, size, isFolder: bytes === undefined, mode });
    const padding = (blockBytes - (size % blockBytes)) % blockBytes;
    return bytes === undefined ? [header] : [header, bytes, new Uint8Array(padding)];
  });
  return [...parts.filter(({ length }) => length > 0), new Uint8Array(2 * blockBytes)];
}

/** Adds missing folders, and sorts: a folder comes before what is in it. */
function withFolders(entries: readonly TarEntry[]): readonly TarEntry[] {
  const all = new Map<string, TarEntry>();
  for (const entry of entries) {
    if (all.has(entry.path)) throw conflict(entry.path);
    all.set(entry.path, entry);
  }
  for (const { path } of entries) {
    for (let at = path.indexOf("/"); at !== -1; at = path.indexOf("/", at + 1)) {
      const folder = path.slice(0, at);
      const found = all.get(folder);
      if (found?.bytes !== undefined) throw conflict(folder);
      if (found === undefined) all.set(folder, { path: folder });
    }
  }
  return [...all.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1));
}

function conflict(path: string): ToolpackImageError {
  return new ToolpackImageError("IMAGE_PATH_CONFLICT", `Two files of the image have the path "/${path}"`, {
    hint: "choose another image.entrypoint in the manifest, such as /app/toolpack",
  });
}

interface Header {
  readonly path: string;
  readonly size: number;
  readonly isFolder: boolean;
  readonly mode: number | undefined;
}

function toHeader({ path, size, isFolder, mode }: Header): Uint8Array {
  const name = isFolder ? `${path}/` : path;
  const isPlain = /^[\x20-\x7e]+$/.test(name) && !/(?:^|\/)\.{0,2}(?:\/|$)/.test(path);
  if (!isPlain || name.length > pathMaxLength || size > fileMaxBytes) {
    throw new ToolpackImageError(
      "IMAGE_PATH_CONFLICT",
      `An image cannot have the path "/${path.slice(0, 200)}"`,
      {
        hint: `paths are ASCII, without . and .. as a part, and have at most ${pathMaxLength} characters`,
      },
    );
  }
  const header = Buffer.alloc(blockBytes);
  const octal = (value: number, offset: number, length: number) =>
    header.write(`${value.toString(8).padStart(length - 1, "0")}\0`, offset, "latin1");
  header.write(name, 0, "latin1");
  octal(mode ?? (isFolder ? 0o755 : 0o644), 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  header.write("        ", 148, "latin1");
  header.write(isFolder ? "5" : "0", 156, "latin1");
  header.write("ustar\x0000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return header;
}

/** Reads the regular files of an archive by their paths, without `./` at the beginning. Links are left out. */
export function readTarFiles(archive: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const files = new Map<string, Uint8Array>();
  const buffer = Buffer.from(archive.buffer, archive.byteOffset, archive.length);
  let longName: string | undefined;
  for (let at = 0; at + blockBytes <= buffer.length && buffer[at] !== 0; ) {
    const text = (offset: number, length: number) =>
      buffer.toString("latin1", at + offset, at + offset + length).replace(/\0.*$/s, "");
    const size = Number.parseInt(text(124, 12).trim() || "0", 8);
    const end = at + blockBytes + size;
    if (!Number.isSafeInteger(size) || end > buffer.length) {
      throw new ToolpackImageError("IMAGE_PART_INVALID", "A tar archive is cut off, or not one");
    }
    const data = buffer.subarray(at + blockBytes, end);
    const type = text(156, 1);
    const prefix = text(345, 155);
    const name = longName ?? (prefix === "" ? text(0, 100) : `${prefix}/${text(0, 100)}`);
    longName = type === "L" ? data.toString("utf8").replace(/\0.*$/s, "") : undefined;
    if (type === "0" || type === "") files.set(name.replace(/^\.\//, ""), data);
    at = end + ((blockBytes - (size % blockBytes)) % blockBytes);
  }
  return files;
}
