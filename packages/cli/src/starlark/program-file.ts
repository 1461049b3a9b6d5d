/** Reads Starlark programs from files and from standard input. */

import { open } from "node:fs/promises";
import { resolve } from "node:path";
import type { Source } from "@toolcrib/diagnostics";
import { programLimits } from "@toolcrib/starlark";
import { CliError } from "../cli-error.ts";
import type { ProcessContext } from "../process-context.ts";
import { readStandardInput } from "../standard-input.ts";

/** The file name that stands for standard input. */
export const standardInput = "-";

/** Size of the longest possible program, in bytes. */
const maxBytes = 4 * programLimits.sourceLength;

/**
 * Reads the program in `file`. Its name is `file`.
 *
 * @throws {CliError} `CLI_FILE_UNUSABLE`.
 */
export async function readProgram(file: string, context: ProcessContext): Promise<Source> {
  if (file === standardInput) return { name: "<stdin>", text: await readStandardInput(context) };
  return readProgramFile(resolve(context.directory, file), file);
}

/**
 * Reads the program at `path`. Its name is `name`.
 *
 * @throws {CliError} `CLI_FILE_UNUSABLE`.
 */
export async function readProgramFile(path: string, name: string): Promise<Source> {
  let bytes: Buffer;
  try {
    bytes = await readBytes(path);
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const reason = reasons[code] ?? `reading it failed (${code})`;
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read ${name}: ${reason}`, { cause });
  }
  if (bytes.length > maxBytes) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read ${name}: it is longer than ${maxBytes} bytes`);
  }
  try {
    return { name, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read ${name}: it is not UTF-8`, { cause });
  }
}

/** Reads the file, and stops after the size limit. */
async function readBytes(path: string): Promise<Buffer> {
  await using handle = await open(path, "r");
  const status = await handle.stat();
  if (status.isDirectory()) throw Object.assign(new Error("it is a folder"), { code: "EISDIR" });
  const chunks: Buffer[] = [];
  let length = 0;
  while (length <= maxBytes) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(64 * 1024), 0, 64 * 1024);
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(chunks);
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: "the file does not exist",
  ENOTDIR: "the file does not exist",
  EISDIR: "it is a folder",
  EACCES: "permission is denied",
  EPERM: "permission is denied",
};
