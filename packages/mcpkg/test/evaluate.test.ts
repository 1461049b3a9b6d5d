/** Mappings of chains, and expectations of tests. */

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type JsonObject, type JsonValue, SchemaValidator } from "@toolcrib/json";
import { judgeResult, mapInputs, parsePackage, withDefaults } from "@toolcrib/mcpkg";
import { echoFiles } from "./sample-packages.ts";

const validator = new SchemaValidator();

describe("mapInputs()", () => {
  const scope = {
    input: { pdfPath: "/docs/report.pdf", embeddingModel: "small", none: null },
    raw_text: { content: "text", pages: [{ id: 1 }, { id: 2 }] },
  };

  /** Checks the arguments, or the messages of problems. */
  function check(
    mapping: JsonObject,
    expected: JsonObject | readonly RegExp[],
    inputSchema?: JsonObject,
  ): void {
    const mapped = mapInputs(mapping, scope, inputSchema === undefined ? {} : { inputSchema });
    if (!Array.isArray(expected)) {
      assert.deepEqual(mapped, { kind: "mapped", args: expected });
      return;
    }
    assert(mapped.kind === "failed");
    assert.equal(mapped.problems.length, expected.length);
    for (const [index, { message }] of mapped.problems.entries()) assert.match(message, expected[index]);
  }

  test("maps the steps of section 11", () => {
    check({ path: "$.input.pdfPath" }, { path: "/docs/report.pdf" });
    check({ text: "$.raw_text.content", model: "$.input.embeddingModel" }, { text: "text", model: "small" });
  });

  test("gives the value of one match and the list of several", () => {
    check({ id: "$.raw_text.pages[0].id" }, { id: 1 });
    check({ ids: "$.raw_text.pages[*].id" }, { ids: [1, 2] });
    check({ all: "$.raw_text.pages" }, { all: [{ id: 1 }, { id: 2 }] });
    check({ none: "$.input.none" }, { none: null });
  });

  test("passes literals as they are", () => {
    check(
      { text: "plain", count: 3, deep: { path: "$.input.pdfPath" }, list: ["$"], no: null },
      { text: "plain", count: 3, deep: { path: "$.input.pdfPath" }, list: ["$"], no: null },
    );
    check(JSON.parse('{"__proto__": 1}'), JSON.parse('{"__proto__": 1}'));
  });

  test("uses the default of the called tool where a path matches nothing", () => {
    const inputSchema = { properties: { limit: { type: "integer", default: 10 }, other: {} } };
    check({ limit: "$.input.limit" }, { limit: 10 }, inputSchema);
    check({ other: "$.input.other" }, [/"other" gives nothing/], inputSchema);
  });

  test("reports all mappings that give nothing", () => {
    check({ a: "$.input.a", b: "$.nothing", c: "$.input.pdfPath" }, [
      /^The mapping of "a" gives nothing: "\$\.input\.a" matches nothing in input, raw_text$/,
      /"\$\.nothing" matches nothing/,
    ]);
    check({ a: "$..[", b: "$.input[?match(@, 'a{1001}')]" }, [
      /is not a JSONPath/,
      /cannot be evaluated: .*not supported/,
    ]);
  });
});

test("withDefaults() adds defaults of absent properties, also in objects, and changes nothing in place", () => {
  const schema = {
    properties: {
      model: { default: "small" },
      options: { properties: { size: { default: 3 }, name: {} } },
      absent: { properties: { size: { default: 3 } } },
      whole: { default: { a: 1 } },
    },
  };
  const input = { options: { name: "x" }, extra: true };
  const before = structuredClone(input);
  assert.deepEqual(withDefaults(input, schema), {
    options: { name: "x", size: 3 },
    extra: true,
    model: "small",
    whole: { a: 1 },
  });
  assert.deepEqual(input, before);
  assert.deepEqual(withDefaults({ model: null }, schema)["model"], null);
});

