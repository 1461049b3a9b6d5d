/** Every encoding of a secret is recognized in texts and in streams, wherever a stream is cut. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ByteScrubber, SecretScrubber } from "@toolcrib/redaction";
import { fastSample, runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { encodings } from "./encodings.ts";

const secrets: readonly string[] = [
  "sk_live_4eC39HqLyjWDarjt",
  'Pa"ss/w+o=r\\d&<é> %1 x',
  "abcdef",
  "naïve-ключ-密码-🔑-end",
];

const around = ["before\n(", ")\nafter"] as const;

function createTextScrubber(secret: string): SecretScrubber {
  const scrubber = new SecretScrubber();
  scrubber.learn("s", secret);
  return scrubber;
}

function scrubText(secret: string, text: string): string {
  return createTextScrubber(secret).text(text);
}

function scrubStream(scrubber: ByteScrubber<string>, pieces: readonly Uint8Array[]): string {
  const found: string[] = [];
  const stream = scrubber.stream((owner) => found.push(owner));
  const passed = [...pieces.flatMap((piece) => stream.push(piece)), ...stream.end()];
  const text = Buffer.concat(passed).toString();
  assert.equal(found.length, text.split("[secret s]").length - 1);
  return text;
}

function createByteScrubber(secret: string): ByteScrubber<string> {
  return new ByteScrubber([{ owner: "s", texts: [secret], replacement: "[secret s]" }]);
}

/** Asserts that nothing of `encoded` remains in `shown` but characters at its edges. */
function assertRedacted(shown: string, encoded: string, extent: "whole" | "within"): void {
  if (extent === "whole") {
    assert.equal(shown, `${around[0]}[secret s]${around[1]}`);
    return;
  }
  assert.match(shown, /\[secret s\]/);
  const middle = Math.floor(encoded.length / 2);
  assert.ok(!shown.includes(encoded.slice(middle - 4, middle + 4)), shown);
}

const scrubbers = secrets.map((secret) => ({
  secret,
  texts: createTextScrubber(secret),
  scrubber: createByteScrubber(secret),
}));

for (const { title, encode, extent } of encodings) {
  test(`a secret ${title} is replaced in texts, and in streams cut at every byte`, () => {
    for (const { secret, texts, scrubber } of scrubbers) {
      const encoded = encode(secret);
      const text = around.join(encoded);
      assertRedacted(texts.text(text), encoded, extent);
      const bytes = Buffer.from(text);
      for (const cut of fastSample(Array.from({ length: bytes.length + 1 }, (_, at) => at))) {
        assertRedacted(scrubStream(scrubber, [bytes.subarray(0, cut), bytes.subarray(cut)]), encoded, extent);
      }
      assertRedacted(
        scrubStream(
          scrubber,
          Array.from(bytes, (byte) => Uint8Array.of(byte)),
        ),
        encoded,
        extent,
      );
    }
  });
}

test("a secret in UTF-16 of either byte order is replaced in streams", () => {
  const [secret = ""] = secrets;
  const scrubber = createByteScrubber(secret);
  for (const text of [`it is ${secret}.`, `it is ${secret.toUpperCase()}.`]) {
    const little = Buffer.from(text, "utf16le");
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      for (let cut = 0; cut <= bytes.length; cut += 1) {
        const shown = scrubStream(scrubber, [bytes.subarray(0, cut), bytes.subarray(cut)]);
        assert.equal(shown.split("[secret s]").length, 2);
        assert.equal(shown.length, "it is .".length * 2 + "[secret s]".length);
      }
    }
  }
});

test("a secret in any mix of encodings of its characters is replaced", () => {
  const unit = fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code));
  const secret = fc
    .string({ unit, minLength: 6, maxLength: 30 })
    .filter((text) => !/\\\\|^\\|\\$/.test(text));
  const escapes: readonly ((character: string, code: string) => string)[] = [
    (one) => one,
    (one) => one.toUpperCase(),
    (_, code) => `%${code}`,
    (_, code) => `%25${code.toUpperCase()}`,
    (_, code) => `\\u00${code}`,
    (_, code) => `\\\\u00${code}`,
    (_, code) => `&#x${code};`,
    (_, code) => `&#000${Number.parseInt(code, 16)};`,
    (one) => (/[A-Za-z0-9]/.test(one) ? one : `\\${one}`),
  ];
  const choices = fc.array(fc.nat(escapes.length - 1), { minLength: 30, maxLength: 30 });
  const cuts = fc.array(fc.integer({ min: 1, max: 20 }), { maxLength: 5 });
  fc.assert(
    fc.property(secret, choices, cuts, (text, choice, lengths) => {
      const written = Array.from(text, (one, at) =>
        escapes[choice[at] ?? 0]?.(one, one.charCodeAt(0).toString(16).padStart(2, "0")),
      ).join("");
      const whole = `before\n${written}\nafter`;
      assert.equal(scrubText(text, whole), "before\n[secret s]\nafter");
      let rest = Buffer.from(whole);
      const pieces = lengths.map((length) => {
        const piece = rest.subarray(0, length);
        rest = rest.subarray(length);
        return piece;
      });
      assert.equal(scrubStream(createByteScrubber(text), [...pieces, rest]), "before\n[secret s]\nafter");
    }),
    { numRuns: runCount(500) },
  );
});

