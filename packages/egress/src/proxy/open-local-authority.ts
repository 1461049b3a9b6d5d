/**
 * The files of the local authority: created once in a folder, loaded from there
 * later, renewed long before they expire. One file of mode 0600 contains
 * certificate and key and is created atomically, so that processes that start at
 * the same time share one authority. A file that other users can read is
 * refused, not repaired: somebody may have read the key.
 *
 * The files for clients contain certificates only. Their names depend on their
 * content, so that a renewal never removes a file that a running process uses.
 */

import { createHash } from "node:crypto";
import { lstat, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { getCACertificates } from "node:tls";
import { messageOf } from "@toolcrib/diagnostics";
import { createFile, readRegularFile, removeDrafts, replaceFile } from "@toolcrib/files";
import { EgressError } from "../egress-error.ts";
import {
  type AuthorityDeps,
  authorityRenewMs,
  type CertificateAndKey,
  createAuthority,
  type LocalAuthority,
  readAuthority,
} from "./local-authority.ts";

/** The dependencies of an authority and its files. */
export interface AuthorityFilesDeps extends AuthorityDeps {
  /** A folder for the authority only. */
  readonly directory: string;
}

/** An authority with its files for clients. */
export interface OpenAuthority {
  readonly authority: LocalAuthority;
  /** Contains its certificate only. */
  readonly caFile: string;
  /** Contains its certificate, the default roots and the extra certificates. */
  readonly caBundleFile: string;
}

const authorityFileName = "authority.pem";
/** A draft without a write for this many milliseconds has no writer. */
const draftLifeMs = 60_000;
const folderMode = 0o700;
const authorityFileMaxBytes = 64 * 1024;

/**
 * Opens the authority in `deps.directory`, and creates it if it does not exist.
 *
 * @param extra certificates (PEM) that clients trust in addition to the default roots.
 * @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`
 */
export async function openLocalAuthority(
  deps: AuthorityFilesDeps,
  extra: readonly string[],
): Promise<OpenAuthority> {
  const path = join(deps.directory, authorityFileName);
  try {
    await createFolder(deps.directory);
    await removeDrafts(deps.directory, { writtenBeforeMs: deps.now() - draftLifeMs });
    const found = await readPair(path);
    const authority =
      found === undefined
        ? await readAuthority(await createPair(path, deps), deps)
        : await renewed(await readAuthority(found, deps), path, deps);
    const own = authority.certificate;
    const roots = [...getCACertificates("default"), ...getCACertificates("system"), ...extra];
    return {
      authority,
      caFile: await writePublic(deps, "ca", own),
      caBundleFile: await writePublic(deps, "roots", joinCertificates([own, ...roots])),
    };
  } catch (error) {
    if (error instanceof EgressError) throw error;
    throw new EgressError(
      "EGRESS_AUTHORITY_UNUSABLE",
      `Cannot use the local authority in "${deps.directory}": ${messageOf(error)}`,
      { hint: `to create a new authority, remove "${path}"`, cause: error },
    );
  }
}

async function createFolder(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: folderMode });
  await checkPrivate(directory, "folder");
}

async function readPair(path: string): Promise<CertificateAndKey | undefined> {
  try {
    await checkPrivate(path, "file");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  const text = await readFile(path, "utf8");
  const certificate = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/.exec(text)?.[0];
  const key = /-----BEGIN PRIVATE KEY-----[^-]+-----END PRIVATE KEY-----\n?/.exec(text)?.[0];
  if (certificate === undefined || key === undefined) throw new Error("it is not a certificate and a key");
  return { certificate, key };
}

/** @throws {EgressError} if other users can read or replace `path`, or if it is a link. */
async function checkPrivate(path: string, kind: "file" | "folder"): Promise<void> {
  const status = await lstat(path);
  const isKind = kind === "file" ? status.isFile() : status.isDirectory();
  // Windows has no permission bits: the user's profile protects its files.
  const isOpen =
    process.platform !== "win32" && ((status.mode & 0o077) !== 0 || status.uid !== process.getuid?.());
  if (isKind && !isOpen && status.size <= authorityFileMaxBytes) return;
  const state = !isKind
    ? `it is not a ${kind} itself`
    : isOpen
      ? "others can read or change it"
      : "it is too large";
  throw new EgressError(
    "EGRESS_AUTHORITY_UNUSABLE",
    `Cannot use the local authority at "${path}": ${state}`,
    {
      hint:
        kind === "file"
          ? "remove it to create a new one, and restart the processes that trust the old one"
          : `make it accessible to this user only (mode ${folderMode.toString(8)})`,
    },
  );
}

/** Creates a pair at `path`, or returns the pair that another process created in the meantime. */
async function createPair(path: string, deps: AuthorityFilesDeps): Promise<CertificateAndKey> {
  const pair = await createAuthority(deps);
  if (await createFile(deps, path, toText(pair))) return pair;
  const other = await readPair(path);
  if (other === undefined) throw new Error("the file was removed while it was read");
  return other;
}

async function renewed(
  authority: LocalAuthority,
  path: string,
  deps: AuthorityFilesDeps,
): Promise<LocalAuthority> {
  if (authority.notAfter - deps.now() > authorityRenewMs) return authority;
  const pair = await createAuthority(deps);
  // If two processes renew at the same time, the file of the last one remains, and the other uses its own pair.
  await replaceFile(deps, path, toText(pair));
  return await readAuthority(pair, deps);
}

function toText({ certificate, key }: CertificateAndKey): string {
  return `${certificate}${key}`;
}

/** Joins certificates without duplicates, one line end after each. */
function joinCertificates(certificates: readonly string[]): string {
  return [...new Set(certificates.map((text) => `${text.trim()}\n`))].join("");
}

/** Writes a file without secrets, named by its content, unless it exists. */
async function writePublic(deps: AuthorityFilesDeps, kind: string, text: string): Promise<string> {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const path = join(deps.directory, `${kind}-${digest}.pem`);
  const expected = Buffer.from(text);
  // It never waits for a pipe.
  const exists = await readRegularFile(path, expected.length).then(
    ({ bytes }) => expected.equals(bytes),
    () => false,
  );
  if (!exists) await replaceFile(deps, path, text, { mode: 0o644 });
  return path;
}
