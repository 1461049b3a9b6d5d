import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { commitSteps } from "@toolcrib/config-changes";

const fail = (reason: string) => () => {
  throw new Error(reason);
};

describe("commitSteps()", () => {
  test("takes all steps in their order", () => {
    const taken: string[] = [];
    const reasons = commitSteps({ take: () => taken.push("first"), takeBack: fail("never") }, (take) => {
      take(() => taken.push("second"));
      take(() => taken.push("third"));
    });
    assert.deepEqual([taken, reasons], [["first", "second", "third"], []]);
  });

  test("takes a first step back that fails, and takes no other", () => {
    const taken: string[] = [];
    const first = {
      take: fail("no policy"),
      takeBack: () => taken.push("back"),
    };
    assert.throws(() => commitSteps(first, () => taken.push("rest")), /^Error: no policy$/);
    assert.deepEqual(taken, ["back"]);
  });

  test("says so where the first step cannot be taken back", () => {
    const first = { take: fail("no policy"), takeBack: fail("no policy before") };
    assert.throws(
      () => commitSteps(first, () => {}),
      /a part .* is in force, and could not be taken back: no policy; no policy before; restart the gateway/,
    );
  });

  test("takes the steps after one that fails, and returns the reasons", () => {
    const taken: string[] = [];
    const reasons = commitSteps({ take() {}, takeBack() {} }, (take) => {
      take(fail("one"));
      take(() => taken.push("two"));
      for (let at = 0; at < 20; at += 1) take(fail(`more ${at}`));
      throw new Error("outside of a step");
    });
    assert.deepEqual(taken, ["two"]);
    assert.equal(reasons.length, 10);
    assert.deepEqual(reasons.slice(0, 2), ["one", "more 0"]);
  });
});
