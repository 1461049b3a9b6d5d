import assert from "node:assert/strict";
import { test } from "node:test";
import { importOpenapi } from "@toolcrib/openapi";
import { anyCharacter, runCount } from "@toolcrib/testing";
import fc from "fast-check";
import { importText } from "./check-import.ts";

/** Returns a document whose only operation takes an object with an example, written in `yaml`. */
function withExample(yaml: string): string {
  const lines = yaml.replace(/^/gm, "            ");
  return `openapi: 3.0.3
info: {title: Demo}
servers: [{url: "https://api.example.com"}]
paths:
  /x:
    post:
      requestBody:
        content:
          application/json:
           schema: {type: object, properties: {a: {}, b: {}}}
           example:
${lines}
`;
}

/** Returns the value of the example in the imported toolspec. */
async function exampleOf(text: string): Promise<unknown> {
  const { value, diagnostics } = await importText(text);
  assert.ok(value, diagnostics.map(({ message }) => message).join("; "));
  return value.toolspec.tools[0]?.examples?.[0]?.args["a"];
}

/** Checks the value of the text after `a:`. */
function checkText(yaml: string, expected: string) {
  test(`YAML reads ${JSON.stringify(yaml)} as ${JSON.stringify(expected)}`, async () => {
    assert.equal(await exampleOf(withExample(`a:${yaml}\nb: end`)), expected);
  });
}

checkText(" plain", "plain");
checkText(" plain # comment", "plain");
checkText(" plain#no comment", "plain#no comment");
checkText(" http://x.example:80/a?b=c", "http://x.example:80/a?b=c");
checkText(" one\n  two\n\n  three", "one two\nthree");
checkText("\n  below", "below");
checkText(" 'it''s'", "it's");
checkText(" 'one\n  two\n\n  three'", "one two\nthree");
checkText(' "a\\tb\\u00e9\\x41\\\\"', "a\tbéA\\");
checkText(' "one\\\n    two\n  three\\n"', "onetwo three\n");
checkText(' "a # b: c"', "a # b: c");
checkText(" |\n  one\n   two\n\n  three\n", "one\n two\n\nthree\n");
checkText(" |-\n  one\n  # no comment\n", "one\n# no comment");
checkText(" |+\n  one\n\n", "one\n\n\n");
checkText(" |2\n    one\n", "  one\n");
checkText(" >\n  one\n  two\n\n  three\n    four\n  five\n", "one two\nthree\n  four\nfive\n");
checkText(" >-\n\n  one\n  two", "\none two");
checkText(" on", "on");
checkText(" 010", "10");
checkText(" -x", "-x");
checkText(" ?x", "?x");
checkText(" :x", ":x");
checkText(" 1.2.3", "1.2.3");
checkText(" TRUE", "true");
checkText(" ~x", "~x");
checkText(" 'yes' ", "yes");

/** Checks that several spellings of the whole example are read as the same value. */
function checkSame(...spellings: readonly string[]) {
  for (const yaml of spellings.slice(1)) {
    test(`YAML reads ${JSON.stringify(yaml)} as ${JSON.stringify(spellings[0])}`, async () => {
      const read = async (text: string) => {
        const { value, diagnostics } = await importText(
          withExample(text).replace("{a: {}, b: {}}", "{a: {type: object}}"),
        );
        assert.ok(value, diagnostics.map(({ message }) => message).join("; "));
        return value.toolspec.tools[0]?.examples?.[0]?.args;
      };
      assert.deepEqual(await read(yaml), await read(spellings[0] ?? ""));
    });
  }
}

checkSame(
  "a: {x: [1, 2], y: {z: null}}",
  "a:\n  x:\n  - 1\n  - 2\n  y:\n    z:",
  "a:\n  x:\n    - 1\n\n    # comment\n    - 2\n  y:\n    z: ~",
  'a: {"x": [1,\n   2], # comment\n "y": {z: }}',
  "a:\n  ? x\n  : - 1\n    - 2\n  ? y\n  : z: null",
  "a: {x: &list [1, 2], y: {z: null}}",
  "\"a\":\n  'x': [ 1, 2, ]\n  y: { z: Null }",
);
checkSame(
  "a: {x: [[1], [2, {y: 3}], {z: 4}]}",
  "a:\n  x:\n    - - 1\n    - - 2\n      - y: 3\n    - z: 4",
  "a: {x: [[1], [2, y: 3], z: 4]}",
);
checkSame(
  "a: {x: {k: 1, m: 2}, y: {k: 1, m: 3}}",
  "a:\n  x: &base\n    k: 1\n    m: 2\n  y:\n    <<: *base\n    m: 3",
);
checkSame("a: {x: [{k: 1}, {k: 1}]}", "a: {x: [&one {k: 1}, *one]}");

