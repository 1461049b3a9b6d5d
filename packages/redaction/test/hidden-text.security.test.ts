/** The data that an attacker can hide in text and in names of members past the removal of hidden characters. */

import assert from "node:assert/strict";
import { describe, it, test } from "node:test";
import { SecretScrubber, stripHidden, stripHiddenValue, withoutHidden } from "@toolcrib/redaction";
import { slowTest } from "@toolcrib/testing";
import fc from "fast-check";

const codePoints = (...ranges: readonly (readonly [number, number])[]): string[] =>
  ranges.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, at) => String.fromCodePoint(first + at)),
  );

/** Every character without a form of its own, by Unicode's properties and by number. */
const invisible = [
  ...codePoints([0, 0xd7ff], [0xe000, 0x10ffff]).filter((one) =>
    /[\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]/u.test(one),
  ),
  ...codePoints([0xd800, 0xdfff], [0x1d173, 0x1d17a], [0x1bca0, 0x1bca3], [0x13430, 0x1345f]),
  "\u{1d159}",
  "\u{16fe4}",
  "\ufffc",
];
/** Without most of private use, of the planes that hold nothing else, and of surrogates. */
const sampled = invisible.filter(
  (one, at) => !/[\p{Co}\p{Cs}\u{e0200}-\u{e0fff}]/u.test(one) || at % 997 === 0,
);
/** Format characters that are visible. */
const visibleFormat = new Set(
  "\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}",
);

const selectors = codePoints([0xfe00, 0xfe0f], [0xe0100, 0xe01ef]);

describe("text that is hidden", () => {
  it("in characters without a form is removed", () => {
    assert.ok(invisible.length > 140_000);
    for (const one of invisible) {
      if (!visibleFormat.has(one)) assert.equal(stripHidden(`a${one}b`), "ab", String(one.codePointAt(0)));
    }
  });

  it("in variation selectors is removed after every base, visible or not", () => {
    const message = selectors.join("");
    for (const base of "\u00a0\u200a\u2800\u{1d173}中字éx1 \nمक") {
      const hiding = [...selectors].map((one) => base + one).join("");
      assert.doesNotMatch(stripHidden(`${hiding}${base}${message}`), /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/u);
    }
    assert.equal(stripHidden(`😀${message}`), "😀\ufe0e");
  });

  it("in tags is removed, of flags too, except for three flags", () => {
    const tags = (text: string) =>
      [...text].map((one) => String.fromCodePoint(0xe0000 + one.charCodeAt(0))).join("");
    assert.equal(stripHidden(`🏴${tags("run this")}\u{e007f}`), "🏴");
    assert.equal(stripHidden(`🏴${tags("usca")}\u{e007f}`), "🏴");
    assert.equal(stripHidden(`🏴${tags("gbeng")}`), "🏴");
    assert.equal(stripHidden(`x${tags("gbeng")}\u{e007f}`), "x");
  });

  it("has less than three bits after any character", slowTest, () => {
    const bases = "aé中ก1❤👩🏽🇩🏴م\u064bक\u094dরᠠ\u00a0";
    const few = [..."\u200c\u200d\u{e01ef}\ufe00\ufe0e\ufe0f\u180b\u180c\u180d\u180f"];
    for (const base of bases) {
      for (const next of ["", "x", "🚀", "م", "\u094d", "\u20e3"]) {
        const shown = new Set(sampled.map((one) => stripHidden(`${base}${one}${next}`)));
        for (const one of few) {
          for (const two of few) {
            shown.add(stripHidden(`${base}${one}${two}${next}`));
            for (const three of few) shown.add(stripHidden(`${base}${one}${two}${three}${next}`));
          }
        }
        // Visible format characters are part of what a person sees.
        const kept = [...shown].filter((text) => ![...text].some((one) => visibleFormat.has(one)));
        assert.ok(kept.length < 8, `${base} before ${next}: ${kept.length}`);
      }
    }
  });

  it("in kinds of spaces is removed where several follow each other or end a line", () => {
    const kinds = codePoints([0x2000, 0x200a]).concat(
      "\u00a0",
      "\u1680",
      "\u202f",
      "\u205f",
      "\u2800",
      "\u3000",
    );
    assert.equal(stripHidden(`a${kinds.join("")}b`), `a${" ".repeat(kinds.length)}b`);
    assert.equal(stripHidden(`a\u00a0\nb\u3000`), "a \nb ");
    assert.equal(stripHidden(`a \u2009b`), "a  b");
  });

  it("is not uncovered by the removal of other text", () => {
    const parts = [
      "a",
      "é",
      "中",
      "👩",
      "❤",
      "م",
      "क",
      "\u094d",
      "1",
      "\u20e3",
      " ",
      "\n",
      "[31m",
      "]0;",
      "\u0007",
    ];
    const character = fc.oneof(
      fc.constantFrom(
        ...parts,
        ..."\u200c\u200d\ufe0e\ufe0f\u180b\u200b\u001b\u009b\u009d\u00a0\u2028\u2800",
      ),
      fc.constantFrom(...sampled),
    );
    fc.assert(
      fc.property(fc.array(character, { maxLength: 12 }), (characters) => {
        const once = stripHidden(characters.join(""));
        assert.equal(stripHidden(once), once);
      }),
    );
  });
});

describe("names of members", () => {
  it("that hidden characters make equal never replace the one without them", () => {
    const clashes: string[] = [];
    const clean = stripHiddenValue(
      JSON.parse(
        '{"_me\\u200bta":"forged","_meta":"own","con\\u200btent":1,"content\\ufeff":2,"__pro\\u2060to__":3}',
      ),
      (name) => clashes.push(name),
    );
    assert.deepEqual(Object.entries(clean), [
      ["_meta", "own"],
      ["content", 1],
      ["__proto__", 3],
    ]);
    assert.equal(Object.getPrototypeOf(clean), Object.prototype);
    assert.deepEqual(clashes, ["_meta", "content"]);
    assert.deepEqual(stripHiddenValue({ list: [{ "a\u200b": 1, a: 2 }] }), { list: [{ a: 2 }] });
  });

  it("and values without hidden characters stay the same object", () => {
    const same = { text: "nothing hidden", list: [1, { deep: ["é"] }] };
    assert.equal(stripHiddenValue(same), same);
    assert.equal(withoutHidden(new SecretScrubber()).value(same), same);
  });
});

test("a secret that hidden characters split is found, in names too", () => {
  const scrubber = new SecretScrubber();
  scrubber.learn("api", "correct-horse");
  const { value, text } = withoutHidden(scrubber);
  assert.equal(text("correct\u200b-horse"), "[secret api]");
  assert.deepEqual(value({ "correct-\u00adhorse": ["correct\u2060-horse", 1, null, true] }), {
    "[secret api]": ["[secret api]", 1, null, true],
  });
});
