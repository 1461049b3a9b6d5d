/** `openToolUse()`: a trail that is not read is reported, and starts no gateway later. */

import assert from "node:assert/strict";
import { it } from "node:test";
import { openToolUse } from "@toolcrib/discovery";
import { localIdentity } from "@toolcrib/tool";

const config = {
  serve: {
    mode: "auto",
    tools: { hidden: [], pinned: [] },
    list: { tokenBudget: 100, mostUsed: 2 },
    results: { tokenBudget: 0 },
  },
} as const;

it("openToolUse() logs why no use is known", async () => {
  const never = new Promise<never>(() => {});
  const rows = [
    [() => never, async () => {}, ["the audit trail was not read within 2 s"]],
    [() => Promise.reject(new Error("no disk")), () => never, ["no disk"]],
    [async () => [], () => never, []],
  ] as const;
  for (const [list, sleep, reasons] of rows) {
    const logged: unknown[] = [];
    const logger = { warn: (fields: object) => void logged.push((fields as { reason: unknown }).reason) };
    const used = await openToolUse(config, { audit: { list }, now: () => 0, sleep, logger });
    assert.deepEqual(used?.(localIdentity("token", "a")), []);
    assert.deepEqual(logged, reasons);
  }
});
