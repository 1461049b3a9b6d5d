/** Explains why a file could not be read or written, without its path and its content. */

/** Returns the `code` of a file system error; an empty string for other errors. */
export function failureCode(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

/** Returns whether `error` means that the file does not exist. */
export function isAbsence(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(failureCode(error));
}

/** Returns why a file could not be read, such as `permission is denied`. */
export function explainFileFailure(error: unknown): string {
  const code = failureCode(error);
  return reasons[code] ?? (code === "" ? "reading it failed" : `reading it failed (${code})`);
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: "the file does not exist",
  ENOTDIR: "the file does not exist",
  EISDIR: "it is a folder",
  EINVAL: "it is not a regular file",
  EACCES: "permission is denied",
  EPERM: "permission is denied",
  ENAMETOOLONG: "its path is too long",
  ELOOP: "its symbolic links form a loop",
};
