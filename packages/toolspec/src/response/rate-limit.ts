/** What a response says of its rate limit, and whether and when a call may be tried again. Knows no clock. */

import type { ToolspecMethod } from "../spec/toolspec.ts";

/** What a response says of its rate limit. */
export interface RateLimit {
  /** Milliseconds to wait, where `Retry-After` says so in seconds. */
  readonly retryAfterMs?: number;
  /** Milliseconds since the epoch until which to wait, where `Retry-After` is a date. */
  readonly retryAtMs?: number;
  readonly limit?: number;
  readonly remaining?: number;
}

/** Longest wait that is believed: a day. */
const retryAfterMaxMs = 86_400_000;

/** What `headers` (names in lower case) say; `undefined` where they say nothing. */
export function rateLimitOf(headers: ReadonlyMap<string, string>): RateLimit | undefined {
  const retryAfter = headers.get("retry-after")?.trim() ?? "";
  const count = (...names: readonly string[]) => {
    const text = names.map((name) => headers.get(name)).find((value) => value !== undefined) ?? "";
    return /^\s*[0-9]{1,15}(?:\s*[,;].*)?$/.test(text) ? Number.parseInt(text, 10) : undefined;
  };
  const date = /^[A-Z][a-z]{2}, /.test(retryAfter) ? Date.parse(retryAfter) : Number.NaN;
  const limit = count("x-ratelimit-limit", "x-rate-limit-limit", "ratelimit-limit");
  const remaining = count("x-ratelimit-remaining", "x-rate-limit-remaining", "ratelimit-remaining");
  const found: RateLimit = {
    ...(/^[0-9]{1,9}(?:\.[0-9]{1,9})?$/.test(retryAfter)
      ? { retryAfterMs: Math.min(Math.ceil(Number(retryAfter) * 1000), retryAfterMaxMs) }
      : {}),
    ...(Number.isNaN(date) ? {} : { retryAtMs: date }),
    ...(limit === undefined ? {} : { limit }),
    ...(remaining === undefined ? {} : { remaining }),
  };
  return Object.keys(found).length === 0 ? undefined : found;
}

const idempotent: ReadonlySet<ToolspecMethod> = new Set(["GET", "PUT", "DELETE"]);

/**
 * Whether a call may be sent again after `status`: 429 with any method, because
 * nothing was done, 502, 503 and 504 with methods that may be repeated.
 */
export function mayRetry(method: ToolspecMethod, status: number): boolean {
  return status === 429 || (idempotent.has(method) && (status === 502 || status === 503 || status === 504));
}
