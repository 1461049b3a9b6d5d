/** Parts of earlier configurations that calls in flight still use. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { RetiredParts } from "@toolcrib/config-changes";

test("of many parts that are retired in a row, eight are kept for calls in flight", async () => {
  const ended: number[] = [];
  const never = new Promise<void>(() => {});
  const sleep = (_ms: number, signal: AbortSignal) =>
    new Promise<void>((_resolve, reject) =>
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true }),
    );
  await using parts = new RetiredParts({ inFlight: { idle: () => never }, sleep });
  for (let part = 0; part < 20; part += 1) parts.add(async () => void ended.push(part));
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(ended, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
});
