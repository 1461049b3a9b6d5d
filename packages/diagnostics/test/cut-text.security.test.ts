/** Texts are cut so that nothing of a secret is left at the cut, also where the secrets before it are removed. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { cutText } from "@toolcrib/diagnostics";

/** Returns a text of `length` characters of which no part repeats. */
function secretOf(length: number): string {
  let text = "";
  for (let at = 0; text.length < length; at += 1) text += `${at.toString(36)}.`;
  return text.slice(0, length);
}

/** Checks what is left of `text` when `secret` is removed and the rest is cut. */
function check(secret: string, text: string, maxLength: number, expected: string, isBeginning = false): void {
  const scrub = (given: string) => given.replaceAll(secret, "[s]");
  const cut = cutText(text, maxLength, scrub, { isBeginning });
  assert.equal(cut.length > 100 ? `${cut.length} characters` : cut, expected);
}

test("cutText() leaves nothing of a secret that the end of the searched part divides", () => {
  for (const [length, times, expected] of [
    [400_000, 2, ""],
    [20_000, 40, ""],
    [3_200, 400, "[s]\n[s]\n"],
  ] as const) {
    const secret = secretOf(length);
    check(secret, `${secret}\n`.repeat(times), 8192, expected);
  }
});

test("cutText() leaves nothing of a secret that the cut divides", () => {
  const secret = secretOf(3_200);
  check(secret, `before ${secret}${"x".repeat(1_000_000)}`, 100, "before ");
  check(secret, `before ${secret} after ${"x".repeat(10)}`, 100, "before [s] after xxxxxxxxxx");
});

test("cutText() leaves nothing of a secret that the end of a beginning divides", () => {
  const secret = secretOf(3_200);
  const text = `${secret}\n`.repeat(3) + secret.slice(0, 50);
  check(secret, text, 200, "", true);
  check(secret, text, 5000, "[s]\n", true);
});

test("cutText() keeps as much as allowed of a text without secrets, and no half of a character", () => {
  const secret = secretOf(3_200);
  for (const isBeginning of [false, true]) {
    check(secret, "x".repeat(2_000_000), 8192, "8192 characters", isBeginning);
    check(secret, `ab\u{1f600}${"x".repeat(2_000_000)}`, 3, "ab\ufffd", isBeginning);
  }
  check(secret, "short", 5, "short");
});
