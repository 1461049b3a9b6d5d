/**
 * JSON Schema validation (2020-12, and draft-07 if `$schema` names it). Schemas
 * come from untrusted servers: they are compiled lazily and kept in a bounded
 * cache, no remote `$ref` is fetched, and a schema that does not compile is a
 * verdict, not an exception. A library that cannot be loaded is none. Patterns take linear time, and each validation a
 * bounded number of steps.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import type { ErrorObject } from "ajv";
import { canonicalJson } from "./canonical-json.ts";
import { type CompiledSchema, compileSchema } from "./compile-schema.ts";
import type { JsonObject, JsonValue } from "./json-value.ts";
import { outOfSteps } from "./step-budget.ts";
import { withoutUnsupportedPatterns } from "./supported-patterns.ts";

/** A violation of the schema at one place of the value. */
export interface SchemaProblem {
  /** JSON Pointer (RFC 6901) into the value; empty for the value itself. */
  readonly path: string;
  /** The problem and the allowed values, such as `must have required property 'text'`. At most 500 characters. */
  readonly message: string;
  /** The keyword that is violated, such as `required`; absent where no keyword is. */
  readonly keyword?: string;
  /** The name of the property that is missing or not allowed. */
  readonly member?: string;
  /** The types that the schema accepts at this place, where the value has another type. */
  readonly types?: readonly string[];
}

/** The result of a validation. */
export type SchemaVerdict =
  | { readonly kind: "valid" }
  | { readonly kind: "invalid"; readonly problems: readonly SchemaProblem[] }
  /** The schema itself cannot be used (bad keyword, unresolved `$ref`, pattern outside RE2, too long). */
  | { readonly kind: "unusable"; readonly reason: string };

/** Options of a validator. */
export interface SchemaValidatorOptions {
  /** Maximum number of compiled schemas kept, least recently compiled dropped first. @default 1000 */
  readonly maxSchemas?: number;
  /** Maximum number of UTF-16 units of a schema as canonical JSON; a longer one is unusable. @default 262,144 */
  readonly maxSchemaLength?: number;
  /** Maximum number of problems reported for one value. @default 20 */
  readonly maxProblems?: number;
  /** Maximum number of steps (turns of loops, calls of subschemas) for one value; a second or so. @default 10,000,000 */
  readonly maxSteps?: number;
  /** Documents that schemas can refer to, by URI without a fragment. Nothing is ever fetched. @default none */
  readonly documents?: ReadonlyMap<string, JsonValue>;
}

/** A schema that cannot be used; `rest` is the part of it that can. */
interface Unusable {
  readonly reason: string;
  readonly rest?: JsonObject | undefined;
}

type Compiled = CompiledSchema | Unusable;

/** Validates values against schemas and caches the compiled schemas. */
export class SchemaValidator {
  readonly #maxSchemas: number;
  readonly #maxSchemaLength: number;
  readonly #maxProblems: number;
  readonly #maxSteps: number;
  readonly #documents: ReadonlyMap<string, JsonValue>;
  readonly #byContent = new Map<string, Compiled>();
  // Tool definitions are long-lived objects, so that a call usually needs one lookup by identity.
  readonly #byIdentity = new WeakMap<JsonObject, Compiled>();

  constructor(options: SchemaValidatorOptions = {}) {
    this.#maxSchemas = options.maxSchemas ?? 1000;
    this.#maxSchemaLength = options.maxSchemaLength ?? 262_144;
    this.#maxProblems = options.maxProblems ?? 20;
    this.#maxSteps = options.maxSteps ?? 10_000_000;
    this.#documents = options.documents ?? new Map();
  }

