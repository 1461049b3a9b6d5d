/** Hidden characters are removed, and text that people write passes unchanged. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { stripHidden } from "@toolcrib/redaction";

const visible: readonly string[] = [
  "",
  "plain\ttext\r\nin lines",
  "Zażółć gęślą jaźń, Straße, naïve",
  "日本語のテキスト、한국어, العربية, עברית",
  "می‌خواهم", // Persian with a zero-width non-joiner
  "क्‍ष", // Devanagari with a zero-width joiner
  "م‌ی ئه‌وه‌", // Persian, and Kurdish with one at the end of a word
  "র‍্যাব ক্‌ষ ශ්‍රී", // Bengali and Sinhala
  "ᠠ᠋ᠨ", // Mongolian with a selector
  "👩‍🚀 ❤️ ❤︎ 🏳️‍🌈 🏴‍☠️ 👍🏽 👩🏽‍🚀 👩‍❤️‍💋‍👨 👁️‍🗨️ 1️⃣ #️⃣ 🇩🇪",
  "🏴󠁧󠁢󠁥󠁮󠁧󠁿 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🏴󠁧󠁢󠁷󠁬󠁳󠁿",
  "10\u00a0000\u202f€\u00a0: a\u2009b\n\u3000日本\u3000語",
  "۝ ؀ ⠓⠑⠇⠇⠕", // Arabic signs that are format characters, and Braille
  "10 €, ½, x², “quotes” – dashes…",
];

test("text that people write is not changed", () => {
  for (const text of visible) assert.equal(stripHidden(text), text);
  assert.equal(stripHidden(visible.join(" ")), visible.join(" "));
});

test("every hidden character is removed, wherever it is", () => {
  const removed: (readonly [first: number, last: number])[] = [
    [0x00, 0x08],
    [0x0b, 0x0c],
    [0x0e, 0x1f],
    // C1, except for those that begin a terminal sequence with the text after them.
    [0x7f, 0x9a],
    [0x9c, 0x9c],
    [0x9e, 0x9f],
    [0xad, 0xad],
    [0x61c, 0x61c],
    [0x180e, 0x180e],
    [0x200b, 0x200b],
    [0x200e, 0x200f],
    [0x202a, 0x202e],
    [0x2060, 0x206f],
    [0x3164, 0x3164],
    [0xfeff, 0xfeff],
    [0xffa0, 0xffa0],
    [0xe0000, 0xe007f],
    [0xe0100, 0xe01ef],
  ];
  let count = 0;
  for (const [first, last] of removed) {
    for (let code = first; code <= last; code += 1) {
      const character = String.fromCodePoint(code);
      assert.equal(stripHidden(`a${character}b${character}`), "ab", code.toString(16));
      assert.equal(stripHidden(`${character}é`), "é", code.toString(16));
      count += 1;
    }
  }
  assert.ok(count > 400);
});

test("joiners and variation selectors hide nothing", () => {
  assert.equal(stripHidden("a\u200db\u200c c\ufe0f"), "ab c");
  assert.equal(stripHidden("\u200d\u200d\ufe0fx"), "x");
  assert.equal(
    stripHidden("❤\ufe0f\ufe0e\ufe0f 👩\u200d\u200d🚀 क\u094d\u200d\u200c"),
    "❤\ufe0f 👩🚀 क\u094d\u200d",
  );
  assert.equal(stripHidden(`é${"\u200d\u200c".repeat(50)}x`), "éx");
  assert.equal(stripHidden("1\ufe0e\u20e3"), "1\u20e3");
});

test("terminal sequences are removed as a whole, and separators become line feeds", () => {
  assert.equal(stripHidden("\u001b[31;1mred\u001b[0m \u009b2Jx"), "red x");
  assert.equal(stripHidden("\u001b]8;;https://x.test\u0007link\u001b]8;;\u001b\\."), "link.");
  assert.equal(stripHidden("\u001b]0;never ended"), "]0;never ended");
  assert.equal(stripHidden("a\u2028b\u2029c"), "a\nb\nc");
});

test("long hostile texts take linear time", () => {
  const started = process.cpuUsage().user;
  for (const part of ["\u001b]", "\u001b[", "\u200d", "é\u200d\u200d\u200d", "\u{e0041}", "\u009d\u001b"]) {
    const text = part.repeat(Math.ceil(1_000_000 / part.length));
    assert.ok(stripHidden(text).length <= text.length);
  }
  // Quadratic time would take minutes.
  assert.ok(process.cpuUsage().user - started < 20_000_000);
});
