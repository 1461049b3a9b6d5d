/** Polls of what other processes store. */

import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { watchApprovals } from "@toolcrib/admission";

test("approvals are not read again while a read takes long, and the end waits for that one only", async () => {
  mock.timers.enable({ apis: ["setInterval"] });
  try {
    const reads: (() => void)[] = [];
    const stop = watchApprovals({
      refresh: () => new Promise<void>((resolve) => void reads.push(resolve)),
    });
    mock.timers.tick(5000);
    assert.equal(reads.length, 1);
    reads[0]?.();
    await new Promise(setImmediate);
    mock.timers.tick(3000);
    assert.equal(reads.length, 2);
    let isStopped = false;
    const stopped = stop().then(() => {
      isStopped = true;
    });
    await new Promise(setImmediate);
    assert.equal(isStopped, false);
    reads[1]?.();
    await stopped;
    mock.timers.tick(5000);
    assert.equal(reads.length, 2);
  } finally {
    mock.timers.reset();
  }
});
