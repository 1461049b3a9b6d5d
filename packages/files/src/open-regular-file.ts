/**
 * Opens a file that must be a regular one: no symbolic link, pipe, socket, device or
 * folder. It never waits for the other end of a pipe, and never touches a device.
 */

import { closeSync, constants, fstatSync, lstatSync, openSync, type Stats } from "node:fs";

// Windows has neither flag. O_NONBLOCK does not change how a regular file is read or written.
const guardFlags = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** A path names something else than a regular file. */
export class NotRegularError extends Error {
  /** Such as `a named pipe`. */
  readonly what: string;

  constructor(what: string) {
    super(`it is ${what}, not a regular file`);
    this.name = "NotRegularError";
    this.what = what;
  }
}

/**
 * Opens the regular file at `path` and returns its descriptor, which the caller closes.
 *
 * @param flags of `open`, such as `O_RDONLY`.
 * @throws {NotRegularError} for anything else; the file system's error, such as `ENOENT`.
 */
export function openRegularFile(path: string, flags: number = constants.O_RDONLY): number {
  // Opening a device can have an effect of its own, so its kind is looked up first.
  check(lstatSync(path));
  const descriptor = openSync(path, flags | guardFlags);
  try {
    check(fstatSync(descriptor));
    return descriptor;
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
}

function check(status: Stats): void {
  if (!status.isFile()) throw new NotRegularError(kindOf(status));
}

function kindOf(status: Stats): string {
  if (status.isSymbolicLink()) return "a symbolic link";
  if (status.isFIFO()) return "a named pipe";
  if (status.isSocket()) return "a socket";
  if (status.isDirectory()) return "a directory";
  return status.isCharacterDevice() || status.isBlockDevice() ? "a device" : "a special file";
}
