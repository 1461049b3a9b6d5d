/** Places and work that clients share fairly. */

import assert from "node:assert/strict";
import test from "node:test";
import { FairQueue, FairShare } from "@toolcrib/lifecycle";

const never = new AbortController().signal;

test("FairShare lets one holder take half of the places, and always leaves some for another", () => {
  const share = new FairShare(8);
  const takeAll = (holder: string) => {
    while (share.refusalFor(holder) === undefined) share.take(holder);
    return share.countOf(holder);
  };
  assert.deepEqual(["a", "b", "c"].map(takeAll), [4, 2, 1]);
  assert.equal(share.refusalFor("a"), "share");
  assert.equal(takeAll("d"), 1);
  assert.equal(share.refusalFor("e"), "full");
  share.giveBack("a", 4);
  assert.equal(share.count, 4);
  assert.equal(share.refusalFor("e"), undefined);
});

test("FairQueue gives holders turns, and each holder its own order", async () => {
  const queue = new FairQueue({ maxRunning: 2, maxWaiting: 16 });
  const started: string[] = [];
  const enter = (holder: string, name: string) => {
    const entry = queue.enter(holder, never);
    if (entry === "entered") started.push(name);
    else if (typeof entry === "object") void entry.then(() => started.push(name));
    return entry;
  };
  assert.equal(enter("a", "a1"), "entered");
  for (const name of ["a2", "a3", "a4"]) enter("a", name);
  assert.equal(enter("b", "b1"), "entered");
  for (const name of ["b2", "b3"]) enter("b", name);
  for (const holder of ["a", "b", "a", "b"]) {
    queue.leave(holder);
    await Promise.resolve();
  }
  assert.deepEqual(started, ["a1", "b1", "a2", "b2", "a3", "b3"]);
});

test("FairQueue refuses work over the share of a holder and over the queue, and forgets cancelled work", async () => {
  const queue = new FairQueue({ maxRunning: 1, maxWaiting: 2 });
  assert.equal(queue.enter("a", never), "entered");
  const cancelling = new AbortController();
  const waiting = queue.enter("a", cancelling.signal);
  assert.equal(queue.enter("a", never), "share");
  assert.ok(queue.enter("b", never) instanceof Promise);
  assert.equal(queue.enter("c", never), "full");
  cancelling.abort(new Error("gone"));
  await assert.rejects(async () => waiting, /gone/);
  assert.equal(queue.waitingCount, 1);
  queue.leave("a");
  assert.equal(queue.runningCount, 1);
  assert.equal(queue.waitingCount, 0);
});
