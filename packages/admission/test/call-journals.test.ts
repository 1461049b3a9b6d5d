/** Calls that continue after an approval: what their journals keep, for whom, and for how long. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type CallJournal, CallJournals, type InnerOutcome } from "@toolcrib/admission";

const made: InnerOutcome = { kind: "result", result: { content: [] } };

type Options = ConstructorParameters<typeof CallJournals>[1];

/** Makes a call with an inner call of `bytes`, which stops because another one waits. */
function stopped(journals: CallJournals, key: string, { holder = "ci", bytes = 10 } = {}) {
  const journal = journals.create(holder, key);
  journals.begin(key, journal);
  journal.record("inner", made, bytes);
  journal.waits();
  return journals.end(key, true);
}

function journalsOf(options: Options = {}) {
  const clock = { ms: 0 };
  return { clock, journals: new CallJournals(() => clock.ms, options) };
}

/** Returns how often the next execution gets the result of its inner call. */
function timesMade(journal: CallJournal | undefined): number {
  let count = 0;
  while (journal?.takeMade("inner") !== undefined) count += 1;
  return count;
}

describe("CallJournals", () => {
  test("leaves one client at most half of the room, so that calls of others are kept", () => {
    const { journals, clock } = journalsOf({ maxBytes: 100 });
    for (const key of ["a", "b", "c", "d", "e"]) stopped(journals, key, { holder: "greedy", bytes: 20 });
    assert.equal(journals.claim("d"), undefined);
    assert.equal(stopped(journals, "other", { holder: "ci", bytes: 20 }), "kept");
    // What has expired takes no room.
    clock.ms += 71 * 60_000;
    assert.equal(stopped(journals, "later", { holder: "greedy", bytes: 50 }), "kept");
  });

  test("leaves one client at most half of the room for large results, too", () => {
    const { journals } = journalsOf({ maxBytes: 64, maxBytesPerCall: 8 });
    const ends = Array.from({ length: 20 }, (_, at) => stopped(journals, `${at}`, { bytes: 7 }));
    assert.equal(ends.filter((end) => end === "kept").length, 4);
    assert.equal(stopped(journals, "other", { holder: "dev", bytes: 8 }), "kept");
  });

  test("gives a call that stopped its results once, in one continuation at a time", () => {
    const { journals } = journalsOf();
    assert.equal(stopped(journals, "a"), "kept");
    const journal = journals.claim("a");
    assert.equal(journals.claim("a"), undefined);
    assert.equal(timesMade(journal), 1);
    assert.ok(journal !== undefined);
    journals.giveBack(journal);
    assert.equal(timesMade(journals.claim("a")), 1);
    assert.equal(journals.claim("b"), undefined);
  });

  test("keeps nothing of a call that ended otherwise", () => {
    const { journals } = journalsOf();
    const ends: readonly [name: string, waits: boolean, hasFailed: boolean][] = [
      ["answered", true, false],
      ["failed for another reason", false, true],
    ];
    for (const [name, waits, hasFailed] of ends) {
      const journal = journals.create("ci", name);
      journals.begin(name, journal);
      journal.record("inner", made, 10);
      if (waits) journal.waits();
      assert.equal(journals.end(name, hasFailed), undefined, name);
      assert.equal(journals.of(name), undefined, name);
    }
    assert.ok(journals.isEmpty);
  });

  test("drops the results of a call that are too large, and frees their bytes", () => {
    const { journals } = journalsOf({ maxBytes: 250, maxBytesPerCall: 60 });
    for (let at = 0; at < 10; at += 1)
      assert.equal(stopped(journals, `large ${at}`, { bytes: 61 }), "dropped");
    // Two results, of which the first is kept and then dropped with the second.
    const journal = journals.create("ci", "two");
    journals.begin("two", journal);
    for (const _ of [1, 2]) journal.record("inner", made, 40);
    journal.waits();
    assert.equal(journals.end("two", true), "dropped");
    assert.equal(stopped(journals, "a", { bytes: 60 }), "kept");
    assert.equal(stopped(journals, "b", { bytes: 60 }), "kept");
  });

  test("keeps the newest calls of a client, and those of others", () => {
    const { journals } = journalsOf({ maxPerClient: 2 });
    stopped(journals, "other", { holder: "dev" });
    for (const key of ["a", "b", "c"]) stopped(journals, key);
    const kept = ["other", "a", "b", "c"].filter((key) => journals.claim(key) !== undefined);
    assert.deepEqual(kept, ["other", "b", "c"]);
  });

  test("forgets a call after its time, also when the clock was set back", () => {
    for (const ms of [1000, -1]) {
      const { journals, clock } = journalsOf({ lifeMs: 1000 });
      stopped(journals, "a");
      clock.ms = ms;
      assert.equal(journals.claim("a"), undefined, `${ms}`);
    }
  });

  test("counts an approval of the call for the inner calls that it showed, each once", () => {
    const { journals } = journalsOf();
    const journal = journals.create("ci", "a");
    assert.equal(journal.approval, undefined);
    journal.approve("approval-1", ["inner", "inner"]);
    assert.equal(journal.approval, "approval-1");
    const taken = ["inner", "inner", "inner", "other"].map((key) => journal.takeApproval(key));
    assert.deepEqual(taken, ["approval-1", "approval-1", undefined, undefined]);
    // One that was not used counts again, once.
    assert.equal(journal.returnApproval("inner"), true);
    const again = ["inner", "inner"].map((key) => journal.takeApproval(key));
    assert.deepEqual(again, ["approval-1", undefined]);
    journal.clear();
    assert.equal(journal.returnApproval("inner"), false, "the call ended");
    assert.equal(journal.takeApproval("inner"), undefined);
  });
});
