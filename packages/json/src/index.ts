// For users.
export { canonicalJson } from "./canonical-json.ts";
export { type JsonCode, jsonCodes } from "./codes.ts";
export { JsonError } from "./json-error.ts";
export { findJsonFault, type JsonFault } from "./json-fault.ts";
export { isJsonObject, type JsonObject, type JsonPrimitive, type JsonValue } from "./json-value.ts";
export { type JsonLimits, parseJson } from "./parse-json.ts";
export {
  createSchemaValidator,
  type SchemaProblem,
  type SchemaValidator,
  type SchemaValidatorOptions,
  type SchemaVerdict,
} from "./schema-validator.ts";
