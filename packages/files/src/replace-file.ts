/**
 * Changes one file so that readers see the old content or the new content and
 * never a mixture, also after a crash: a draft next to the target is written,
 * synced and renamed over it, and then the directory is synced.
 *
 * Never follows a symbolic link that the caller did not ask to follow, never
 * leaves a draft behind unless the process is killed, and never removes a file
 * whose name is not that of a draft.
 */

import { lstat, readdir, readlink, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { type FileSteps, nodeFileSteps, type Permissions } from "./file-steps.ts";
import { errnoOf, FilesError, reasonOf } from "./files-error.ts";

/** Dependencies of a write. */
export interface WriteDeps {
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. Names of drafts are made of them. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** @default Node's file system */
  readonly steps?: FileSteps;
}

/** Properties of a new file. */
export interface CreateOptions {
  /** Permission bits; the umask of the process may clear some. @default 0o600 */
  readonly mode?: number;
  /** Modification time in milliseconds since the epoch. @default now */
  readonly modifiedAtMs?: number;
}

/** Behaviour of `replaceFile`. */
export interface ReplaceOptions extends CreateOptions {
  /**
   * Keeps the permission bits, owner and group of the file that is replaced; `mode`
   * then applies only when no file exists. Where this process may not keep the
   * group, the group gets no access. @default false
   */
  readonly keepPermissions?: boolean;
  /** Replaces the file that a symbolic link points to, and keeps the link. @default false */
  readonly followSymlink?: boolean;
  /** Called when only the replacement itself is left to do; `false` cancels it. @default always true */
  readonly isStillWanted?: () => Promise<boolean>;
}

/** The whole content, or its parts in order, of which one is in memory at a time. */
type Content = string | Uint8Array | AsyncIterable<string>;

const draftPattern = /^\.[0-9a-f]{32}\.draft$/;
const privateMode = 0o600;
/** Longest chain of symbolic links, as on Linux. */
const maxLinks = 40;

/**
 * Replaces the content of the file at `path`, or creates it.
 *
 * @param content an error of its parts cancels the replacement and is thrown as it is.
 * @returns `false` when `isStillWanted` cancelled the replacement.
 * @throws {FilesError} `FILE_UNWRITABLE`: the old content is in place. `FILE_NOT_DURABLE`: the new content is in place.
 */
export async function replaceFile(
  { randomBytes, steps = nodeFileSteps }: WriteDeps,
  path: string,
  content: Content,
  { keepPermissions = false, followSymlink = false, isStillWanted, ...options }: ReplaceOptions = {},
): Promise<boolean> {
  let directory = dirname(path);
  let draft: string | undefined;
  try {
    const target = followSymlink ? await targetOf(path) : path;
    const permissions = keepPermissions ? await permissionsOf(target) : undefined;
    directory = dirname(target);
    draft = join(directory, draftName(randomBytes));
    await writeDraft(steps, draft, content, options, permissions);
    if (isStillWanted !== undefined && !(await isStillWanted())) {
      await steps.remove(draft);
      return false;
    }
    await steps.rename(draft, target);
  } catch (cause) {
    await discard(steps, draft);
    throw cause instanceof SourceFailure ? cause.reason : toUnwritable(path, cause);
  }
  await syncNames(steps, directory, path);
  return true;
}

/**
 * Creates the file at `path` with its whole content, unless the path exists. Of
 * several processes that create the same file, one succeeds.
 *
 * @param content as for `replaceFile`.
 * @returns `false` when the path exists; its content is then left alone.
 * @throws {FilesError} `FILE_UNWRITABLE`: no file was created. `FILE_NOT_DURABLE`: the file is in place.
 */
export async function createFile(
  { randomBytes, steps = nodeFileSteps }: WriteDeps,
  path: string,
  content: Content,
  options: CreateOptions = {},
): Promise<boolean> {
  const directory = dirname(path);
  const draft = join(directory, draftName(randomBytes));
  let isCreated = true;
  try {
    await writeDraft(steps, draft, content, options);
    // Unlike a rename, a link never replaces an existing file.
    await steps.link(draft, path).catch((error: unknown) => {
      if (errnoOf(error) !== "EEXIST") throw error;
      isCreated = false;
    });
    await steps.remove(draft);
  } catch (cause) {
    await discard(steps, draft);
    throw cause instanceof SourceFailure ? cause.reason : toUnwritable(path, cause);
  }
  if (isCreated) await syncNames(steps, directory, path);
  return isCreated;
}

/**
 * Removes the file at `path`. A file that does not exist is no error.
 *
 * @throws {FilesError} `FILE_UNWRITABLE`: the file is in place. `FILE_NOT_DURABLE`: it is gone.
 */
export async function removeFile(path: string, steps: FileSteps = nodeFileSteps): Promise<void> {
  try {
    await steps.remove(path);
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return;
    throw toUnwritable(path, cause);
  }
  await syncNames(steps, dirname(path), path);
}

/** The drafts that `removeDrafts` removes. */
export interface RemoveDraftsOptions {
  /**
   * Removes only drafts that were last written to before this time, in milliseconds
   * since the epoch. Required for a directory that other processes write to
   * without a lock. @default all drafts
   */
  readonly writtenBeforeMs?: number;
  /** @default Node's file system */
  readonly steps?: FileSteps;
}

/**
 * Removes the drafts that killed writers left in a directory.
 *
 * @throws {FilesError} `FILE_UNWRITABLE`, `FILE_NOT_DURABLE`.
 */
export async function removeDrafts(
  directory: string,
  { writtenBeforeMs, steps = nodeFileSteps }: RemoveDraftsOptions = {},
): Promise<void> {
  const names = await readdir(directory).catch((cause: unknown) => {
    throw toUnwritable(directory, cause);
  });
  for (const name of names) {
    if (!draftPattern.test(name)) continue;
    const path = join(directory, name);
    if (writtenBeforeMs === undefined || (await isOlder(path, writtenBeforeMs))) {
      await removeFile(path, steps);
    }
  }
}

/** Returns the error for a change to `path` that was not made. */
export function toUnwritable(path: string, cause: unknown): FilesError {
  if (cause instanceof FilesError) return cause;
  const hint = hintFor(errnoOf(cause));
  return new FilesError("FILE_UNWRITABLE", `Cannot write "${path}": ${reasonOf(cause)}`, { cause, hint });
}

function hintFor(errno: string | undefined): string | undefined {
  if (errno === "ENOSPC" || errno === "EDQUOT") return "free some space and try again; nothing was changed";
  if (errno === "EACCES" || errno === "EPERM" || errno === "EROFS") {
    return "give the user who runs toolcrib write access to the directory; nothing was changed";
  }
  return undefined;
}

function draftName(randomBytes: WriteDeps["randomBytes"]): string {
  return `.${Buffer.from(randomBytes(16)).toString("hex")}.draft`;
}

async function writeDraft(
  steps: FileSteps,
  path: string,
  content: Content,
  { mode = privateMode, modifiedAtMs }: CreateOptions,
  permissions?: Permissions,
): Promise<void> {
  // Private until it has the permissions of the file that it replaces.
  const file = await steps.create(path, permissions === undefined ? mode : privateMode);
  try {
    if (typeof content === "string") await file.write(Buffer.from(content));
    else if (content instanceof Uint8Array) await file.write(content);
    else for await (const part of partsOf(content)) await file.write(Buffer.from(part));
    if (permissions !== undefined) await file.setPermissions(permissions);
    if (modifiedAtMs !== undefined) await file.setModified(modifiedAtMs);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** The parts of a content could not be produced. */
class SourceFailure extends Error {
  readonly reason: unknown;

  constructor(reason: unknown) {
    super();
    this.reason = reason;
  }
}

async function* partsOf(content: AsyncIterable<string>): AsyncGenerator<string, void, undefined> {
  const parts = content[Symbol.asyncIterator]();
  try {
    for (let next = await nextOf(parts); next.done !== true; next = await nextOf(parts)) yield next.value;
  } finally {
    await parts.return?.();
  }
}

async function nextOf(parts: AsyncIterator<string>): Promise<IteratorResult<string>> {
  try {
    return await parts.next();
  } catch (reason) {
    throw new SourceFailure(reason);
  }
}

async function discard(steps: FileSteps, draft: string | undefined): Promise<void> {
  // A draft that cannot be removed now is removed by the next `removeDrafts`.
  if (draft !== undefined) await steps.remove(draft).catch(() => undefined);
}

async function syncNames(steps: FileSteps, directory: string, path: string): Promise<void> {
  try {
    await steps.syncDirectory(directory);
  } catch (cause) {
    const message = `Changed "${path}", but the disk did not confirm the change: ${reasonOf(cause)}`;
    const hint = "check the disk; after a power failure the file may have its old content";
    throw new FilesError("FILE_NOT_DURABLE", message, { cause, hint });
  }
}

/** Follows symbolic links to a path that is not a link, or that does not exist. */
async function targetOf(path: string): Promise<string> {
  let target = path;
  for (let count = 0; count <= maxLinks; count += 1) {
    try {
      target = resolve(dirname(target), await readlink(target));
    } catch (error) {
      // EINVAL: it exists and is no link. Windows reports UNKNOWN for some of those.
      if (["EINVAL", "ENOENT", "UNKNOWN"].includes((error as NodeJS.ErrnoException).code ?? ""))
        return target;
      throw error;
    }
  }
  throw Object.assign(new Error(`Too many symbolic links from "${path}"`), { code: "ELOOP" });
}

async function permissionsOf(path: string): Promise<Permissions | undefined> {
  try {
    const { mode, uid, gid } = await stat(path);
    return { mode: mode & 0o777, uid, gid };
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

async function isOlder(path: string, timeMs: number): Promise<boolean> {
  try {
    return (await lstat(path)).mtimeMs < timeMs;
  } catch {
    // Its writer finished meanwhile.
    return false;
  }
}
