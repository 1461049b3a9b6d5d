import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { jsonModule, toolDialect, type Value } from "@toolcrib/starlark";
import { runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { execute } from "../execute.ts";

/** The result of `expression` for a string `text`. */
async function evaluate(expression: string, text: string): Promise<Value> {
  const predeclared = new Map<string, Value>([
    ["json", jsonModule],
    ["text", text],
  ]);
  const outcome = await execute(
    { name: "law.star", text: `return ${expression}` },
    { dialect: toolDialect, predeclared },
  );
  if (outcome.kind === "done") return outcome.value;
  throw new Error(outcome.kind === "failed" ? outcome.error.message : outcome.kind);
}

/** JSON data without floats, which JavaScript and Starlark write differently. */
const data = fc
  .jsonValue({ depthSize: "medium" })
  .filter((value) => !/\d[.eE]\d|-0\b/.test(JSON.stringify(value)));

suite("JSON texts and values", () => {
  test("decoded data is encoded as the same data", async () => {
    const law = fc.asyncProperty(data, async (value) => {
      const written = await evaluate("json.encode(json.decode(text))", JSON.stringify(value));
      assert.deepEqual(JSON.parse(String(written)), JSON.parse(JSON.stringify(value)));
    });
    await fc.assert(law, { numRuns: runCount(300) });
  });

  test("indentation changes only white space", async () => {
    const law = fc.asyncProperty(data, async (value) => {
      const laidOut = await evaluate('json.indent(text, prefix="", indent="  ")', JSON.stringify(value));
      assert.equal(laidOut, JSON.stringify(value, undefined, 2));
    });
    await fc.assert(law, { numRuns: runCount(300) });
  });

  test("a text is accepted if and only if it is JSON", async () => {
    const pieces = fc.constantFrom(
      ..."[]{}:,\"\\ \n\t0123456789.-+eEu/'".split(""),
      ...[
        "true",
        "false",
        "null",
        '"a"',
        "\\u00e9",
        "\\ud800",
        "é",
        "\u0000",
        "\u001f",
        "1.5",
        "-0",
        "01",
        "1e5",
      ],
    );
    // A number beyond the range of doubles is valid JSON, but decode rejects it.
    const texts = fc
      .array(pieces, { maxLength: 12 })
      .map((parts) => parts.join(""))
      .filter((text) => !/[eE]\+?\d{3}/.test(text));
    const law = fc.asyncProperty(texts, async (text) => {
      let valid = true;
      try {
        JSON.parse(text);
      } catch {
        valid = false;
      }
      const accepted = await evaluate(
        "attempt(json.decode, text).ok and attempt(json.indent, text).ok",
        text,
      );
      const refused = await evaluate(
        "not attempt(json.decode, text).ok and not attempt(json.indent, text).ok",
        text,
      );
      assert.deepEqual([accepted, refused], [valid, !valid], JSON.stringify(text));
    });
    await fc.assert(law, { numRuns: runCount(2000) });
  });

  test("objects with and without common keys are decoded and encoded alike", async () => {
    // JSON.parse of V8 confuses some keys that are a single escape.
    const key = fc.constantFrom("a", "b", "id", "é", "€", "__proto__", 'q"', "b\\", "n\n", "\u0000z", "");
    const record = fc.uniqueArray(key, { maxLength: 4 });
    const shapes = fc.array(record, { minLength: 1, maxLength: 3 });
    const texts = shapes.chain((keys) =>
      fc.array(fc.tuple(fc.constantFrom(...keys), fc.option(key), fc.string({ maxLength: 3 })), {
        maxLength: 12,
      }),
    );
    const law = fc.asyncProperty(texts, async (objects) => {
      const text = `[${objects
        .map(([keys, extra, value]) => {
          const all = extra === null ? keys : [...keys, extra];
          return `{${all.map((name, at) => `${JSON.stringify(name)}: ${at === 1 ? "{}" : JSON.stringify(value)}`).join(", ")}}`;
        })
        .join(",")}]`;
      const written = String(await evaluate("json.encode(json.decode(text))", text));
      assert.deepEqual(JSON.parse(written), JSON.parse(text), text);
      const order = await evaluate("json.encode([list(x.keys()) for x in json.decode(text)])", text);
      const expected = (JSON.parse(text) as object[]).map((each) => Object.keys(each));
      assert.deepEqual(JSON.parse(String(order)), expected, text);
      assert.equal(await evaluate("json.encode(json.decode(text))", written), written);
    });
    await fc.assert(law, { numRuns: runCount(500) });
  });

  test("strings of all lengths are decoded and encoded exactly", async () => {
    const unit = fc.constantFrom(
      "x",
      "x",
      "x",
      "x",
      "é",
      "€",
      "😀",
      "\n",
      '"',
      "\\",
      "\u001f",
      "/",
      "\ud800",
    );
    const law = fc.asyncProperty(fc.string({ unit, maxLength: 60 }), async (string) => {
      const wellFormed = string.toWellFormed();
      const decoded = await evaluate("json.decode(text)", JSON.stringify(wellFormed));
      assert.equal(decoded, wellFormed);
      assert.equal(await evaluate("json.encode(text)", string), JSON.stringify(wellFormed));
    });
    await fc.assert(law, { numRuns: runCount(500) });
  });

  test("numbers are the nearest doubles, and ints are exact", async () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 25 });
    const numbers = fc.tuple(fc.boolean(), digits, fc.option(digits)).map(([negative, whole, fraction]) => {
      const int = whole.replace(/^0+(?=\d)/, "");
      return `${negative ? "-" : ""}${int}${fraction === null ? "" : `.${fraction}`}`;
    });
    const law = fc.asyncProperty(numbers, async (text) => {
      const decoded = await evaluate("str(json.decode(text))", text);
      if (text.includes(".")) assert.equal(Number(decoded), Number(text), text);
      else assert.equal(BigInt(String(decoded)), BigInt(text), text);
    });
    await fc.assert(law, { numRuns: runCount(1000) });
  });

  test("floats are encoded with the digits of the shortest decimal", async () => {
    const floats = fc.oneof(
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.float({ noNaN: true, noDefaultInfinity: true, min: -2e6, max: 2e6 }),
    );
    const law = fc.asyncProperty(floats, async (x) => {
      const written = String(await evaluate("json.encode(float(text))", String(x + 0)));
      assert.equal(Number(written), x + 0);
      const exponent = Number(x.toExponential().split("e")[1]);
      assert.equal(written.includes("e"), x !== 0 && (exponent < -4 || exponent >= 6), written);
      assert.ok(/[.e]/.test(written), written);
    });
    await fc.assert(law, { numRuns: runCount(500) });
  });
});