/** Checks that a text is refused, with the line and column of the fault. */
function checkFault(text: string, place: string) {
  test(`a document is refused: ${JSON.stringify(text.slice(0, 60))}`, async () => {
    const { value, diagnostics } = await importText(text);
    assert.equal(value, undefined);
    const [first] = diagnostics;
    const before = first?.source?.text.slice(0, first.span?.start) ?? "";
    const line = before.split("\n").length;
    assert.equal(`${first?.code} ${line}:${before.length - before.lastIndexOf("\n")}`, place);
  });
}

checkFault("", "OPENAPI_SYNTAX 1:1");
checkFault("# nothing\n", "OPENAPI_SYNTAX 1:1");
checkFault("just a text", "OPENAPI_SYNTAX 1:1");
checkFault("- a list", "OPENAPI_SYNTAX 1:1");
checkFault("a: 1\n b: 2", "OPENAPI_SYNTAX 2:3");
checkFault("a: b: c", "OPENAPI_SYNTAX 1:5");
checkFault("a: [1, 2", "OPENAPI_SYNTAX 1:8");
checkFault('a: "x', "OPENAPI_SYNTAX 1:4");
checkFault('a: "\\q"', "OPENAPI_SYNTAX 1:4");
checkFault("a: 1\n\tb: 2", "OPENAPI_SYNTAX 2:3");
checkFault("a: !!str 1", "OPENAPI_SYNTAX 1:4");
checkFault("a: *b", "OPENAPI_SYNTAX 1:4");
checkFault("a: &b {c: *b}", "OPENAPI_SYNTAX 1:11");
checkFault("a: 1\n---\nb: 2", "OPENAPI_SYNTAX 2:1");
checkFault("a: @x", "OPENAPI_SYNTAX 1:4");
checkFault("a: {b: 1} c", "OPENAPI_SYNTAX 1:11");
checkFault('{"a": 1,}', "OPENAPI_SYNTAX 1:9");
checkFault('{"a": 01}', "OPENAPI_SYNTAX 1:8");
checkFault('{"a": 1} 2', "OPENAPI_SYNTAX 1:10");
checkFault(`a: ${"[".repeat(1000)}`, "OPENAPI_TOO_LARGE 1:203");
checkFault("[".repeat(1_000_000), "OPENAPI_TOO_LARGE 1:201");
checkFault("swagger: '2.0'\npaths: {}", "OPENAPI_VERSION 1:1");
checkFault("openapi: 4.0.0\npaths: {}", "OPENAPI_VERSION 1:1");

test("the same document in JSON, in YAML, and with CRLF line ends produces the same toolspec", async () => {
  const text = withExample("a: {x: [1, é]}");
  const json = JSON.stringify({
    openapi: "3.0.3",
    info: { title: "Demo" },
    servers: [{ url: "https://api.example.com" }],
    paths: {
      "/x": {
        post: {
          requestBody: {
            content: {
              "application/json": {
                schema: { type: "object", properties: { a: {}, b: {} } },
                example: { a: { x: [1, "é"] } },
              },
            },
          },
        },
      },
    },
  });
  const [one, two, three] = await Promise.all(
    [text, json, `\ufeff${text.replaceAll("\n", "\r\n")}`].map((each) => importText(each)),
  );
  assert.ok(one?.value);
  assert.equal(two?.value?.toolspecText, one.value.toolspecText);
  assert.equal(three?.value?.toolspecText, one.value.toolspecText);
});

test("the import throws for no text, and for no document with a part removed or repeated", async () => {
  const sound = withExample('a: |\n  x\nb: {c: [&d "e", *d]}');
  const stretch = fc.tuple(fc.nat(sound.length), fc.nat(40), fc.boolean());
  const changed = stretch.map(([at, length, isDoubled]) =>
    isDoubled ? sound.slice(0, at + length) + sound.slice(at) : sound.slice(0, at) + sound.slice(at + length),
  );
  const any = fc.oneof(
    changed,
    fc.string({ unit: anyCharacter(fc), maxLength: 60 }),
    fc.string({ unit: fc.constantFrom(..."{}[]:,-?&*#|>'\"\n\t ax") }),
  );
  await fc.assert(
    fc.asyncProperty(any, async (text) => {
      const { value, diagnostics } = await importOpenapi({ name: "any", text });
      assert.ok(value !== undefined || diagnostics.length > 0);
    }),
    { numRuns: runCount(1500) },
  );
});
