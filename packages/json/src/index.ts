// For users.
export { canonicalJson } from "./canonical-json.ts";
export { isCoercible } from "./coercible-value.ts";
export { findJsonFault } from "./find-json-fault.ts";
export { changesBetween } from "./json-changes.ts";
export { JsonError } from "./json-error.ts";
export { jsonSize } from "./json-size.ts";
export { isJsonObject, type JsonObject, type JsonValue } from "./json-value.ts";
export { estimateValues, type JsonLimits, parseJson } from "./parse-json.ts";
export { isSameJson } from "./same-json.ts";
export {
  type SchemaProblem,
  SchemaValidator,
} from "./schema-validator.ts";
export { mayBeIllFormed, toWellFormedJson } from "./well-formed-json.ts";
