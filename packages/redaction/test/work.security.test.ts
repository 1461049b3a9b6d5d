/** The work for a text grows with its length, and hardly with the number of secrets, also for texts that are made to be slow. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { SecretScrubber } from "@toolcrib/redaction";

/** Random secrets with a common prefix. */
function secretsOf(count: number): readonly string[] {
  let state = 7;
  const random = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  const random36 = (): string =>
    Array.from({ length: 36 }, () => letters.charAt(Math.floor(random() * letters.length))).join("");
  return Array.from({ length: count }, () => `ghp_${random36()}`);
}

function scrubberOf(count: number): SecretScrubber {
  const scrubber = new SecretScrubber();
  for (const [at, secret] of secretsOf(count).entries()) scrubber.learn(`s${at}`, secret);
  return scrubber;
}

const base64 = btoa("ghp_");
/** Texts that repeat the beginning of a secret, or of an escape. */
const attacks: { readonly [title: string]: (length: number) => string } = {
  backslashes: (length) => "\\".repeat(length),
  "Unicode escapes of the prefix": (length) => "\\u0067\\u0068\\u0070".repeat(length / 18),
  "a Unicode escape after eight backslashes": (length) => `${"\\".repeat(8)}u0067`.repeat(length / 13),
  "the prefix after eight backslashes for each letter": (length) =>
    Array.from("ghp", (one) => `${"\\".repeat(8)}u00${one.charCodeAt(0).toString(16)}`)
      .join("")
      .repeat(length / 39),
  "percent signs": (length) => "%".repeat(length),
  "escaped percent signs": (length) => "%25".repeat(length / 3),
  "percent signs that are escaped many times": (length) => `%${"25".repeat(length / 2)}`,
  "percent-encoding of the prefix": (length) => "%67%68%70".repeat(length / 9),
  "incomplete entities": (length) => "&amp;#000".repeat(length / 9),
  "entities of the first letter": (length) => "&#x67;".repeat(length / 6),
  ampersands: (length) => "&".repeat(length),
  "the prefix": (length) => "ghp_".repeat(length / 4),
  "the prefix reversed": (length) => "_phg".repeat(length / 4),
  "base64 of the prefix": (length) => base64.slice(0, 5).repeat(length / 5),
  "base64 of the prefix with padding": (length) => base64.repeat(length / base64.length),
  "base64 of the repeated prefix, in lines": (length) =>
    btoa("ghp_".repeat((length * 3) / 16)).replace(/.{76}/g, "$&\n"),
  "base64 of the prefix, each character in a line": (length) =>
    Array.from(base64.slice(0, 5))
      .join("\n    ")
      .concat("\n")
      .repeat(length / 26),
  "hexadecimal of the prefix": (length) => "6768705f".repeat(length / 8),
  "hexadecimal of the prefix with separators": (length) => "67, 0x68, 0x70, 0x5f, 0x".repeat(length / 24),
  spaces: (length) => " ".repeat(length),
  "a letter and white space": (length) => `Z${"\n".repeat(2)}${" ".repeat(17)}`.repeat(length / 20),
  "line breaks": (length) => "\r\n".repeat(length / 2),
  padding: (length) => "Z2hw====".repeat(length / 8),
};

const length = 1 << 16;
/** The steps of one text at most, for each of its units. A step takes a few nanoseconds. */
const maxStepsPerUnit = 16;

for (const [title, make] of Object.entries(attacks)) {
  test(`the work for a text of ${title} is bounded`, () => {
    for (const [count, factor] of [
      [1, 1],
      [10, 2],
      [100, 2],
    ] as const) {
      const stepsFor = (text: string): number => {
        const scrubber = scrubberOf(count);
        assert.equal(scrubber.text(text), text);
        return scrubber.steps;
      };
      const steps = stepsFor(make(length));
      const doubled = stepsFor(make(2 * length));
      assert.ok(
        steps <= factor * maxStepsPerUnit * length,
        `${count} secrets: ${steps / length} steps for each unit`,
      );
      assert.ok(
        doubled <= 3 * steps + 100,
        `${count} secrets: ${steps} steps, ${doubled} for the double length`,
      );
    }
  });
}

test("the work for many secrets in a list of texts grows with their number", () => {
  const [secret = ""] = secretsOf(1);
  const stepsFor = (count: number): number => {
    const scrubber = scrubberOf(1);
    const items = Array.from({ length: count }, () => ({ type: "text", text: `a ${secret} b` }));
    const scrubbed = scrubber.value(items);
    assert.ok(scrubbed.every(({ text }) => text === "a [secret s0] b"));
    return scrubber.steps;
  };
  const steps = stepsFor(1000);
  assert.ok(stepsFor(4000) <= 5 * steps);
});

test("the work for a text of many secrets grows with their number", () => {
  const [secret = ""] = secretsOf(1);
  const stepsFor = (count: number): number => {
    const scrubber = scrubberOf(1);
    assert.equal(scrubber.text(`${secret} `.repeat(count)), "[secret s0] ".repeat(count));
    return scrubber.steps;
  };
  const steps = stepsFor(1000);
  assert.ok(stepsFor(4000) <= 5 * steps);
});
