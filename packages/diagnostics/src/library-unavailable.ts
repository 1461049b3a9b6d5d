/**
 * The error of a library that cannot be loaded when it is needed. Bundles throw it, which load large libraries with their
 * first use. It says nothing about what the library was to check: code that takes an error of a library as its verdict
 * lets this one pass. The next use loads the library again.
 */

import { CodedError } from "./coded-error.ts";

/** Returns the error for the file `name` of the installation. The paths of the machine are in its cause only. */
export function libraryUnavailable(name: string, cause: unknown): CodedError {
  const { code } = (cause ?? {}) as { readonly code?: unknown };
  const reason = typeof code === "string" ? code : "it does not run";
  return new CodedError("LIBRARY_UNAVAILABLE", `Cannot load the library ${name} of Toolcrib: ${reason}`, {
    hint: exhaustions.has(reason)
      ? "too many files and connections are open: close some or raise the limit (ulimit -n), and try again"
      : "if Toolcrib was updated or its files were changed, restart it; otherwise install it again",
    cause,
  });
}

/** Codes of systems that have no place for another open file. */
const exhaustions: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);
