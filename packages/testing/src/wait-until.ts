/** Waiting for something to become true, without guessing how long it takes. */

import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";

/**
 * Wait until `condition` returns something truthy, and return that.
 *
 * @param options.timeoutMs give up after this; long, because a machine may be slow. @default 30000
 * @param options.intervalMs time between two looks. @default 10
 * @param options.what what is waited for, for the error. @default the condition's source
 * @throws {AssertionError} when it does not come true in time.
 */
export async function waitUntil<T>(
  condition: () => T | Promise<T>,
  options: { readonly timeoutMs?: number; readonly intervalMs?: number; readonly what?: string } = {},
): Promise<Exclude<T, false | 0 | "" | null | undefined>> {
  const timeoutMs = options.timeoutMs ?? 30_000;
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
