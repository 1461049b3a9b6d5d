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
});
