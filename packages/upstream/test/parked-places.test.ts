/** Places for parked calls: a call that nobody answers gives its place to a newer one of the same client, and of no other. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ParkedCalls } from "@toolcrib/upstream";

test("a call that waited for a minute gives its place to a newer one of the same client", () => {
  let now = 0;
  const places = ParkedCalls.places(4, () => now);
  const ended: string[] = [];
  const take = (holder: string, name: string) => {
    const call = {
      end() {
        ended.push(name);
        places.giveBack(holder, call);
      },
    };
    const refusal = places.take(holder, call);
    if (refusal === undefined) places.parked(holder, call);
    return { refusal, call };
  };
  assert.equal(take("ada", "first").refusal, undefined);
  const { call: second } = take("ada", "second");
  // Half of what is free is her share, and her calls have a minute.
  now = 59_000;
  assert.equal(take("ada", "third").refusal, "share");
  assert.equal(take("bob", "his").refusal, undefined);
  now = 60_000;
  assert.equal(take("ada", "fourth").refusal, undefined);
  assert.deepEqual(ended, ["first"]);
  // A call that runs again keeps its place, however long it takes.
  places.continued("ada", second);
  now = 119_000;
  assert.equal(take("ada", "fifth").refusal, "share");
  now = 120_000;
  assert.equal(take("ada", "sixth").refusal, undefined);
  assert.deepEqual(ended, ["first", "fourth"]);
});
