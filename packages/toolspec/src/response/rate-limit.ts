/** Parses the rate limit of a response and decides whether and when a call can be retried. Has no clock. */

/** The rate limit that a response states. */
export interface RateLimit {
  /** Milliseconds to wait, when `Retry-After` is a number of seconds. */
  readonly retryAfterMs?: number;
  /** Time to wait for in milliseconds since the epoch, when `Retry-After` is a date. */
  readonly retryAtMs?: number;
  readonly limit?: number;
  readonly remaining?: number;
}

/** Longest accepted wait: one day. */
const retryAfterMaxMs = 86_400_000;

/** Parses `headers` (names in lower case); `undefined` when they state no limit. */
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

const idempotent: ReadonlySet<string> = new Set(["GET", "PUT", "DELETE"]);

/**
 * Whether a call can be sent again after `status`: 429 with any method, because
 * the service did nothing; 502, 503 and 504 with idempotent methods.
 */
export function mayRetry(method: string, status: number): boolean {
  return status === 429 || (idempotent.has(method) && (status === 502 || status === 503 || status === 504));
}
