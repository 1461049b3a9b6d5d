import { CodedError, type CodedErrorOptions } from "@toolcrib/diagnostics";
import type { FilesCode } from "./codes.ts";

/** A file operation failed. */
export class FilesError extends CodedError<FilesCode> {
  /** System error code of the failure, such as `ENOSPC`, where there is one. */
  readonly errno: string | undefined;

  constructor(code: FilesCode, message: string, options: CodedErrorOptions = {}) {
    super(code, message, options);
    this.errno = errnoOf(options.cause);
  }

  /** The content at the path after a failed change: the one from before the change, or the new one. */
  get content(): "old" | "new" {
    return this.code === "FILE_NOT_DURABLE" ? "new" : "old";
  }
}

/** Returns the system error code of an error, such as `ENOSPC`; `undefined` for any other value. */
export function errnoOf(error: unknown): string | undefined {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** Returns why the file system refused an operation, as a clause for people: `the disk is full (ENOSPC)`. */
export function reasonOf(error: unknown): string {
  const errno = errnoOf(error);
  return (errno === undefined ? undefined : reasons[errno]) ?? errno ?? (error as Error).message;
}

const reasons: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full (ENOSPC)",
  EDQUOT: "the disk quota is used up (EDQUOT)",
  EACCES: "permission denied (EACCES)",
  EPERM: "permission denied (EPERM)",
  EROFS: "the file system is read-only (EROFS)",
  ENOENT: "it does not exist (ENOENT)",
  ENOTDIR: "a part of its path is not a directory (ENOTDIR)",
  EISDIR: "it is a directory (EISDIR)",
  ELOOP: "its symbolic links form a loop (ELOOP)",
  ENAMETOOLONG: "its path is too long (ENAMETOOLONG)",
};
