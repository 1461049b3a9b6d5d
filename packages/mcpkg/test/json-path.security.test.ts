/** JSONPaths, patterns and values that try to exhaust an evaluation. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonValue } from "@toolcrib/json";
import { evaluatePath } from "@toolcrib/mcpkg";
import { slowTest } from "@toolcrib/testing";

type Limits = NonNullable<Parameters<typeof evaluatePath>[2]>;

/** Checks that an evaluation ends with an error of `code` that says `reason`. */
function refuses(
  path: string,
  value: JsonValue,
  reason: RegExp,
  limits: Limits = {},
  code = "MCPKG_JSON_PATH_LIMIT",
) {
  assert.throws(() => evaluatePath(path, value, limits), { code, message: reason });
}

/** A value of 4 ** depth nodes. */
function tree(depth: number): JsonValue {
  return depth === 0 ? 1 : { a: tree(depth - 1), b: tree(depth - 1), c: tree(depth - 1), d: tree(depth - 1) };
}

describe("An evaluation ends", () => {
  test("when its steps are used up by nested searches at all depths", slowTest, () => {
    refuses("$..[?@..[?@..[?@..*]]]", tree(8), /needs more than 5000000 steps/, { nodesMaxCount: 1e9 });
    refuses("$[?count($..*) > 0]", Array(10_000).fill([1, 2, 3]), /needs more than 5000000 steps/);
  });

  test("when a list of nodes is longer than the limit", () => {
    refuses("$..*..*..*", tree(5), /needs more than 1000 nodes/, { nodesMaxCount: 1000 });
    refuses("$[*,*,*]", Array(400).fill(0), /needs more than 1000 nodes/, { nodesMaxCount: 1000 });
    refuses("$[::1,::-1,::1]", Array(400).fill(0), /needs more than 1000 nodes/, { nodesMaxCount: 1000 });
  });

  test("when its time is over", () => {
    let timeMs = 0;
    const now = () => {
      timeMs += 1;
      return timeMs;
    };
    refuses("$..[?@..x]", tree(7), /needs more than 5 ms/, { now, timeoutMs: 5 });
  });

  test("for a value that nests deeper than the stack", () => {
    let value: JsonValue = 1;
    for (let depth = 0; depth < 50_000; depth += 1) value = [value];
    assert.equal(evaluatePath("$..[?@ == 1]", value, { nodesMaxCount: 200_000 }).length, 1);
    const other = [value, [value]];
    refuses("$[?@ == $[1]]", other, /compare more than 1000 levels|steps/);
  });

  test("for a path that nests as deep as its length allows", () => {
    for (const [open, close] of [
      ["(", ")"],
      ["!(", ")"],
      ["@[?", "]"],
      ["count(@[?", "])>0"],
    ] as const) {
      const depth = Math.floor(1900 / (open.length + close.length));
      const path = `$[?${open.repeat(depth)}@.a${close.repeat(depth)}]`;
      try {
        evaluatePath(path, [{ a: 1 }]);
      } catch (thrown) {
        assert.match((thrown as { code: string }).code, /^MCPKG_JSON_PATH_/);
      }
    }
    refuses(`$${".a".repeat(1001)}`, {}, /at most 2000 characters/, {}, "MCPKG_JSON_PATH_INVALID");
  });
});

test("Members with special names are data", () => {
  const value = JSON.parse('{"__proto__": {"x": 1}, "constructor": 2}') as JsonValue;
  assert.deepEqual(
    evaluatePath("$.__proto__.x", value).map((match) => match.value),
    [1],
  );
  assert.deepEqual(evaluatePath("$.toString", value), []);
  assert.deepEqual(
    evaluatePath("$[?length(@) == 1]", value).map(({ path }) => path),
    ["$['__proto__']"],
  );
});

/** Patterns that take a backtracking engine exponential or high polynomial time on texts of many `a`. */
const catastrophic = [
  "(a+)+b",
  "(a*)*b",
  "(a|a)*b",
  "(a|aa)+b",
  "((a+)+)+b",
  "(a?){30}a{30}b",
  "(.*a){20}b",
  "(a*a*a*a*a*a*)b",
  "([a-z]+)*[0-9]",
  "(\\\\p{L}+)*\\\\.",
  "(a{1,10}){1,10}b",
  "((((a*)*)*)*)*b",
];

describe("Patterns of match() and search()", () => {
  const text = "a".repeat(5000);
  for (const pattern of catastrophic) {
    test(`run "${pattern}" in linear time`, () => {
      assert.deepEqual(evaluatePath(`$[?match(@, '${pattern}')]`, [text]), []);
      assert.deepEqual(evaluatePath(`$[?search(@, '${pattern}')]`, [text]), []);
    });
  }

  test("use steps for the length of the text and the size of the pattern", () => {
    refuses("$[?search(@, '(a{1,100}){1,10}b')]", ["a".repeat(100_000)], /needs more than 5000000 steps/);
  });

  test("are read as I-Regexp", () => {
    const rows: readonly [pattern: string, text: string, isMatch: boolean][] = [
      ["a.c", "a\nc", false],
      ["a.c", "a\rc", false],
      ["a.c", "a\u2028c", true],
      ["a.c", "a😀c", true],
      ["^ab$", "ab", true],
      ["[^a-c]", "d", true],
      ["[-a]", "-", true],
      ["[a-]", "-", true],
      ["[\\\\^\\\\]]", "]", true],
      ["a{2,}", "aaa", true],
      ["a{2,3}", "aaaa", false],
      ["(ab|)", "", true],
      ["\\\\p{Lu}", "Ä", true],
      ["\\\\P{Lu}", "Ä", false],
      ["\\\\n", "\n", true],
      ["\\\\.\\\\-", ".-", true],
      ["é", "é", true],
      ['#"/<>', '#"/<>', true],
      // No I-Regexp, so the result is false.
      ["\\\\d", "1", false],
      ["(?:a)", "a", false],
      ["a*?", "a", false],
      ["(?=a)a", "a", false],
      ["[[:alpha:]]", "a", false],
      ["\\\\p{Greek}", "α", false],
      ["a{3,2}", "aaa", false],
      ["*a", "*a", false],
      ["a)", "a)", false],
      ["(a", "(a", false],
      ["[]a]", "a", false],
      ["a**", "a", false],
      ["\\\\", "\\\\", false],
    ];
    for (const [pattern, value, isMatch] of rows) {
      const found = evaluatePath(`$[?match(@, '${pattern}')]`, [value]);
      assert.equal(found.length === 1, isMatch, pattern);
    }
  });

  test("that need more than the limits are refused, and not read as false", () => {
    refuses("$[?match(@, 'a{1001}')]", ["a"], /not supported: it repeats a part more than 1000 times/);
    refuses("$[?match(@, $[1])]", ["a", "a".repeat(1001)], /has more than 1000 characters/);
    refuses("$[?match(@, $[1])]", ["a", `${"(".repeat(200)}a${")".repeat(200)}`], /nests groups deeper/);
    refuses("$[?match(@, '((a{100}){100}){100}')]", ["a"], /not supported/);
  });
});
