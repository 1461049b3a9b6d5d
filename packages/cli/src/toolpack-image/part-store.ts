/**
 * Finds the files of the runtime of images by their recorded digests: in the cache of the home, on this machine, or
 * downloaded. A file with the digest is the file, wherever it comes from; any other one is never used.
 */

import { hash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { messageOf } from "@toolcrib/diagnostics";
import { errnoOf, makePrivateDirectory, readRegularFile, reasonOf, replaceFile } from "@toolcrib/files";
import { runCommand } from "@toolcrib/process";
import {
  type ImagePlatform,
  isArchive,
  type PartFile,
  type RuntimePart,
  readPart,
  runtimeParts,
} from "@toolcrib/toolpack-image";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { findExecutable } from "../find-executable.ts";
import { findDebianMirrors } from "./debian-mirrors.ts";

/** Options of a search. */
export interface PartOptions {
  /** Root of a mirror of Debian. @default those that apt uses */
  readonly debianMirror?: string | undefined;
}

/** Number of times that each way was taken, for a report. */
export interface FoundParts {
  /** Contents by `installed`. */
  readonly contents: ReadonlyMap<string, Uint8Array>;
  /** Names and versions of the parts that were downloaded. */
  readonly downloaded: readonly string[];
}

const npmTimeoutMs = 15 * 60_000;
const downloadTimeoutMs = 5 * 60_000;
/** Largest archive, in bytes. */
const archiveMaxBytes = 256 * 1024 * 1024;

/**
 * Returns the files of the runtime of `platform`.
 *
 * @throws {CliError} `CLI_FETCH_FAILED`; {ToolpackImageError} `IMAGE_PART_INVALID`
 */
export async function findParts(
  context: CliContext,
  platform: ImagePlatform,
  options: PartOptions,
): Promise<FoundParts> {
  const cache = join(context.options.home, "image-parts");
  const contents = new Map<string, Uint8Array>();
  const downloaded: string[] = [];
  for (const part of runtimeParts(platform)) {
    context.signal.throwIfAborted();
    let files = await findFiles(part, cache);
    if (files === undefined) {
      files = await readPart(part, await download(context, part, options));
      downloaded.push(`${part.name} ${part.version}`);
      await keep(part, files, cache);
    }
    for (const [installed, bytes] of files) contents.set(installed, bytes);
  }
  return { contents, downloaded };
}

/** Returns the files of a part if the cache and this machine have all of them. */
async function findFiles(
  part: RuntimePart,
  cache: string,
): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
  const files = new Map<string, Uint8Array>();
  for (const file of part.files) {
    const bytes = await findFile(file, [join(cache, file.sha256), ...placesOf(part, file)]);
    if (bytes === undefined) return undefined;
    files.set(file.installed, bytes);
  }
  return files;
}