describe("data without a secret", () => {
  const scrubber = new SecretScrubber();
  for (const secret of secrets) scrubber.learn("s", secret);
  const bytes = new ByteScrubber(secrets.map((one) => ({ owner: "s", texts: [one], replacement: "x" })));

  const size = runCount(1 << 20);

  /** Random data, the same in each run: a megabyte, and less with `--fast`. */
  function randomBytes(seed: number): Buffer {
    let state = seed;
    return Buffer.from(
      Uint8Array.from({ length: size }, () => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
        return state >>> 24;
      }),
    );
  }

  const data: readonly (readonly [title: string, text: () => string])[] = [
    ["random bytes", () => randomBytes(1).toString("latin1")],
    [
      "random hexadecimal",
      () =>
        randomBytes(2)
          .subarray(size / 2)
          .toString("hex"),
    ],
    ["random base64", () => randomBytes(3).toString("base64")],
    ["wrapped base64", () => randomBytes(4).toString("base64").replace(/.{76}/g, "$&\r\n")],
    [
      "random hexadecimal with colons",
      () =>
        randomBytes(5)
          .subarray(size / 2)
          .toString("hex")
          .replace(/..(?=.)/g, "$&:"),
    ],
    [
      "random percent-encoding",
      () =>
        randomBytes(6)
          .subarray(size / 2)
          .toString("hex")
          .replace(/../g, "%$&"),
    ],
    [
      "indented JSON",
      () =>
        JSON.stringify(
          Array.from(randomBytes(7).subarray(0, 50_000), (id) => ({ id, name: `n-${id}` })),
          null,
          2,
        ),
    ],
    ["random UTF-16", () => randomBytes(8).toString("utf16le").toWellFormed()],
    [
      "escapes",
      () =>
        randomBytes(9)
          .subarray(size / 2)
          .toString("hex")
          .replace(/..../g, "\\u$&"),
    ],
  ];
  for (const [title, make] of data) {
    test(`a megabyte of ${title} stays as it is`, () => {
      const text = make();
      assert.equal(scrubber.text(text), text);
      const whole = Buffer.from(text);
      const stream = bytes.stream(() => assert.fail("a secret was found"));
      const passed: Uint8Array[] = [];
      for (let at = 0; at < whole.length; at += 10_007)
        passed.push(...stream.push(whole.subarray(at, at + 10_007)));
      passed.push(...stream.end());
      assert.ok(Buffer.concat(passed).equals(whole));
    });
  }

  test("a secret of fewer than six characters is left alone", () => {
    assert.equal(scrubText("short", "short, shorter"), "short, shorter");
    assert.equal(scrubStream(createByteScrubber("short"), [Buffer.from("short")]), "short");
    assert.equal(scrubText("longer", "longer"), "[secret s]");
  });

  test("a near miss is left alone", () => {
    const [secret = ""] = secrets;
    for (const text of [
      secret.slice(1),
      secret.slice(0, -1),
      `${secret.slice(0, 8)} ${secret.slice(8)}`,
      secret.replace("_", "-"),
    ]) {
      assert.equal(scrubText(secret, text), text);
      assert.equal(scrubStream(createByteScrubber(secret), [Buffer.from(text)]), text);
    }
  });
});

describe("a stream", () => {
  test("is passed on without a copy when it has no secret", () => {
    const stream = createByteScrubber("s3cret-value").stream(() => {});
    const piece = Buffer.from("nothing to find here, and more than one stride of it");
    const [first, ...others] = stream.push(piece);
    assert.equal(first, piece);
    assert.equal(others.length, 0);
  });

  test("holds back the beginning of a secret only", () => {
    const stream = createByteScrubber("s3cret-value").stream(() => {});
    assert.equal(Buffer.concat([...stream.push(Buffer.from("before s3cr"))]).toString(), "before ");
    assert.equal(stream.canRelease, false);
    assert.equal(Buffer.concat([...stream.push(Buffer.from("umpet"))]).toString(), "s3crumpet");
  });

  test("that stalls releases up to three letters, and still replaces the rest of a secret", () => {
    const stream = createByteScrubber("s3cret-value").stream(() => {});
    assert.equal(Buffer.concat([...stream.push(Buffer.from("before s3c"))]).toString(), "before ");
    assert.equal(stream.canRelease, true);
    assert.equal(Buffer.from(stream.release()).toString(), "s3c");
    assert.equal(stream.canRelease, false);
    const rest = [...stream.push(Buffer.from("ret-value after")), ...stream.end()];
    assert.equal(Buffer.concat(rest).toString(), "[secret s] after");
  });

  test("holds back at most the longest spelling of a secret", () => {
    const stream = createByteScrubber("s3cret-value").stream(() => {});
    let held = 0;
    let most = 0;
    for (let at = 0; at < 20_000; at += 1) {
      const length = Buffer.concat([...stream.push(Buffer.from("\\"))]).length;
      held += 1 - length;
      most = Math.max(most, held);
    }
    assert.ok(most < 500, String(most));
  });
});
