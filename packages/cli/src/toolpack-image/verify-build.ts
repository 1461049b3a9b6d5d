/** `toolcrib toolpack verify`: compares what `toolpack build` wrote with its signed provenance. Writes nothing. */

import type { KeyObject } from "node:crypto";
import { closeSync, fstatSync, readFileSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import { errnoOf, NotRegularError, openRegularFile, readRegularFile, reasonOf } from "@toolcrib/files";
import { isSameJson, type JsonObject, parseJson } from "@toolcrib/json";
import { keyIdOf, openInToto, readPublicKey } from "@toolcrib/mcpkg";
import { compareBuild } from "@toolcrib/toolpack-image";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";

/** Options of the command. */
export interface VerifyBuildFlags {
  readonly key?: string;
  readonly provenance?: string;
}

/** Files of a build, and bytes of each and of all. */
const filesMaxCount = 5000;
const fileMaxBytes = 1024 * 1024 * 1024;
const totalMaxBytes = 2 * fileMaxBytes;
const statementMaxBytes = 16 * 1024 * 1024;
const keyMaxBytes = 64 * 1024;
const envelopeName = "provenance.dsse.json";

/** Runs the command. */
export async function verifyBuild(
  context: CliContext,
  place: string,
  flags: VerifyBuildFlags,
): Promise<ExitCode> {
  const { directory, output } = context;
  const path = resolve(directory, place);
  const isFolder = await isFolderAt(path, place);
  const key = await publicKey(context, flags.key);
  const envelopePath =
    flags.provenance === undefined
      ? await findEnvelope(isFolder ? path : dirname(path), isFolder)
      : resolve(directory, flags.provenance);
  const read = flags.provenance === undefined ? readFound : readBytes;
  const envelope = await read(envelopePath, statementMaxBytes);
  const keyId = keyIdOf(key);
  let statement: JsonObject | undefined;
  const differences: string[] = [];
  try {
    statement = openInToto(envelope, key);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    differences.push(error.message);
  }
  const files = isFolder
    ? await readFiles(path)
    : new Map([[basename(path), await readBytes(path, fileMaxBytes)]]);
  const compared =
    statement === undefined ? { subjects: [], differences: [] } : compareBuild(statement, files, !isFolder);
  differences.push(...compared.differences);
  const plain = files.get("provenance.json");
  if (statement !== undefined && plain !== undefined && !isSameText(plain, statement)) {
    differences.push('"provenance.json" is not what was signed');
  }
  const ok = differences.length === 0;
  output.json({ ok, keyId, provenance: envelopePath, subjects: compared.subjects, differences });
  output.print(
    ok
      ? `${safeLine(place)} is exactly what the provenance names, which ${keyId} signed`
      : `${safeLine(place)} is not what the provenance by ${keyId} names:`,
    ...differences.map((one) => `  ${safeLine(one)}`),
    ...(ok ? compared.subjects.map(({ name, digest }) => `  ${digest}  ${safeLine(name)}`) : []),
  );
  return ok ? exitCodes.done : exitCodes.failed;
}

async function isFolderAt(path: string, place: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${place}": ${reasonOf(cause)}`, { cause });
  }
}

/** The key in the file, or the publisher key of the home, which signs builds. */
async function publicKey({ directory, options }: CliContext, file: string | undefined): Promise<KeyObject> {
  const path = file === undefined ? join(options.home, "publisher-key.pem") : resolve(directory, file);
  try {
    return readPublicKey(Buffer.from((await readRegularFile(path, keyMaxBytes)).bytes).toString("utf8"));
  } catch (cause) {
    if (isCodedError(cause) && cause.code.startsWith("MCPKG_")) throw cause;
    const isAbsent = file === undefined && errnoOf(cause) === "ENOENT";
    const message = isAbsent
      ? "There is no key to verify with: this home has no publisher key"
      : `Cannot read the key "${path}": ${reasonOf(cause)}`;
    throw new CliError("CLI_FILE_UNUSABLE", message, {
      cause,
      hint: "name the public key of who built it, in PEM: --key FILE",
    });
  }
}

/** Finds the signed provenance beside a file, or in the folder above it: packages lie in one of their own. */
async function findEnvelope(folder: string, isBuild: boolean): Promise<string> {
  for (const one of isBuild ? [folder] : [folder, dirname(folder)]) {
    const path = join(one, envelopeName);
    if ((await lstat(path).catch(() => undefined))?.isFile() === true) return path;
  }
  throw new CliError("CLI_FILE_UNUSABLE", `There is no signed provenance (${envelopeName}) in "${folder}"`, {
    hint: "name it: --provenance FILE; toolcrib toolpack build --sign writes it, and an unsigned one proves nothing",
  });
}

async function readFiles(root: string): Promise<ReadonlyMap<string, Uint8Array>> {
  const entries = await readdir(root, { withFileTypes: true, recursive: true });
  const files = new Map<string, Uint8Array>();
  let left = totalMaxBytes;
  for (const entry of entries) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    if (files.size === filesMaxCount) throw tooLarge(root, `more than ${filesMaxCount} files`);
    const bytes = await readFound(path, Math.min(fileMaxBytes, left));
    left -= bytes.length;
    files.set(relative(root, path).split(sep).join("/"), bytes);
  }
  return files;
}

/** Reads a file that the user named, which can be a link. */
async function readBytes(path: string, maxBytes: number): Promise<Uint8Array> {
  return checkedSize(path, maxBytes, async () => (await readRegularFile(path, maxBytes)).bytes);
}

/** Reads a file that was found in a folder, through no link: a link has the content of another place, on this machine alone. */
async function readFound(path: string, maxBytes: number): Promise<Uint8Array> {
  return checkedSize(path, maxBytes, () => {
    const descriptor = openRegularFile(path);
    try {
      if (fstatSync(descriptor).size > maxBytes) throw tooLarge(path, `more than ${maxBytes} bytes`);
      return readFileSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  });
}

async function checkedSize(
  path: string,
  maxBytes: number,
  read: () => Uint8Array | Promise<Uint8Array>,
): Promise<Uint8Array> {
  let bytes: Uint8Array;
  try {
    bytes = await read();
  } catch (cause) {
    if (cause instanceof CliError) throw cause;
    const hint =
      cause instanceof NotRegularError
        ? "a build has regular files only: remove it, or build again"
        : undefined;
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${path}": ${reasonOf(cause)}`, { cause, hint });
  }
  if (bytes.length > maxBytes) throw tooLarge(path, `more than ${maxBytes} bytes`);
  return bytes;
}

function tooLarge(path: string, what: string): CliError {
  return new CliError("CLI_FILE_UNUSABLE", `Cannot verify "${path}": it has ${what}`, {
    hint: "verify the folder that toolcrib toolpack build wrote",
  });
}

function isSameText(bytes: Uint8Array, statement: JsonObject): boolean {
  try {
    return isSameJson(
      parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytes), { maxDepth: 16 }),
      statement,
    );
  } catch {
    return false;
  }
}
