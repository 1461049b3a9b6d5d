/**
 * Reads the files of a part from its archive, after the archive's recorded digest was checked, and checks the digest of
 * each file. No I/O.
 */

import { hash } from "node:crypto";
import xzDecompress from "xz-decompress";
import type { PartArchive, RuntimePart } from "./runtime-parts.ts";
import { readTarFiles } from "./tar.ts";
import { ToolpackImageError } from "./toolpack-image-error.ts";

/** Largest contents of an archive, in bytes: that of Node is the largest. */
const contentsMaxBytes = 512 * 1024 * 1024;

/** Whether `bytes` are the recorded archive. */
export function isArchive(bytes: Uint8Array, archive: PartArchive): boolean {
  if (archive.kind === "npm") return `sha512-${hash("sha512", bytes, "base64")}` === archive.integrity;
  return hash("sha256", bytes, "hex") === archive.sha256;
}

/**
 * Reads the files of `part`.
 *
 * @returns contents by `installed`
 * @throws {ToolpackImageError} `IMAGE_PART_INVALID`
 */
export async function readPart(
  part: RuntimePart,
  archive: Uint8Array,
): Promise<ReadonlyMap<string, Uint8Array>> {
  if (!isArchive(archive, part.archive)) throw invalid(part, "its digest is not the recorded one");
  const contents = readTarFiles(
    part.archive.kind === "npm"
      ? process.getBuiltinModule("node:zlib").gunzipSync(archive, { maxOutputLength: contentsMaxBytes })
      : await unpackXz(dataOf(part, archive)),
  );
  return new Map(
    part.files.map(({ path, installed, sha256 }) => {
      const bytes = contents.get(path);
      if (bytes === undefined) throw invalid(part, `it has no file "${path}"`);
      if (hash("sha256", bytes, "hex") !== sha256) throw invalid(part, `"${path}" has another digest`);
      return [installed, bytes] as const;
    }),
  );
}

/** Returns `data.tar.xz` of a Debian package, an `ar` archive. */
function dataOf(part: RuntimePart, archive: Uint8Array): Uint8Array {
  const buffer = Buffer.from(archive.buffer, archive.byteOffset, archive.length);
  const headerBytes = 60;
  for (let at = "!<arch>\n".length; at + headerBytes <= buffer.length; ) {
    const name = buffer
      .toString("latin1", at, at + 16)
      .trim()
      .replace(/\/$/, "");
    const size = Number(buffer.toString("latin1", at + 48, at + 58).trim());
    const start = at + headerBytes;
    if (!Number.isSafeInteger(size) || size < 0 || start + size > buffer.length) break;
    if (name === "data.tar.xz") return buffer.subarray(start, start + size);
    at = start + size + (size % 2);
  }
  throw invalid(part, "it has no data.tar.xz");
}

async function unpackXz(bytes: Uint8Array): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const stream = new xzDecompress.XzReadableStream(new Blob([new Uint8Array(bytes)]).stream());
  for await (const chunk of stream) {
    length += chunk.length;
    if (length > contentsMaxBytes)
      throw new ToolpackImageError("IMAGE_PART_INVALID", "An archive is too large");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function invalid({ name, version }: RuntimePart, reason: string): ToolpackImageError {
  return new ToolpackImageError(
    "IMAGE_PART_INVALID",
    `Cannot use the archive of ${name} ${version}: ${reason}`,
    {
      hint: "use a mirror or registry that has the recorded version",
    },
  );
}
