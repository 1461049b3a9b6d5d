/** Waits until a condition is true, without a fixed delay. */

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Waits until `condition` returns a truthy value, and returns it.
 *
 * @param options.timeoutMs milliseconds until it fails; long, for slow machines. @default 60000
 * @param options.intervalMs milliseconds between two checks. @default 10
 * @param options.what the description of the condition in the error. @default the source of the condition
 * @throws {AssertionError} if it does not become true in time.
 */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  options: { readonly timeoutMs?: number; readonly intervalMs?: number; readonly what?: string } = {},
): Promise<Exclude<T, false | 0 | "" | null | undefined>> {
  const timeoutMs = options.timeoutMs ?? 60_000;
  const start = performance.now();
  for (;;) {
    const value = await condition();
    if (value) return value as Exclude<T, false | 0 | "" | null | undefined>;
    if (performance.now() - start > timeoutMs) {
      assert.fail(`Not true within ${timeoutMs} ms: ${options.what ?? condition.toString()}`);
    }
    await delay(options.intervalMs ?? 10);
  }
}
