import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { signatureOf } from "@toolcrib/discovery";
import type { JsonObject } from "@toolcrib/json";

function check(inputSchema: JsonObject, expected: string, outputSchema?: JsonObject): void {
  assert.equal(signatureOf({ name: "t", inputSchema, outputSchema }), expected);
}

describe("signatureOf()", () => {
  it("writes required arguments first, with their types", () => {
    check({ type: "object" }, "t()");
    check(
      { properties: { b: { type: "integer" }, a: { type: "string" } }, required: ["a"] },
      "t(a: string, b?: integer)",
    );
    check({ properties: { a: { type: "array", items: { type: "string" } } } }, "t(a?: string[])");
    check({ properties: { a: { type: ["string", "null"] } } }, "t(a?: string | null)");
    check({ properties: { a: { type: "array", items: { enum: ["x", 1] } } } }, 't(a?: ("x" | 1)[])');
    check({ properties: { a: { const: "x" }, b: {}, c: true } }, 't(a?: "x", b?: any, c?: any)');
    check({ properties: { a: { type: "string", format: "date-time" } } }, "t(a?: date-time)");
    check(
      { properties: { a: { anyOf: [{ type: "string" }, { type: "number" }] } } },
      "t(a?: string | number)",
    );
    check({ properties: { a: { $ref: "#/$defs/a" } }, $defs: { a: { type: "boolean" } } }, "t(a?: boolean)");
    check({ properties: { a: { $ref: "#/properties/a" } } }, "t(a?: any)");
    check(
      { properties: { "a b": { type: "string" }, "x\ny": { type: "null" } } },
      't("a b"?: string, "x\\ny"?: null)',
    );
  });

  it("writes objects two levels deep, and the type of the result", () => {
    const inner = {
      type: "object",
      properties: { c: { type: "object", properties: { d: { type: "object", properties: { e: {} } } } } },
    };
    check({ properties: { b: inner } }, "t(b?: {c?: {d?: object}})");
    check({}, "t() -> {n: integer}", { properties: { n: { type: "integer" } }, required: ["n"] });
  });

  it("is bounded whatever the schema contains", () => {
    const many = Object.fromEntries(
      Array.from({ length: 5000 }, (_, at) => [`argument_${at}`, { enum: Array(100).fill("v".repeat(500)) }]),
    );
    const signature = signatureOf({ name: "t", inputSchema: { properties: many } });
    assert.equal(signature.length, 600);
    let deep: JsonObject = { type: "string" };
    for (let at = 0; at < 1000; at += 1) deep = { type: "array", items: { anyOf: [deep, deep, deep] } };
    assert.ok(signatureOf({ name: "t", inputSchema: { properties: { deep } } }).length <= 600);
  });
});
