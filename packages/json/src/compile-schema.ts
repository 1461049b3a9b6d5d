/**
 * Compiles a schema to a function, with Ajv, or prepares it for interpretation where Ajv is wrong. Protects against harmful schemas:
 * patterns run in linear time, steps are counted, items are compared by their
 * canonical texts, keys such as `__proto__` have no special meaning, and no
 * schema is ever fetched.
 *
 * Ajv generates code, so engines that run without code generation must not use
 * this file.
 */

import { Ajv, type AnySchemaObject, type Options, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formatsPlugin from "ajv-formats";
import { type InterpretedSchema, prepareSchema } from "./interpret-schema.ts";
import { isJsonObject, type JsonObject } from "./json-value.ts";
import { compileLinearRegExp } from "./linear-regexp.ts";
import { dialectOf, type FindDocument } from "./schema-resources.ts";
import { countSteps, StepBudget } from "./step-budget.ts";
import { hasUniqueItems } from "./unique-items.ts";

/** A schema that is ready to validate values, by code or by interpretation. */
export type CompiledSchema = GeneratedSchema | InterpretedSchema;

/** A schema as the code that Ajv generates. */
export interface GeneratedSchema {
  /** The function of Ajv; its `errors` are the problems of the latest value. */
  readonly validate: ValidateFunction;
  /** The steps that the function may use. */
  readonly budget: StepBudget;
}

/** Maximum number of objects, arrays and booleans in a schema: each can take 50 microseconds to compile. @limit server */
const maxNodes = 10_000;
/** Maximum number of schemas in one `oneOf`: Ajv's time for it grows with their square. @limit server */
const maxOneOf = 1000;

const settings: Options = {
  allErrors: true,
  strict: false,
  logger: false,
  // `toString` in `required` means an own member of the value, not an inherited one.
  ownProperties: true,
  // A reference becomes a function, whose calls can be counted.
  inlineRefs: false,
  validateSchema: false,
};

/**
 * Compiles a schema; `find` gives the documents that it can refer to.
 *
 * @throws {Error} the reason for an unusable schema.
 */
export function compileSchema(schema: JsonObject, find: FindDocument): CompiledSchema {
  const isDraft7 = dialectOf(schema) === "draft7";
  // The dialect is already chosen; `$async` would make the function of Ajv return a promise, which is always truthy.
  const { $schema: _dialect, $async: _async, ...rest } = schema;
  checkSize(rest);
  checkByDialect(rest, isDraft7);
  if (needsInterpretation(rest, isDraft7)) {
    return prepareSchema(rest, isDraft7, (uri) => find(uri) ?? dialectDocument(uri, isDraft7));
  }
  try {
    return compile(rest, isDraft7, false);
  } catch (error) {
    // A schema can refer to its dialect to describe schemas.
    if (!/can't resolve reference https?:\/\/json-schema\.org\//.test(String(error))) throw error;
    return compile(rest, isDraft7, true);
  }
}

/** The two dialects. They are constant and slow to prepare, so each is prepared once in a process, when it is needed. */
const dialects = new Map<boolean, Ajv>();

/** @throws {Error} for an invalid schema. */
function checkByDialect(schema: AnySchemaObject, isDraft7: boolean): void {
  const dialect = dialectFor(isDraft7);
  if (dialect.validateSchema(schema) !== true) {
    throw new Error(`the schema is invalid: ${dialect.errorsText(dialect.errors, { dataVar: "schema" })}`);
  }
}

/** A document of the dialect itself: schemas can describe schemas. */
function dialectDocument(uri: string, isDraft7: boolean): JsonObject | undefined {
  if (!/^https?:\/\/json-schema\.org\//.test(uri)) return undefined;
  const schema = dialectFor(isDraft7).getSchema(uri)?.schema;
  return isJsonObject(schema) ? schema : undefined;
}

function dialectFor(isDraft7: boolean): Ajv {
  let dialect = dialects.get(isDraft7);
  if (dialect === undefined) {
    // Optimized code is slower to make, and saves little for schemas of usual size.
    const options: Options = { logger: false, code: { optimize: false } };
    dialect = isDraft7 ? new Ajv(options) : new Ajv2020(options);
    dialects.set(isDraft7, dialect);
  }
  return dialect;
}

/** Keywords that Ajv does not apply as the dialects say. */
const interpretedKeywords = new Set([
  "$dynamicAnchor",
  "$dynamicRef",
  "$id",
  "unevaluatedItems",
  "unevaluatedProperties",
  "__proto__",
]);

/**
 * Whether Ajv would apply `schema` wrongly. Looks at all members, also where they are no keywords:
 * interpretation is slower, and never wrong.
 */
function needsInterpretation(schema: AnySchemaObject, isDraft7: boolean): boolean {
  const open: unknown[] = [schema];
  for (let value = open.pop(); value !== undefined; value = open.pop()) {
    if (typeof value !== "object" || value === null) continue;
    const entries = Object.entries(value);
    for (const [key, part] of entries) {
      if (interpretedKeywords.has(key)) return true;
      if (key === "enum" && Array.isArray(part) && (part.length === 0 || part.some(isObject))) return true;
      // Ajv compares objects by their own `toString`, too.
      if (key === "const" && isObject(part)) return true;
      if (key === "$ref" && typeof part === "string") {
        if (!/^(?:#|https?:\/\/json-schema\.org\/)/.test(part)) return true;
        if (isDraft7 && entries.length > 1) return true;
      }
      open.push(part);
    }
  }
  return false;
}

function compile(schema: AnySchemaObject, isDraft7: boolean, hasDialect: boolean): CompiledSchema {
  const budget = new StepBudget();
  const regExp = (pattern: string, flags: string) => compileLinearRegExp(pattern, flags, budget);
  regExp.code = "compileLinearRegExp";
  const options: Options = {
    ...settings,
    meta: hasDialect,
    validateFormats: isDraft7,
    code: { regExp, process: countSteps, optimize: false },
  };
  const ajv = Object.assign(isDraft7 ? new Ajv(options) : new Ajv2020(options), { budget });
  // Schemas that ask for what was evaluated are interpreted. Ajv notes it nevertheless, in code that can throw.
  ajv.opts.unevaluated = false;
  // In 2020-12, a format is an annotation.
  if (isDraft7) formatsPlugin.default(ajv, { mode: "fast" });
  // The keyword of Ajv compares all pairs of items.
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: { message: "must not have equal items" },
    validate: (isRequired: boolean, items: readonly unknown[]) =>
      !isRequired || hasUniqueItems(items, budget),
  });
  return { validate: ajv.compile(schema), budget };
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** @throws {Error} when `schema` would take too long to compile. */
function checkSize(schema: AnySchemaObject): void {
  let nodes = 0;
  function enter(value: unknown): void {
    if (typeof value !== "boolean" && (typeof value !== "object" || value === null)) return;
    nodes += 1;
    if (nodes > maxNodes) throw new Error(`the schema has more than ${maxNodes} parts`);
    if (typeof value === "boolean") return;
    for (const [key, part] of Object.entries(value)) {
      if (key === "oneOf" && Array.isArray(part) && part.length > maxOneOf) {
        throw new Error(`the schema has a oneOf of more than ${maxOneOf} schemas`);
      }
      enter(part);
    }
  }
  enter(schema);
}
