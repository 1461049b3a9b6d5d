/**
 * One bearer token in one file: its path, its format, and the permissions that
 * keep it secret. A file that other users may read is rejected. Its permissions
 * are never fixed automatically, because the token may have leaked already.
 */

import { closeSync, constants, existsSync, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { join } from "node:path";
import { createFile, errnoOf, FilesError, reasonOf } from "@toolcrib/files";
import { AuthError } from "./auth-error.ts";

/** Returns `count` unpredictable bytes, as `randomBytes` of `node:crypto` does. */
export type RandomBytes = (count: number) => Uint8Array;

/** Longest token file in bytes. */
const fileMaxBytes = 4096;

/** Returns the folder of the token files below `home`. */
export function tokenDirectory(home: string): string {
  return join(home, "tokens");
}

/** Name of the identity that the environment's token authenticates. */
export const environmentTokenName = "env";

/**
 * Whether `name` is a valid token name: at most 64 letters, digits and `. _ -`, and no dot at the start. The name of the
 * environment's token is reserved; drafts and editors' temporary files (`.tmp`) are not tokens.
 */
export function isTokenName(name: string): boolean {
  if (name === environmentTokenName || name.endsWith(".tmp")) return false;
  return /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** Returns a new token: 256 bits after a prefix that secret scanners can recognize. */
export function makeToken(randomBytes: RandomBytes): string {
  return `tcb_${Buffer.from(randomBytes(32)).toString("base64url")}`;
}

/**
 * Returns `text` without leading and trailing white space, if it is a valid token.
 *
 * @param place where the token comes from, for the error message.
 * @throws {AuthError} `TOKEN_INVALID` under 16 or over 512 characters, or outside what a header may carry (RFC 6750, section 2.1).
 */
export function parseToken(text: string, place: string): string {
  const token = text.trim();
  if (/^[A-Za-z0-9._~+/-]{16,512}=*$/.test(token) && token.length <= 512) return token;
  throw new AuthError(
    "TOKEN_INVALID",
    `Cannot use the token in ${place}: it must have 16 to 512 letters, digits and . _ ~ + / - characters`,
    { hint: "make one: openssl rand -hex 32" },
  );
}

/**
 * Reads the token called `name`, for a program of the same user that calls the gateway.
 *
 * @throws {AuthError} `TOKEN_FILE_UNREADABLE`, `TOKEN_FILE_EXPOSED`, `TOKEN_INVALID`.
 */
export function readToken(home: string, name: string): string {
  return readTokenFile(join(tokenDirectory(home), name));
}

/** Reads a token as `readToken` does, by path. Checks and reads through one descriptor, so that the file cannot be replaced in between. */
export function readTokenFile(path: string): string {
  let descriptor: number;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for its writer. Windows has no such flag.
    descriptor = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (cause) {
    throw unreadable(path, cause);
  }
  try {
    const status = fstatSync(descriptor);
    if (!status.isFile()) throw unreadable(path, new Error("not a regular file"));
    refuseExposed(path, status, "600");
    const buffer = Buffer.alloc(fileMaxBytes + 1);
    const length = readSync(descriptor, buffer);
    if (length > fileMaxBytes) throw unreadable(path, new Error(`longer than ${fileMaxBytes} bytes`));
    return parseToken(buffer.toString("utf8", 0, length), `"${path}"`);
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Writes a new token to `path` unless the file exists. The file appears complete
 * or not at all, and only one of several gateways creates it.
 *
 * @throws {AuthError} `TOKEN_FILE_UNREADABLE` when it cannot be written.
 */
export async function createTokenFile(path: string, randomBytes: RandomBytes): Promise<void> {
  if (existsSync(path)) return;
  try {
    await createFile({ randomBytes }, path, `${makeToken(randomBytes)}\n`);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/**
 * Rejects a file or folder that other users of the machine may read or change.
 *
 * @throws {AuthError} `TOKEN_FILE_EXPOSED`. Never on Windows, which has no permission bits.
 */
export function refuseExposed(path: string, status: Stats, mode: "600" | "700"): void {
  if (process.platform === "win32" || (status.mode & 0o077) === 0) return;
  const found = (status.mode & 0o777).toString(8);
  throw new AuthError(
    "TOKEN_FILE_EXPOSED",
    `Cannot trust "${path}": other users of this machine may use it (mode ${found}, must be ${mode})`,
    { hint: `chmod ${mode} '${path}'; make a new token if anyone may have read it` },
  );
}

/** Returns the error for a file or folder that cannot be used. */
export function unreadable(path: string, cause: unknown): AuthError {
  const origin = cause instanceof FilesError ? cause.cause : cause;
  const errno = errnoOf(origin);
  const isFull = errno === "ENOSPC" || errno === "EDQUOT" || errno === "EROFS";
  const hint = isFull
    ? "free disk space, make the file system of the home directory writable, or use another home with --home"
    : undefined;
  return new AuthError("TOKEN_FILE_UNREADABLE", `Cannot use "${path}": ${reasonOf(origin)}`, {
    cause,
    hint,
  });
}
