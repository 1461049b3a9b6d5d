/**
 * `toolcrib import bundle`: unpacks a bundle of a server (`.mcpb`) into the home, in a folder that is
 * named by its digest, and adds it to the configuration. Nothing of it runs before the gateway starts it.
 */

import { createHash, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import {
  makePrivateDirectory,
  moveDirectory,
  readRegularFile,
  reasonOf,
  removeDirectory,
  writeDirectory,
} from "@toolcrib/files";
import { bundleFolderName, bundleMaxBytes, openBundle, toBundleEntry } from "@toolcrib/mcpkg-registry";
import { chosenPaths, withReadPaths } from "../add/agreed-paths.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import type { ExitCode } from "../exit-codes.ts";
import { openArchiveFetcher } from "../package/fetch-archive.ts";
import {
  type FinishImport,
  finishUntried,
  type ImportServerFlags,
  openConfigFor,
  serverIdFrom,
  toGivenValues,
} from "./add-server.ts";

/** Options of the command. */
export interface BundleFlags extends ImportServerFlags {
  readonly sha256?: string;
}

/** Runs the command. */
export async function importBundle(
  context: CliContext,
  place: string,
  flags: BundleFlags,
  finish: FinishImport = finishUntried(flags),
): Promise<ExitCode> {
  const bytes = /^https?:\/\//i.test(place)
    ? await fetchBundle(context, place)
    : await readBundle(context, place);
  const { id, sha256 } = flags;
  return await addBundle(context, bytes, { place, id, sha256, found: [], flags, finish });
}

/** Fetches a bundle over https. @throws {CliError} `CLI_FETCH_FAILED` */
export async function fetchBundle(context: CliContext, url: string): Promise<Uint8Array> {
  if (!/^https:\/\//i.test(url)) {
    throw new CliError("CLI_USAGE", `Cannot fetch "${url}": only https URLs are fetched`, {
      hint: "download it and use the file",
    });
  }
  await using fetcher = openArchiveFetcher(context, { allowsLoopback: false });
  return await fetcher.fetchBytes(url, { signal: context.signal, maxBytes: bundleMaxBytes });
}

async function readBundle({ directory }: CliContext, place: string): Promise<Uint8Array> {
  try {
    return (await readRegularFile(resolve(directory, place), bundleMaxBytes)).bytes;
  } catch (cause) {
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot read "${place}": ${reasonOf(cause)}`, { cause });
  }
}

/** A bundle that is added. */
interface BundleSource {
  readonly place: string;
  readonly id: string | undefined;
  readonly sha256: string | undefined;
  readonly found: readonly Diagnostic[];
  readonly flags: ImportServerFlags;
  readonly finish: FinishImport;
}

/** Adds a bundle. @throws {CliError} `CLI_IMPORT_FAILED`; as `openBundle` and `addServer` */
export async function addBundle(
  context: CliContext,
  bytes: Uint8Array,
  { place, id: wantedId, sha256, found, flags, finish }: BundleSource,
): Promise<ExitCode> {
  const digest = createHash("sha256").update(bytes).digest("hex");
  const expected = sha256?.toLowerCase().replace(/^sha256:/, "");
  if (expected !== undefined && expected !== digest) {
    throw new CliError(
      "CLI_IMPORT_FAILED",
      `Cannot import "${place}": its SHA-256 is ${digest}, and ${expected} was expected`,
      {
        hint: "it was changed, or it is another version: do not use it before you know why",
      },
    );
  }
  const { value: bundle, diagnostics } = await openBundle(bytes);
  if (bundle === undefined) {
    throw new CliError("CLI_IMPORT_FAILED", `Cannot import "${place}": its manifest has errors`, {
      data: { diagnostics },
    });
  }
  const { manifest, files, signature } = bundle;
  const id = wantedId ?? serverIdFrom(manifest.name);
  openConfigFor(context, id);
  const folder = join(context.options.home, "bundles", bundleFolderName(bundle));
  const { platform, userDirectory, directory } = context;
  const written = toBundleEntry(
    bundle,
    { id, folder, platform, userDirectory, directory },
    toGivenValues(flags),
  );
  const chosen = written.entry && chosenPaths(context, written.entry, flags.set ?? []);
  const imported = { ...written, entry: written.entry && withReadPaths(written.entry, chosen ?? []) };
  const tools = (manifest.tools ?? []).map(({ name }) => name);
  const statement = {
    none: "it has no signature",
    invalid: "its signature is not valid",
    "not-checked": "it has a signature, which is not checked and proves nothing here",
    fits: "its signature fits, by a certificate that nothing vouches for",
  }[signature.kind];
  const signer = signature.kind === "fits" ? { certificates: signature.certificates } : {};
  const isNew = !existsSync(folder);
  return await finish(context, {
    ...imported,
    id,
    title: `${manifest.name} ${manifest.version}`,
    found: [...found, ...diagnostics],
    facts: {
      name: manifest.name,
      version: manifest.version,
      sha256: digest,
      signature: signature.kind,
      ...signer,
      folder,
      tools,
    },
    lines: [
      "",
      `SHA-256 of the bundle: ${digest}; ${statement}`,
      ...(tools.length === 0 ? [] : [`Tools that its manifest names: ${tools.slice(0, 50).join(", ")}`]),
    ],
    prepare: () => unpack(context, folder, files, programOf(manifest)),
    discard: async () => {
      if (isNew) await removeDirectory(folder);
    },
  });
}

/** Writes the files: all, or none. A folder of the same digest has the same files. */
async function unpack(
  { options }: CliContext,
  folder: string,
  files: BundleFiles,
  program: string | undefined,
): Promise<void> {
  if (existsSync(folder)) return;
  await makePrivateDirectory(join(options.home, "bundles"));
  const draft = `${folder}.${randomBytes(8).toString("hex")}.draft`;
  try {
    const entries = [...files].map(
      ([path, { bytes, isExecutable }]) =>
        [path, { bytes, mode: isExecutable || path === program ? 0o755 : 0o644 }] as const,
    );
    await writeDirectory(draft, new Map(entries));
    await moveDirectory(draft, folder);
  } catch (error) {
    await removeDirectory(draft);
    if (!existsSync(folder)) throw error;
  }
}

/** A program that was packed on a system without permissions must be executable, too. */
function programOf({
  server,
}: {
  readonly server: { readonly type: string; readonly entry_point?: string };
}): string | undefined {
  return server.type === "binary" ? server.entry_point?.replace(/^\.\//, "") : undefined;
}

type BundleFiles = ReadonlyMap<string, { readonly bytes: Uint8Array; readonly isExecutable: boolean }>;