describe("judgeResult()", () => {
  /** Checks the messages of the failures of a test, as its file has it. */
  function check(
    expectations: { readonly expected?: JsonValue; readonly assertions?: readonly object[] },
    result: JsonValue,
    messages: readonly string[],
    outputSchema: JsonObject = {},
  ): void {
    const file = { name: "a test", input: { message: "x" }, ...expectations };
    const { value, diagnostics } = parsePackage(
      echoFiles({ output_schema: outputSchema }, { "tests/echo.test.json": JSON.stringify(file) }),
      validator,
    );
    const parsed = value?.tests.get("tests/echo.test.json");
    assert(parsed !== undefined, JSON.stringify(diagnostics));
    const failures = judgeResult(result, { test: parsed, outputSchema }, { validator });
    assert.deepEqual(
      failures.map(({ message }) => message),
      messages,
    );
  }

  const charge = {
    status: "succeeded",
    currency: "eur",
    amount: 1000,
    amount_refunded: 0,
    lines: [{ id: 1 }],
  };

  test("passes the test of section 5", () => {
    check(
      {
        expected: { status: "succeeded", currency: "eur", amount: 1000 },
        assertions: [
          { path: "$.status", equals: "succeeded" },
          { path: "$.amount_refunded", equals: 0 },
        ],
      },
      charge,
      [],
    );
  });

  test("compares the expected part", () => {
    check({ expected: { amount: 1000.0, lines: [{ id: 1 }] } }, charge, []);
    check({ expected: { status: "failed", lines: [{ id: 2 }] } }, charge, [
      'expected: $.status expected "failed", got "succeeded"',
      "expected: $.lines[0].id expected 2, got 1",
    ]);
    check({ expected: { lines: [] } }, charge, [
      'expected: $.lines expected 0 items, got 1 items: [{"id":1}]',
    ]);
    check({ expected: { lines: { id: 1 } } }, charge, [
      'expected: $.lines expected {"id":1}, got [{"id":1}]',
    ]);
    check({ expected: { missing: null } }, charge, ["expected: $.missing expected null, got nothing"]);
    check({ expected: { "a b": [1] } }, { "a b": "x" }, ['expected: $["a b"] expected [1], got "x"']);
    check({ expected: { toString: 1 } }, {}, ["expected: $.toString expected 1, got nothing"]);
    check({ expected: null }, null, []);
    check({ expected: null }, 0, ["expected: $ expected null, got 0"]);
    check({ expected: { amount: "1000" } }, charge, ['expected: $.amount expected "1000", got 1000']);
  });

  test("requires every match to equal, and no match to equal", () => {
    const items = {
      items: [
        { id: 1, ok: true },
        { id: 2, ok: false },
        { id: null, ok: true },
      ],
    };
    check({ assertions: [{ path: "$.items[0].ok", equals: true }] }, items, []);
    check({ assertions: [{ path: "$.items[2].id", equals: null }] }, items, []);
    check({ assertions: [{ path: "$.items[*].ok", equals: true }] }, items, [
      "assertions: $.items[*].ok expected true, got false at $['items'][1]['ok']",
    ]);
    check({ assertions: [{ path: "$.items[0]", equals: { ok: true, id: 1 } }] }, items, []);
    check({ assertions: [{ path: "$.none", equals: null }] }, items, [
      "assertions: $.none expected null, got no match",
    ]);
    check({ assertions: [{ path: "$.items[*].id", notEquals: 3 }] }, items, []);
    check({ assertions: [{ path: "$.items[*].id", notEquals: null }] }, items, [
      "assertions: $.items[*].id expected anything but null, got null at $['items'][2]['id']",
    ]);
    check({ assertions: [{ path: "$.none", notEquals: 1 }] }, items, []);
  });

  test("reads exists and notExists both ways", () => {
    const rows: readonly [assertion: object, passes: boolean][] = [
      [{ path: "$.status", exists: true }, true],
      [{ path: "$.none", exists: true }, false],
      [{ path: "$.status", exists: false }, false],
      [{ path: "$.none", exists: false }, true],
      [{ path: "$.status", notExists: true }, false],
      [{ path: "$.none", notExists: true }, true],
      [{ path: "$.status", notExists: false }, true],
      [{ path: "$.none", notExists: false }, false],
      [{ path: "$.nothing", exists: true }, true],
    ];
    for (const [assertion, passes] of rows) {
      const messages = passes
        ? []
        : [
            (assertion as { path: string }).path === "$.none"
              ? "assertions: $.none expected a match, got no match"
              : 'assertions: $.status expected no match, got "succeeded"',
          ];
      check({ assertions: [assertion] }, { ...charge, nothing: null }, messages);
    }
  });

  test("requires the result to match the output schema", () => {
    const outputSchema = {
      type: "object",
      properties: { lines: { items: { properties: { id: { type: "string" } } } } },
      required: ["total"],
    };
    check(
      {},
      charge,
      [
        'output_schema: $ expected to have required property \'total\', got {"status":"succeeded","currency":"eur","amount":1000,"amount_refunded":0,"lines":[{"id":1}]}',
        "output_schema: $.lines[0].id expected to be string, got 1",
      ],
      outputSchema,
    );
  });

  test("limits the number and the length of failures", () => {
    const expected = Array.from({ length: 100 }, () => "x".repeat(1000));
    const failures = judgeResult(
      Array(100).fill("y"),
      { test: { expected }, outputSchema: {} },
      { validator },
    );
    assert.equal(failures.length, 20);
    for (const { message } of failures) assert(message.length < 500);
  });

  test("the assertions of a test share limits", () => {
    const value = Array.from({ length: 1000 }, (_one, at) => at);
    const assertions = Array.from({ length: 100 }, () => ({ path: "$[?@ == 1]", equals: 1 }));
    const judged = (count: number) =>
      judgeResult(
        value,
        { test: { assertions: assertions.slice(0, count) }, outputSchema: {} },
        { validator, limits: { stepsMaxCount: 50_000 } },
      );
    assert.deepEqual(judged(1), []);
    assert.match(judged(100)[0]?.message ?? "", /needs more than 50000 steps/);
  });

  test("reports an assertion that needs more than the limits", () => {
    const assertions = [{ path: "$[?match(@, 'a{1001}')]", exists: true }];
    const [failure] = judgeResult(["a"], { test: { assertions }, outputSchema: {} }, { validator });
    assert.match(failure?.message ?? "", /expected a path that can be evaluated, got .*not supported/);
  });
});
