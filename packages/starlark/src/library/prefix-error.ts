/**
 * Adds the name of a builtin to an error.
 */

import { StarlarkError } from "../run/starlark-error.ts";

/**
 * Converts `error` to `<builtin>: <message>`, to be thrown. Only errors of the
 * program get the name; limits, and values that are no `StarlarkError`, stay
 * unchanged.
 */
export function prefixError(builtin: string, error: unknown): unknown {
  if (!(error instanceof StarlarkError) || error.kind !== "error") return error;
  return new StarlarkError(`${builtin}: ${error.message}`, {
    hint: error.hint,
    details: error.detailsValue,
    cause: error.cause,
  });
}
