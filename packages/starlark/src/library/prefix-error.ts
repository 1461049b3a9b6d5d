/** Errors of values, as they read when a builtin met them: with its name in front. */

import { StarlarkError } from "../run/starlark-error.ts";

/**
 * `error` as `<builtin>: <message>`, for `throw`. Only an error of the program
 * itself gets the name: limits and what is not a `StarlarkError` stay as they are.
 */
export function prefixError(builtin: string, error: unknown): unknown {
  if (!(error instanceof StarlarkError) || error.kind !== "error") return error;
  return new StarlarkError(`${builtin}: ${error.message}`, {
    hint: error.hint,
    details: error.detailsValue,
    cause: error.cause,
  });
}
