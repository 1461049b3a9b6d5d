/** `waitUntil()`: what it describes when it fails, and when. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { waitUntil } from "@toolcrib/testing";

test("waitUntil() describes the condition only when it fails, as it is then", async () => {
  const seen: string[] = [];
  let described = 0;
  const what = () => {
    described += 1;
    return `three texts in ${seen}`;
  };
  const isThere = () => seen.push("a") >= 3;
  assert.equal(await waitUntil(isThere, { what }), true);
  assert.equal(described, 0);
  await assert.rejects(
    waitUntil(() => seen.length > 3, { what, timeoutMs: 1, intervalMs: 5 }),
    /three texts in a,a,a$/,
  );
  assert.equal(described, 1);
});

test("waitUntil() reports how often it checked, and what the condition returned last", async () => {
  const rows: readonly (readonly [condition: () => unknown, expected: RegExp])[] = [
    [() => undefined, /^Not true within 0 ms \(\d+ checks?, the last returned undefined\): it comes$/],
    [() => 0, /, the last returned 0\): it comes$/],
    [() => "", /, the last returned ''\): it comes$/],
  ];
  for (const [condition, message] of rows) {
    await assert.rejects(waitUntil(condition, { timeoutMs: 0, what: "it comes" }), { message });
  }
  await assert.rejects(
    waitUntil(() => 1 > 2, { timeoutMs: 0 }),
    /: \(\) => 1 > 2$/,
  );
});
