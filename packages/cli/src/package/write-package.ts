/** `toolcrib pack` and `toolcrib sign`: write the archive of a package. */

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import { replaceFile } from "@toolcrib/files";
import {
  archiveNameOf,
  digestArchive,
  keyIdOf,
  type PackageFiles,
  signaturePath,
  signPackage,
  writeArchive,
} from "@toolcrib/mcpkg";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { publisherKey } from "./publisher-key-file.ts";
import { type FoundPackage, readPackage, readValidPackage } from "./read-package.ts";

/** Options of `pack`. */
export interface PackFlags {
  readonly out?: string;
  readonly sign?: boolean;
  readonly key?: string;
  /** Whether a signed archive may be replaced by one without its signature. */
  readonly force?: boolean;
}

/** Runs `pack`. */
export async function packFolder(context: CliContext, path: string, flags: PackFlags): Promise<ExitCode> {
  const { output } = context;
  const read = await readValidPackage(context, path);
  if (read.kind !== "folder") {
    const hint = "toolcrib sign signs an archive";
    throw new CliError("CLI_USAGE", `Cannot pack "${path}": it is not a folder`, { hint });
  }
  const { found, leftOut } = read;
  const isSigning = flags.sign === true || flags.key !== undefined;
  const key = isSigning ? await publisherKey(context, flags.key) : undefined;
  const files = key === undefined ? withoutSignature(found.files) : signPackage(found, key);
  const file = flags.out ?? archiveNameOf(found.manifest);
  const before = await existingArchive(context, file);
  if (flags.force !== true) requireSameSigner(file, before, key && keyIdOf(key));
  const written = await writePackageArchive(context, file, files);
  const replaced = before !== undefined && before.digest !== written.digest ? before.digest : undefined;
  output.json({ ...written, keyId: key && keyIdOf(key), files: [...files.keys()], leftOut, replaced });
  if (replaced !== undefined && before?.release === releaseOf(found)) {
    output.note(
      `Replaced an archive of the same version, ${before.release}, with other contents: ${replaced}`,
    );
  }
  output.print(
    `Wrote ${safeLine(file)}: ${files.size} files, ${written.bytes} bytes, ${written.digest}`,
    ...(key === undefined ? [] : [`Signed by ${keyIdOf(key)}`]),
    ...(leftOut.length === 0 ? [] : [`Left out: ${leftOut.map(safeLine).join(", ")}`]),
  );
  return exitCodes.done;
}

/** An archive that `pack` would replace. */
interface ExistingArchive {
  readonly digest: string | undefined;
  /** Its tool and version. */
  readonly release: string;
  readonly signer: string | undefined;
}

/** Returns the archive at `file`; undefined where there is none, or a file that is not a valid archive. */
async function existingArchive(context: CliContext, file: string): Promise<ExistingArchive | undefined> {
  try {
    const read = await readPackage(context, file);
    if (!("found" in read) || read.kind !== "archive") return undefined;
    return { digest: read.found.digest, release: releaseOf(read.found), signer: signerOf(read) };
  } catch (error) {
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

function releaseOf({ manifest: { toolId, version } }: FoundPackage["found"]): string {
  return `${toolId} ${version}`;
}

/** Refuses to replace a signed archive by one that its signer did not sign. */
function requireSameSigner(
  file: string,
  before: ExistingArchive | undefined,
  keyId: string | undefined,
): void {
  if (before?.signer === undefined || before.signer === keyId) return;
  const other = keyId === undefined ? "one that is not signed" : `one that is signed by ${keyId}`;
  throw new CliError(
    "CLI_FILE_EXISTS",
    `Cannot replace ${file} by ${other}: it is an archive of ${before.release}, signed by ${before.signer}`,
    {
      hint:
        keyId === undefined
          ? "sign this one, too: --sign or --key FILE; write another file with --out FILE; or replace it: --force"
          : "sign with the same key: --key FILE; write another file with --out FILE; or replace it: --force",
    },
  );
}

/** Options of `sign`. */
export interface SignFlags {
  readonly out?: string;
  readonly key?: string;
}

/** Runs `sign`. */
export async function signArchive(context: CliContext, path: string, flags: SignFlags): Promise<ExitCode> {
  const { output } = context;
  const read = await readValidPackage(context, path);
  if (read.kind !== "archive") {
    const hint = `toolcrib pack ${path} --sign packs and signs a folder`;
    throw new CliError("CLI_USAGE", `Cannot sign "${path}": it is not an archive`, { hint });
  }
  const key = await publisherKey(context, flags.key);
  const before = signerOf(read);
  const written = await writePackageArchive(context, flags.out ?? path, signPackage(read.found, key));
  output.json({ ...written, keyId: keyIdOf(key) });
  output.print(`Signed ${safeLine(flags.out ?? path)} by ${keyIdOf(key)}`);
  if (before !== undefined && before !== keyIdOf(key)) {
    output.print(`It was signed by ${before} before: installations that know that key refuse another one`);
  }
  return exitCodes.done;
}

function signerOf({ found: { signature } }: FoundPackage): string | undefined {
  return signature.kind === "signed" ? signature.keyId : undefined;
}

/** A signature of an earlier state would break the package. */
function withoutSignature(files: PackageFiles): PackageFiles {
  const unsigned = new Map(files);
  unsigned.delete(signaturePath);
  return unsigned;
}

/** Writes the archive of `files`. @returns its name, size and digest */
export async function writePackageArchive({ directory }: CliContext, file: string, files: PackageFiles) {
  const archive = writeArchive(files);
  await replaceFile({ randomBytes }, resolve(directory, file), archive, {
    mode: 0o644,
    keepPermissions: true,
    followSymlink: true,
  });
  return { file, bytes: archive.length, digest: digestArchive(archive) };
}
