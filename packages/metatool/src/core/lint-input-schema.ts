/** Checks whether clients and the validator can use an input schema. Pure. */

import type { Diagnostic } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject, type SchemaValidator } from "@toolcrib/json";

/** Returns the findings about the input schema of a composite. */
export function lintInputSchema(schema: JsonObject, validator: SchemaValidator): readonly Diagnostic[] {
  const { type, properties, required } = schema;
  const findings: Diagnostic[] = [];
  const report = (path: string, message: string, hint?: string) =>
    findings.push({ severity: "error", code: "METATOOL_SCHEMA_INVALID", message, hint, path });
  if (type !== undefined && type !== "object") {
    const hint = 'write {"type": "object", "properties": {…}}';
    report(
      "inputSchema.type",
      `The type of an input schema must be "object", but is ${JSON.stringify(type)}`,
      hint,
    );
  }
  if (properties !== undefined && !isJsonObject(properties)) {
    report("inputSchema.properties", '"properties" must be an object of schemas, by name');
  } else if (properties !== undefined) {
    for (const [name, property] of Object.entries(properties)) {
      if (isJsonObject(property)) continue;
      const hint = 'write a schema, such as {"type": "string"}, or {} for any value';
      report(
        `inputSchema.properties.${name}`,
        `The schema of ${JSON.stringify(name)} must be an object`,
        hint,
      );
    }
  }
  if (required !== undefined && !isListOfNames(required)) {
    report("inputSchema.required", '"required" must be a list of names');
  }
  if (findings.length > 0) return findings;
  const verdict = validator.validate(schema, {});
  if (verdict.kind === "unusable")
    report("inputSchema", `The input schema cannot be used: ${verdict.reason}`);
  return findings;
}

function isListOfNames(value: unknown): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string");
}