/** Returns the paths on this machine at which a file would be. */
function placesOf({ archive }: RuntimePart, { path }: PartFile): readonly string[] {
  if (archive.kind === "debian") return process.platform === "linux" ? [`/${path}`] : [];
  // The package of npm has the same folders as an installation of Node.
  const root = join(dirname(process.execPath), "..");
  return [join(root, path.replace(/^package\//, ""))];
}

async function findFile(
  { sha256, bytes: size }: PartFile,
  paths: readonly string[],
): Promise<Uint8Array | undefined> {
  for (const path of paths) {
    const bytes = await readOptional(path, size);
    if (bytes?.length === size && hash("sha256", bytes, "hex") === sha256) return bytes;
  }
  return undefined;
}

async function readOptional(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  try {
    return (await readRegularFile(path, maxBytes)).bytes;
  } catch {
    // A file that cannot be read is found elsewhere.
    return undefined;
  }
}

async function keep(part: RuntimePart, files: ReadonlyMap<string, Uint8Array>, cache: string): Promise<void> {
  await makePrivateDirectory(dirname(cache));
  await makePrivateDirectory(cache);
  for (const { installed, sha256 } of part.files) {
    const bytes = files.get(installed);
    if (bytes !== undefined) await replaceFile({ randomBytes }, join(cache, sha256), bytes);
  }
}

async function download(context: CliContext, part: RuntimePart, options: PartOptions): Promise<Uint8Array> {
  const { archive } = part;
  if (archive.kind === "npm") {
    context.output.note(`Downloading ${archive.name} ${archive.version} with npm…`);
    return await downloadFromNpm(context, `${archive.name}@${archive.version}`);
  }
  const mirrors = options.debianMirror === undefined ? await findDebianMirrors() : [options.debianMirror];
  if (mirrors.length === 0) {
    throw new CliError(
      "CLI_FETCH_FAILED",
      `Cannot download ${part.name} ${part.version}: no mirror of Debian is known`,
      {
        hint: "name one: --debian-mirror https://MIRROR/debian",
      },
    );
  }
  const reasons: string[] = [];
  for (const mirror of mirrors) {
    const url = URL.parse(`${mirror.replace(/\/+$/, "")}/${archive.path}`);
    if (url === null || !/^https?:$/.test(url.protocol)) {
      reasons.push(`${JSON.stringify(mirror)} is not an http or https URL`);
      continue;
    }
    context.output.note(`Downloading ${part.name} ${part.version} from ${url.host}…`);
    try {
      const bytes = await fetchBytes(url, archive.bytes, context.signal);
      if (isArchive(bytes, archive)) return bytes;
      reasons.push(`${url.host} has another file under its name`);
    } catch (error) {
      context.signal.throwIfAborted();
      reasons.push(`${url.host}: ${messageOf(error)}`);
    }
  }
  throw new CliError(
    "CLI_FETCH_FAILED",
    `Cannot download ${part.name} ${part.version}: ${reasons.join("; ")}`,
    {
      hint: "name another mirror of Debian: --debian-mirror URL; the archive of snapshots has every version",
    },
  );
}

async function fetchBytes(url: URL, maxBytes: number, signal: AbortSignal): Promise<Uint8Array> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(downloadTimeoutMs)]);
  const response = await fetch(url, { signal: deadline });
  if (!response.ok || response.body === null) throw new Error(`HTTP ${response.status}`);
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) throw new Error("the file is larger than the recorded one");
  }
  return Buffer.concat(chunks);
}

/** Downloads a package with the user's own npm: its settings know the registry. */
async function downloadFromNpm({ env, directory, platform }: CliContext, spec: string): Promise<Uint8Array> {
  const program = findExecutable("npm", { path: env["PATH"] ?? "", directory, platform });
  if (program === undefined) {
    throw new CliError("CLI_FETCH_FAILED", `Cannot download ${spec}: there is no npm on the PATH`, {
      hint: "install npm, or run toolcrib toolpack fetch where it is, and copy ~/.toolcrib/image-parts",
    });
  }
  const folder = await mkdtemp(join(tmpdir(), "toolcrib-npm-"));
  try {
    const args = ["pack", spec, "--ignore-scripts", "--loglevel=error", `--pack-destination=${folder}`];
    const { code, stderr } = await runCommand(
      { program, args, env, directory: folder },
      { timeoutMs: npmTimeoutMs, outputMaxBytes: 4 * 1024 * 1024 },
    );
    const [file] = (await readdir(folder)).filter((name) => name.endsWith(".tgz"));
    if (code !== 0 || file === undefined) {
      const reason = stderr.trim().split("\n").slice(0, 5).join(" ").slice(0, 500);
      throw new CliError(
        "CLI_FETCH_FAILED",
        `Cannot download ${spec}: npm pack ended with ${code}: ${reason}`,
      );
    }
    return (await readRegularFile(join(folder, file), archiveMaxBytes)).bytes;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    throw new CliError("CLI_FETCH_FAILED", `Cannot download ${spec}: ${reasonOf(error)}`);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
