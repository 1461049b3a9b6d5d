/** The work for a text grows with its length, and hardly with the number of secrets, also for texts that are made to be slow. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { ByteScrubber, SecretScrubber } from "@toolcrib/redaction";

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

const repetitive = `${"a".repeat(1000)}Q`;
/** Texts of partial matches of `repetitive`, or of another secret, and that secret in the same encoding. */
const partialMatches: {
  readonly [title: string]: readonly [part: string, encoded: string, secret?: string];
} = {
  "plain letters": ["a", repetitive],
  hexadecimal: ["61", Buffer.from(repetitive).toString("hex")],
  "hexadecimal with colons": [
    "61:",
    Buffer.from(repetitive)
      .toString("hex")
      .replace(/..(?=.)/g, "$&:"),
  ],
  "percent-encoding": ["%61", `${"%61".repeat(1000)}%51`],
  "Unicode escapes after backslashes": [
    `${"\\".repeat(7)}u0061`,
    `${`${"\\".repeat(7)}u0061`.repeat(1000)}\\u0051`,
  ],
  "HTML entities": ["&#97;", `${"&#97;".repeat(1000)}&#81;`],
  "base64 in lines": ["Y\nW\nF\nh\n", Buffer.from(repetitive).toString("base64").replace(/./g, "$&\n")],
  "letters above 127": ["é", `${"é".repeat(1000)}b`, `${"é".repeat(1000)}b`],
  backslashes: ["\\", `${"\\".repeat(300)}b`, `${"\\".repeat(300)}b`],
};

for (const [title, [part, encoded, secret = repetitive]] of Object.entries(partialMatches)) {
  test(`the work for partial matches of a long secret in ${title} grows with the text, and the secret does not pass`, () => {
    for (const secrets of [[secret], [secret, `${secret.slice(0, -1)}R`, `${secret.slice(0, -1)}S`]]) {
      const scrubber = new SecretScrubber();
      for (const [at, one] of secrets.entries()) scrubber.learn(`s${at}`, one);
      const units = 60_000;
      const text = `before ${part.repeat(units / part.length)} between ${encoded} after`;
      const clean = scrubber.text(text);
      assert.ok(
        scrubber.steps <= 48 * text.length + 100_000,
        `${scrubber.steps / text.length} steps for each unit`,
      );
      assert.match(clean, /^before .*\[secret s\d\]$/s, "the rest of the text counts as found");
      assert.ok(clean.length < 20_000, "the parts after the place where the work ended are replaced");
      assert.ok(!clean.includes(encoded));
    }
  });
}

test("the texts of a value share the work", () => {
  const scrubber = new SecretScrubber();
  scrubber.learn("s", `${"a".repeat(300)}b`);
  const texts = Array.from({ length: 2000 }, () => "a".repeat(600));
  const clean = scrubber.value({ texts: [...texts, `${"a".repeat(300)}b`] });
  assert.equal(clean.texts.at(-1), "[secret s]");
  const units = 600 * texts.length;
  assert.ok(scrubber.steps <= 8 * units, `${scrubber.steps / units} steps for each unit`);
  assert.equal(scrubber.text("aaaaaa and more"), "aaaaaa and more", "the next text has work of its own");
});

test("a secret in hexadecimal with separators costs about a step for each byte", () => {
  const secret = "sk-Ab3dE5gH7jK9mN1pQ3sT5vW7xY9zA1cD";
  for (const separator of [":", ", ", ", 0x", "\r\n"]) {
    const scrubber = new SecretScrubber();
    scrubber.learn("s", secret);
    const encoded = `'${(Buffer.from(secret).toString("hex").match(/../g) ?? []).join(separator)}'`;
    assert.equal(scrubber.text(encoded.repeat(10_000)), "'[secret s]'".repeat(10_000));
    const perUnit = scrubber.steps / (encoded.length * 10_000);
    assert.ok(perUnit < 1, `${JSON.stringify(separator)}: ${perUnit} steps for each unit`);
  }
});

test("a body of partial matches of a long secret ends with a replacement", () => {
  for (const size of [100, 4000, 65_536]) {
    const found: string[] = [];
    const scrubber = new ByteScrubber([{ owner: "o", texts: [repetitive], replacement: "[secret s]" }]);
    const stream = scrubber.stream((owner) => found.push(owner));
    const body = Buffer.from(`before ${"61".repeat(60_000)}${Buffer.from(repetitive).toString("hex")} after`);
    const clean: Uint8Array[] = [];
    for (let at = 0; at < body.length; at += size) clean.push(...stream.push(body.subarray(at, at + size)));
    clean.push(...stream.end());
    const text = Buffer.concat(clean).toString();
    assert.match(text, /^before (?:61)+6?\[secret s\]$/);
    assert.deepEqual(found, ["o"]);
  }
});
