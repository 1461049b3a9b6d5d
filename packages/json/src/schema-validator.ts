/**
 * JSON Schema validation (2020-12, and draft-07 where `$schema` says so) with
 * linear-time patterns. Schemas come from servers that nobody vetted: they are
 * compiled lazily, kept in a bounded cache, never fetch a remote `$ref`, and a
 * schema that does not compile is a finding, not an exception.
 *
 * Ajv compiles to code, so this file must not be reached from engines that run
 * with code generation switched off.
 */

import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import { RE2JS } from "re2js";
import { canonicalJson } from "./canonical-json.ts";
import type { JsonObject } from "./json-value.ts";

/** One place where a value breaks its schema. */
export interface SchemaProblem {
  /** JSON Pointer (RFC 6901) into the value; empty for the value itself. */
  readonly path: string;
  /** What is wrong and what is allowed, such as `must have required property 'text'`. */
  readonly message: string;
}

export type SchemaVerdict =
  | { readonly kind: "valid" }
  | { readonly kind: "invalid"; readonly problems: readonly SchemaProblem[] }
  /** The schema itself cannot be used (bad keyword, unresolved `$ref`, pattern outside RE2). */
  | { readonly kind: "unusable"; readonly reason: string };

export interface SchemaValidator {
  /** Judge `value` by `schema`. The value is never changed: no coercion, no defaults. */
  validate(schema: JsonObject, value: unknown): SchemaVerdict;
}

/** Options of `createSchemaValidator`. */
export interface SchemaValidatorOptions {
  /** Most compiled schemas kept, least recently compiled dropped first. @default 1000 */
  readonly maxSchemas?: number;
  /** Most problems reported for one value. @default 20 */
  readonly maxProblems?: number;
}

type Compiled = { readonly validate: ValidateFunction } | { readonly reason: string };

/** Create a validator with its own cache of compiled schemas. */
export function createSchemaValidator(options: SchemaValidatorOptions = {}): SchemaValidator {
  const maxSchemas = options.maxSchemas ?? 1000;
  const maxProblems = options.maxProblems ?? 20;
  const byContent = new Map<string, Compiled>();
  // Definitions are long-lived objects, so a call costs one look-up by identity.
  const byIdentity = new WeakMap<JsonObject, Compiled>();

  function compiledFor(schema: JsonObject): Compiled {
    const known = byIdentity.get(schema);
    if (known !== undefined) return known;
    const key = canonicalJson(schema);
    let compiled = byContent.get(key);
    if (compiled === undefined) {
      compiled = compile(schema);
      byContent.set(key, compiled);
      if (byContent.size > maxSchemas) byContent.delete(byContent.keys().next().value as string);
    }
    byIdentity.set(schema, compiled);
    return compiled;
  }

  return {
    validate(schema, value) {
      const compiled = compiledFor(schema);
      if ("reason" in compiled) return { kind: "unusable", reason: compiled.reason };
      if (compiled.validate(value)) return { kind: "valid" };
      const problems = (compiled.validate.errors ?? []).slice(0, maxProblems).map(toProblem);
      return { kind: "invalid", problems };
    },
  };
}

function compile(schema: JsonObject): Compiled {
  try {
    const settings = {
      allErrors: true,
      strict: false,
      validateFormats: true,
      code: { regExp: linearTimeRegExp },
      logger: false as const,
    };
    const ajv = isDraft7(schema) ? new Ajv(settings) : new Ajv2020(settings);
    formatsPlugin.default(ajv, { mode: "fast" });
    // The dialect was chosen above; Ajv refuses a `$schema` that it has not been given.
    const { $schema: _dialect, ...rest } = schema;
    return { validate: ajv.compile(rest) };
  } catch (error) {
    return { reason: (error as Error).message };
  }
}

function isDraft7(schema: JsonObject): boolean {
  return typeof schema["$schema"] === "string" && /draft-0[67]/.test(schema["$schema"]);
}

/**
 * Patterns run on RE2, so that no pattern of a server can stall the process.
 * Ajv names a pattern by the `toString()` of its engine's product; it must be
 * unique to the pattern, or all patterns of a schema collapse into the first.
 */
function linearTimeRegExp(
  pattern: string,
  flags: string,
): { test(text: string): boolean; toString(): string } {
  const compiled = RE2JS.compile(
    RE2JS.translateRegExp(pattern),
    flags.includes("i") ? RE2JS.CASE_INSENSITIVE : 0,
  );
  const name = `/${pattern}/${flags}`;
  return { test: (text) => compiled.matcher(text).find(), toString: () => name };
}
linearTimeRegExp.code = "linearTimeRegExp";

function toProblem(error: ErrorObject): SchemaProblem {
  const parameters = error.params as { readonly [key: string]: unknown };
  let message = error.message ?? error.keyword;
  if (error.keyword === "additionalProperties") {
    message = `must not have the property '${String(parameters["additionalProperty"])}'`;
  } else if (error.keyword === "enum" && Array.isArray(parameters["allowedValues"])) {
    message = `must be one of ${parameters["allowedValues"].map((value) => JSON.stringify(value)).join(", ")}`;
  } else if (error.keyword === "const") {
    message = `must be ${JSON.stringify(parameters["allowedValue"])}`;
  }
  return { path: error.instancePath, message };
}
