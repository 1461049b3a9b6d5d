import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { explainArguments } from "@toolcrib/discovery";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";

const schema: JsonObject = {
  type: "object",
  properties: {
    owner: { type: "string", description: "Owner" },
    state: { type: "string", enum: ["open", "closed"] },
    limit: { type: "integer", minimum: 1 },
    labels: { type: "array", items: { type: "string" } },
    isDraft: { type: "boolean" },
    where: { type: "object", properties: { city: { type: "string" } }, additionalProperties: false },
    at: { $ref: "#/$defs/at" },
  },
  required: ["owner"],
  additionalProperties: false,
  $defs: { at: { type: "integer" } },
};

function explain(args: JsonObject, hidden: readonly string[] = []): string {
  const validator = new SchemaValidator();
  const verdict = validator.validate(schema, args);
  assert.equal(verdict.kind, "invalid");
  const problems = verdict.kind === "invalid" ? verdict.problems : [];
  return explainArguments({ tool: "t", schema, args, problems, hidden }, validator);
}

describe("explainArguments()", () => {
  it("names the place, the keyword, the part of the schema, and what was probably meant", () => {
    const rows: readonly (readonly [args: JsonObject, ...lines: string[]])[] = [
      [
        { ower: "x" },
        "- the arguments must have required property 'owner' (keyword: required)",
        '  schema of owner: {"type":"string","description":"Owner"}',
        "- the arguments must not have the property 'ower' (keyword: additionalProperties)",
        '  did you mean "owner"?',
        'These arguments are valid: {"owner":"x"}',
      ],
      [
        { owner: "x", state: "Open" },
        '- /state must be one of "open", "closed" (keyword: enum)',
        '  schema: {"type":"string","enum":["open","closed"]}',
        '  did you mean "open"?',
        'These arguments are valid: {"owner":"x","state":"open"}',
      ],
      [
        { owner: "x", limit: "5", at: "7", is_draft: true, labels: "bug" },
        "- /limit must be integer (keyword: type)",
        "  did you mean 5?",
        '  did you mean ["bug"]?',
        "  did you mean 7?",
        '  did you mean "isDraft"?',
        'These arguments are valid: {"owner":"x","limit":5,"at":7,"labels":["bug"],"isDraft":true}',
      ],
      [
        { owner: "x", where: { town: 1 }, limit: 0 },
        "- /where must not have the property 'town' (keyword: additionalProperties)",
        "  known: city",
        "- /limit must be >= 1 (keyword: minimum)",
      ],
      [{ owner: "x", isDraft: "TRUE" }, "  did you mean true?"],
      [
        { owner: "x", where: '{"city":"Bonn"}' },
        'These arguments are valid: {"owner":"x","where":{"city":"Bonn"}}',
      ],
    ];
    for (const [args, ...lines] of rows) {
      const text = explain(args).split("\n");
      for (const line of lines) assert.ok(text.includes(line), `${line}\n\n${text.join("\n")}`);
    }
    // What corrects only a part is not shown as valid.
    assert.doesNotMatch(explain({ owner: "x", limit: "five", sate: "open" }), /These arguments are valid/);
  });

  it("names nothing that is hidden from the client", () => {
    const text = explain({ owner: "x", limit: "y" }, ["limit"]);
    assert.doesNotMatch(text, /limit/);
    assert.match(text, /the operator of the gateway set/);
  });

  it("is bounded, and changes no prototype", () => {
    const args = {
      owner: "x",
      ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`wrong_${at}_${"y".repeat(300)}`, at])),
    };
    assert.ok(explain(args).length < 12_000);
    const proto = JSON.parse('{"owner":"x","__proto__":{"polluted":1},"state":"opne"}') as JsonObject;
    explain(proto);
    assert.equal(({} as { polluted?: number }).polluted, undefined);
  });
});
