import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { configJsonSchema, parseConfig } from "@toolcrib/config";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";
import { parse } from "yaml";
import { everySection, faultyShapes } from "./samples.ts";

const committed = join(import.meta.dirname, "../../../docs/reference/toolcrib.schema.json");

test("configJsonSchema() equals docs/reference/toolcrib.schema.json", async () => {
  assert.deepEqual(JSON.parse(await readFile(committed, "utf8")), configJsonSchema());
});

test("configJsonSchema() accepts what parseConfig() accepts", () => {
  const validator = new SchemaValidator();
  const { diagnostics } = parseConfig([{ name: "toolcrib.yaml", text: everySection }]);
  assert.deepEqual(diagnostics, []);
  assert.deepEqual(validator.validate(configJsonSchema(), parse(everySection)), { kind: "valid" });
});

test("configJsonSchema() and parseConfig() refuse the same shapes", () => {
  const validator = new SchemaValidator();
  const schema = configJsonSchema();
  for (const text of faultyShapes) {
    assert.equal(parseConfig([{ name: "toolcrib.yaml", text }]).value, undefined, text);
    assert.equal(validator.validate(schema, parse(text)).kind, "invalid", text);
  }
});

test("configJsonSchema() is draft 2020-12 and describes every field", () => {
  const schema = configJsonSchema();
  assert.equal(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  const bare: string[] = [];
  collectUndescribed(schema, "#", bare);
  assert.deepEqual(bare, []);
});

/** Fields whose schema, after following a reference, has no description. */
function collectUndescribed(schema: JsonObject, path: string, bare: string[]): void {
  for (const group of ["properties", "$defs"]) {
    for (const [name, field] of Object.entries((schema[group] ?? {}) as { [name: string]: JsonObject })) {
      if (field["description"] === undefined && field["$ref"] === undefined) bare.push(`${path}/${name}`);
      collectUndescribed(field, `${path}/${name}`, bare);
    }
  }
  for (const part of [
    schema["items"],
    schema["additionalProperties"],
    ...((schema["oneOf"] ?? []) as JsonObject[]),
  ]) {
    if (typeof part === "object" && part !== null && !Array.isArray(part)) {
      collectUndescribed(part as JsonObject, `${path}/*`, bare);
    }
  }
}
