/**
 * The local authority as files: made once in a folder, found there ever after,
 * renewed long before it expires. Certificate and key lie in one file of mode
 * 0600, which is there whole or not at all, so that processes that start at the
 * same time end up with one authority and never with half of two. What others
 * than its owner could read is refused, not repaired: a key that was readable
 * may have been read.
 *
 * Beside it are the files for clients, which hold certificates only. They are
 * named for what they hold, so that a renewal takes none away from a process
 * that was told of it.
 */

import { createHash } from "node:crypto";
import { lstat, mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { getCACertificates } from "node:tls";
import { messageOf } from "@toolcrib/diagnostics";
import { createFile, removeDrafts, replaceFile } from "@toolcrib/files";
import { EgressError } from "../egress-error.ts";
import {
  type AuthorityDeps,
  authorityRenewMs,
  type CertificateAndKey,
  createAuthority,
  type LocalAuthority,
  readAuthority,
} from "./local-authority.ts";

/** What the authority needs of the world. */
export interface AuthorityFilesDeps extends AuthorityDeps {
  /** A folder of its own. */
  readonly directory: string;
}

/** An authority with the files that clients are told of. */
export interface OpenAuthority {
  readonly authority: LocalAuthority;
  /** Its certificate alone. */
  readonly caFile: string;
  /** The default roots, `extra` and its certificate. */
  readonly caBundleFile: string;
}

const authorityFileName = "authority.pem";
/** A draft that was last written to this many milliseconds ago has no writer any more. */
const draftLifeMs = 60_000;
const folderMode = 0o700;
const authorityFileMaxBytes = 64 * 1024;

/**
 * Open the authority in `deps.directory`, and make it first where there is none.
 *
 * @param extra certificates (PEM) that clients are to trust besides the default roots.
 * @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`
 */
export async function openLocalAuthority(
  deps: AuthorityFilesDeps,
  extra: readonly string[],
): Promise<OpenAuthority> {
  const path = join(deps.directory, authorityFileName);
  try {
    await makeFolder(deps.directory);
    await removeDrafts(deps.directory, { writtenBeforeMs: deps.now() - draftLifeMs });
    const found = await readPair(path);
    const authority =
      found === undefined
        ? await readAuthority(await makePair(path, deps), deps)
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
      { hint: `remove "${path}" to have a new one made`, cause: error },
    );
  }
}

async function makeFolder(directory: string): Promise<void> {
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

/** @throws {EgressError} for what others than this user could read or exchange, and for links. */
async function checkPrivate(path: string, kind: "file" | "folder"): Promise<void> {
  const status = await lstat(path);
  const isKind = kind === "file" ? status.isFile() : status.isDirectory();
  // Windows has no permission bits: the user's profile protects what is in it.
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
          ? "remove it, and a new one is made; what trusted the old one has to be started again"
          : `give it to this user alone (mode ${folderMode.toString(8)})`,
    },
  );
}

/** Make a new pair at `path`, unless another process did meanwhile; what is there then counts. */
async function makePair(path: string, deps: AuthorityFilesDeps): Promise<CertificateAndKey> {
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
  // Of two processes that renew at the same time the last one's stays; the other goes on with its own.
  await replaceFile(deps, path, toText(pair));
  return await readAuthority(pair, deps);
}

function toText({ certificate, key }: CertificateAndKey): string {
  return `${certificate}${key}`;
}

/** Each certificate once, each with its line end. */
function joinCertificates(certificates: readonly string[]): string {
  return [...new Set(certificates.map((text) => `${text.trim()}\n`))].join("");
}

/** Write a file that holds no secret, under a name made of its content, unless it is there. */
async function writePublic(deps: AuthorityFilesDeps, kind: string, text: string): Promise<string> {
  const digest = createHash("sha256").update(text).digest("hex").slice(0, 16);
  const path = join(deps.directory, `${kind}-${digest}.pem`);
  const isThere = await readFile(path, "utf8").then(
    (found) => found === text,
    () => false,
  );
  if (!isThere) await replaceFile(deps, path, text, { mode: 0o644 });
  return path;
}
