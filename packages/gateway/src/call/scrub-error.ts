/**
 * Replaces known secrets in errors and their causes, which logs and programs
 * show: messages, hints, data and stacks.
 */

import { inspect } from "node:util";
import { CodedError } from "@toolcrib/diagnostics";
import type { TextScrubber } from "@toolcrib/redaction";

/** Returns `error` without known secrets, including its causes; the same object if it contains none. */
export function scrubError(scrubber: TextScrubber, error: CodedError): CodedError {
  const message = scrubber.text(error.message);
  const hint = error.hint === undefined ? undefined : scrubber.text(error.hint);
  const data = error.data === undefined ? undefined : scrubber.value(error.data);
  const cause = scrubCause(scrubber, error.cause);
  const isSame = message === error.message && hint === error.hint && data === error.data;
  if (isSame) {
    // The same object keeps its class and its fields.
    if (cause !== error.cause) error.cause = cause;
    return error;
  }
  return withStack(new CodedError(error.code, message, { hint, data, cause }), error, scrubber);
}

/** Deepest cause that is kept; deeper ones are dropped. */
const causesMaxDepth = 10;

/** As much as a log shows. */
const shownErrors = { depth: 10, maxArrayLength: 1000, maxStringLength: 100_000 } as const;

/** Returns `thrown` without known secrets; the same object if it contains none. */
export function scrubCause(scrubber: TextScrubber, thrown: unknown, depth = 1): unknown {
  if (typeof thrown === "string") return scrubber.text(thrown);
  if (!(thrown instanceof Error)) {
    const shown = inspect(thrown, shownErrors);
    return scrubber.text(shown) === shown ? thrown : undefined;
  }
  const cause = depth < causesMaxDepth ? scrubCause(scrubber, thrown.cause, depth + 1) : undefined;
  // Any field can have one: the arguments of a program that was not found, the errors of an AggregateError.
  const texts = [thrown.message, thrown.stack ?? "", inspect(thrown, shownErrors)];
  if (cause === thrown.cause && texts.every((text) => scrubber.text(text) === text)) return thrown;
  return withStack(new Error(scrubber.text(thrown.message), { cause }), thrown, scrubber);
}

/** Gives `error` the stack of `original`. */
function withStack<One extends Error>(error: One, original: Error, scrubber: TextScrubber): One {
  if (original.stack !== undefined) error.stack = scrubber.text(original.stack);
  return error;
}
