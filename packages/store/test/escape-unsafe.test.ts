import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { escapeUnsafe, openStore } from "@toolcrib/store";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { completionOf, intentOf, newHome, tickingClock } from "./sample-events.ts";

/** Code points that must never be in a file, as numbers, independent of the patterns of the source. */
const unsafeRanges = [
  [0x00, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad],
  [0x61c, 0x61c],
  [0x115f, 0x1160],
  [0x180e, 0x180e],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0x3164, 0x3164],
  [0xd800, 0xdfff],
  [0xfe00, 0xfe0f],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe03ff],
] as const;

function unsafeIn(text: string): string[] {
  return Array.from(text, (character) => character.codePointAt(0)!)
    .filter((point) => unsafeRanges.some(([first, last]) => point >= first && point <= last))
    .map((point) => point.toString(16));
}

/** Arbitrary UTF-16 text, in which unsafe characters and their neighbours are frequent. */
const anyText = fc
  .array(
    fc.oneof(
      fc.constantFrom(...unsafeRanges.flatMap(([first, last]) => [first - 1, first, last, last + 1])),
      fc.integer({ min: 0, max: 0x10ffff }),
    ),
  )
  .map((points) => points.map((point) => String.fromCodePoint(Math.max(0, point))).join(""));

test("no unsafe character reaches a segment, and every text is read back unchanged", async (t) => {
  const home = newHome(t);
  await using store = await openStore({ home, audit: { source: "/cr\u009bib" } }, { now: tickingClock() });
  const written: string[] = [];
  await fc.assert(
    fc.asyncProperty(anyText, async (text) => {
      written.push(text);
      await store.audit.intent(
        intentOf(text, {
          tool: text,
          rule: text,
          preview: { [text]: [text] },
          client: { issuer: text, subject: text, name: text },
        }),
      );
      store.audit.record("call.completed", completionOf(text, { code: text }));
    }),
    { numRuns: runCount(200) },
  );
  await store.audit.flush();
  const content = readFileSync(join(home, "audit", "001-00000001.jsonl"), "utf8");
  assert.deepEqual(unsafeIn(content.replaceAll("\n", "")), []);
  const lines = content.trimEnd().split("\n");
  assert.equal(lines.length, 2 * written.length);
  for (const [index, text] of written.entries()) {
    const intent = JSON.parse(lines[2 * index]!);
    assert.deepEqual(
      [intent.data.callId, intent.data.tool, intent.data.client.name, intent.data.preview],
      [text, text, text, { [text]: [text] }],
    );
    assert.equal(intent.source, "/cr\u009bib");
    assert.equal(JSON.parse(lines[2 * index + 1]!).data.code, text);
  }
});

test("escapeUnsafe() escapes every unsafe character and no other", () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const escaped = escapeUnsafe(text);
      assert.deepEqual(unsafeIn(escaped), []);
      const back = escaped.replace(/\\u([0-9a-f]{4})/g, (_, digits) =>
        String.fromCharCode(parseInt(digits, 16)),
      );
      if (!text.includes("\\u")) assert.equal(back, text);
    }),
  );
});

for (const [title, text, expected] of [
  ["ordinary text in any script", "Grüße, 世界, שלום, 😀", "Grüße, 世界, שלום, 😀"],
  ["a terminal sequence", "\u001b[31mred\u001b[0m", "\\u001b[31mred\\u001b[0m"],
  ["an 8-bit control sequence introducer", "\u009b2J", "\\u009b2J"],
  ["a right-to-left override", "exe.\u202efdp", "exe.\\u202efdp"],
  ["text hidden in tags", "a\u{e0041}b", "a\\udb40\\udc41b"],
  ["half a surrogate pair", "\ud83dx\ude00", "\\ud83dx\\ude00"],
  ["line breaks", "a\r\nb\u2028c", "a\\u000d\\u000ab\\u2028c"],
] as const) {
  test(`escapeUnsafe() handles ${title}`, () => assert.equal(escapeUnsafe(text), expected));
}
