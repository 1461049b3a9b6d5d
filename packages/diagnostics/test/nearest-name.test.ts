import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { nearestName } from "@toolcrib/diagnostics";
import fc from "fast-check";

const fields = ["tool_servers", "toolspecs", "packages", "policy", "secrets", "serve", "id", "url"];

describe("nearestName()", () => {
  const rows: readonly [title: string, name: string, expected: string | undefined][] = [
    ["a letter too many", "servee", "serve"],
    ["a letter too few", "polcy", "policy"],
    ["another letter", "secrebs", "secrets"],
    ["two letters that changed places", "plocy", undefined],
    ["two neighbours that changed places", "pacakges", "packages"],
    ["other case", "POLICY", "policy"],
    ["other case in a short name", "ID", "id"],
    ["another separator", "tool-servers", "tool_servers"],
    ["three edits in a long name", "toolservrs", "tool_servers"],
    ["the nearer of two", "toolspec", "toolspecs"],
    ["a short name with one edit", "ur", "url"],
    ["a single letter, of which any could be meant", "x", undefined],
    ["nothing", "", undefined],
    ["a name that is like none", "environment", undefined],
    ["a name of which half is wrong", "poetry", undefined],
  ];
  for (const [title, name, expected] of rows) {
    test(`for ${title}: "${name}" ${expected === undefined ? "suggests nothing" : `suggests "${expected}"`}`, () => {
      assert.equal(nearestName(name, fields), expected);
    });
  }

  test("returns the first of equally near candidates", () => {
    assert.equal(nearestName("bar", ["baz", "bat"]), "baz");
    assert.equal(nearestName("bar", ["bat", "baz"]), "bat");
  });

  test("suggests nothing without candidates", () => assert.equal(nearestName("policy", []), undefined));

  test("accepts any iterable", () =>
    assert.equal(nearestName("polic", new Map([["policy", 1]]).keys()), "policy"));

  test("compares only the first 100 characters", () => {
    const long = "a".repeat(1_000_000);
    assert.equal(nearestName(long, [`${"a".repeat(99)}b`]), `${"a".repeat(99)}b`);
    assert.equal(nearestName("policy", [long]), undefined);
  });

  test("finds a name from any single edit of it", () => {
    const name = fc.string({ unit: fc.constantFrom(..."abcdefghij_"), minLength: 4, maxLength: 20 });
    fc.assert(
      fc.property(
        name,
        fc.nat(),
        fc.constantFrom("drop", "add", "change", "swap"),
        (wanted, number, edit) => {
          const at = number % (wanted.length - 1);
          const [left, right] = [wanted.slice(0, at), wanted.slice(at + 1)];
          const edited = {
            drop: left + right,
            add: `${left}x${wanted.slice(at)}`,
            change: `${left}x${right}`,
            swap: `${left}${right.charAt(0)}${wanted.charAt(at)}${right.slice(1)}`,
          }[edit];
          assert.equal(nearestName(edited, ["zzzz_zzzz", wanted]), wanted);
        },
      ),
    );
  });
});
