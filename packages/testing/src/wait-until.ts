/** Waits until a condition is true, without a fixed delay. */

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import { inspect } from "node:util";

/** Milliseconds between two checks, at first and after some time. */
const shortestMs = 10;
const longestMs = 50;

/**
 * Waits until `condition` returns a truthy value, and returns it.
 *
 * @param options.timeoutMs milliseconds until it fails; long, for slow machines. @default 60000
 * @param options.intervalMs milliseconds between two checks. @default 10 at first, and an eighth of the time since the
 *   first check later, at most 50: a check can be a request or a command, which delays what it waits for
 * @param options.what the description of the condition in the error; a function is called only then, so that it can
 *   show how things are. @default the source of the condition
 * @throws {AssertionError} if it does not become true in time, with the description, how often the condition was
 *   checked, which shows a busy machine, and what it returned last.
 */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  options: {
    readonly timeoutMs?: number;
    readonly intervalMs?: number;
    readonly what?: string | (() => string);
  } = {},
): Promise<Exclude<T, false | 0 | "" | null | undefined>> {
  const timeoutMs = options.timeoutMs ?? 60_000;
  const start = performance.now();
  for (let checks = 1; ; checks += 1) {
    const value = await condition();
    if (value) return value as Exclude<T, false | 0 | "" | null | undefined>;
    const waitedMs = performance.now() - start;
    if (waitedMs > timeoutMs) {
      const { what = condition.toString() } = options;
      const description = typeof what === "string" ? what : what();
      const checked = `${checks} ${checks === 1 ? "check" : "checks"}, the last returned ${inspect(value)}`;
      assert.fail(`Not true within ${timeoutMs} ms (${checked}): ${description}`);
    }
    await delay(options.intervalMs ?? Math.min(Math.max(shortestMs, waitedMs / 8), longestMs));
  }
}
