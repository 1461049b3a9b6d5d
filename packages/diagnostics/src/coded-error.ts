/**
 * The base class of every error that an operation throws. Each package derives
 * one class (`SearchError`, `UpstreamError`, …) whose codes are the keys of its
 * `codes.ts`. Callers branch on `code`, never on `message`.
 */

/** Optional properties of a `CodedError`. */
export interface CodedErrorOptions {
  /** A remedy, as a sentence without a full stop that starts in lower case. */
  readonly hint?: string;
  /** The underlying failure. It goes to the log only, never over a wire. */
  readonly cause?: unknown;
  /** JSON-safe facts for programs (`data` of a JSON-RPC error). Never a secret. */
  readonly data?: { readonly [key: string]: unknown };
}

/**
 * Reports an operation that failed (denied, timed out, unreachable).
 *
 * `message` and `hint` may be shown to anyone; `cause` goes to the log only.
 *
 * @typeParam Code the codes that this class of error can carry: keys of its package's `codes.ts`.
 */
export class CodedError<Code extends string = string> extends Error {
  /** Stable upper-case identifier, such as `UPSTREAM_TIMEOUT`. */
  readonly code: Code;
  readonly hint: string | undefined;
  readonly data: { readonly [key: string]: unknown } | undefined;

  constructor(code: Code, message: string, options: CodedErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = new.target.name;
    this.code = code;
    this.hint = options.hint;
    this.data = options.data;
  }
}

/** Whether `value` is a `CodedError` of any package. */
export function isCodedError(value: unknown): value is CodedError {
  return value instanceof CodedError;
}

/** Returns the message of any thrown value. Never throws. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    return "something that has no text was thrown";
  }
}