  /**
   * Validates `value` against `schema`. Never changes the value: no coercion,
   * no defaults. A value that takes too many steps is invalid.
   *
   * @throws {CodedError} `LIBRARY_UNAVAILABLE` and nothing else, where nothing was checked; the next validation loads it again
   */
  validate(schema: JsonObject, value: unknown): SchemaVerdict {
    const compiled = this.#compiledFor(schema);
    if ("reason" in compiled) return { kind: "unusable", reason: compiled.reason };
    compiled.budget.left = this.#maxSteps;
    try {
      const problems = problemsOf(compiled, value);
      if (problems === undefined) return { kind: "valid" };
      return { kind: "invalid", problems: problems.slice(0, this.#maxProblems).map(toProblem) };
    } catch (thrown) {
      if (thrown === outOfSteps) {
        const message = `takes more than ${this.#maxSteps} steps to check and is refused`;
        return { kind: "invalid", problems: [{ path: "", message }] };
      }
      rethrowUnavailable(thrown);
      // A reference to itself overflows the stack.
      return { kind: "unusable", reason: cut(`it cannot be applied: ${(thrown as Error).message}`) };
    } finally {
      // The problems refer to the value, which must not live as long as the schema.
      if ("validate" in compiled) compiled.validate.errors = null;
    }
  }

  /**
   * Like `validate`, but a schema that is unusable because of patterns that RE2 does not support is applied without
   * them, where that can only accept more values. For schemas of others, whose tools check the patterns themselves.
   */
  validateSupported(schema: JsonObject, value: unknown): SchemaVerdict {
    const compiled = this.#compiledFor(schema);
    const { rest } = compiled as Unusable;
    return this.validate(rest ?? schema, value);
  }

  #compiledFor(schema: JsonObject): Compiled {
    const known = this.#byIdentity.get(schema);
    if (known !== undefined) return known;
    const compiled = this.#compileOnce(schema);
    this.#byIdentity.set(schema, compiled);
    return compiled;
  }

  #tryToCompile(schema: JsonObject): Compiled {
    try {
      return compileSchema(schema, (uri) => this.#documents.get(uri));
    } catch (error) {
      rethrowUnavailable(error);
      return { reason: cut((error as Error).message), rest: withoutUnsupportedPatterns(schema) };
    }
  }

  #compileOnce(schema: JsonObject): Compiled {
    try {
      const key = canonicalJson(schema);
      if (key.length > this.#maxSchemaLength) {
        return { reason: `it has ${key.length} characters; at most ${this.#maxSchemaLength} are allowed` };
      }
      const known = this.#byContent.get(key);
      if (known !== undefined) return known;
      const compiled = this.#tryToCompile(schema);
      this.#byContent.set(key, compiled);
      if (this.#byContent.size > this.#maxSchemas) {
        this.#byContent.delete(this.#byContent.keys().next().value as string);
      }
      return compiled;
    } catch (error) {
      rethrowUnavailable(error);
      return { reason: (error as Error).message };
    }
  }
}

/** A schema that could not be looked at has no verdict, which would be kept. */
function rethrowUnavailable(thrown: unknown): void {
  if (isCodedError(thrown) && thrown.code === "LIBRARY_UNAVAILABLE") throw thrown;
}

/** Returns the problems of `value`; undefined if it is valid. */
function problemsOf(compiled: CompiledSchema, value: unknown): readonly ErrorLike[] | undefined {
  if ("interpret" in compiled) {
    const problems = compiled.interpret(value);
    return problems.length === 0 ? undefined : problems;
  }
  // A promise would be truthy too.
  return compiled.validate(value) === true ? undefined : (compiled.validate.errors ?? []);
}

/** A problem of Ajv, or of the interpretation. */
type ErrorLike = Pick<ErrorObject, "keyword" | "instancePath" | "message" | "params">;

function toProblem(error: ErrorLike): SchemaProblem {
  const parameters = error.params as { readonly [key: string]: unknown };
  let message = error.message ?? error.keyword;
  if (error.keyword === "additionalProperties") {
    message = `must not have the property '${String(parameters["additionalProperty"])}'`;
  } else if (error.keyword === "unevaluatedProperties") {
    message = `must not have the property '${String(parameters["unevaluatedProperty"])}'`;
  } else if (error.keyword === "enum" && Array.isArray(parameters["allowedValues"])) {
    message = `must be one of ${listValues(parameters["allowedValues"])}`;
  } else if (error.keyword === "const") {
    message = `must be ${JSON.stringify(parameters["allowedValue"])}`;
  }
  const types = error.keyword === "type" ? [parameters["type"]].flat().map(String) : undefined;
  const member =
    parameters["missingProperty"] ?? parameters["additionalProperty"] ?? parameters["unevaluatedProperty"];
  return {
    path: error.instancePath,
    message: cut(message),
    keyword: error.keyword,
    ...(typeof member === "string" ? { member } : {}),
    ...(types === undefined ? {} : { types }),
  };
}

const maxListed = 50;

function listValues(values: readonly unknown[]): string {
  const listed = values.slice(0, maxListed).map((value) => JSON.stringify(value));
  if (values.length > maxListed) listed.push(`${values.length - maxListed} more`);
  return listed.join(", ");
}

const maxTextLength = 500;

function cut(text: string): string {
  return text.length <= maxTextLength ? text : `${text.slice(0, maxTextLength - 1)}…`;
}
