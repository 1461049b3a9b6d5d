/**
 * Compiles a schema to a function, with Ajv. Protects against harmful schemas:
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
import { canonicalJson } from "./canonical-json.ts";
import type { JsonObject } from "./json-value.ts";
import { compileLinearRegExp } from "./linear-regexp.ts";
import { countSteps, StepBudget } from "./step-budget.ts";

/** A schema that is ready to validate values. */
export interface CompiledSchema {
  /** The function of Ajv; its `errors` are the problems of the latest value. */
  readonly validate: ValidateFunction;
  /** The steps that the function may use. */
  readonly budget: StepBudget;
}

/** Maximum number of objects, arrays and booleans in a schema: each can take 50 microseconds to compile. */
const maxNodes = 10_000;
/** Maximum number of schemas in one `oneOf`: Ajv's time for it grows with their square. */
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

/** Compiles a schema. @throws {Error} the error of Ajv for an unusable schema */
export function compileSchema(schema: JsonObject): CompiledSchema {
  const isDraft7 = usesDraft7(schema);
  // The dialect is already chosen; `$async` would make the function of Ajv return a promise, which is always truthy.
  const { $schema: _dialect, $async: _async, ...rest } = schema;
  checkSize(rest);
  checkByDialect(rest, isDraft7);
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
  let dialect = dialects.get(isDraft7);
  if (dialect === undefined) {
    // Optimized code is slower to make, and saves little for schemas of usual size.
    const options: Options = { logger: false, code: { optimize: false } };
    dialect = isDraft7 ? new Ajv(options) : new Ajv2020(options);
    dialects.set(isDraft7, dialect);
  }
  if (dialect.validateSchema(schema) !== true) {
    throw new Error(`the schema is invalid: ${dialect.errorsText(dialect.errors, { dataVar: "schema" })}`);
  }
}

function compile(schema: AnySchemaObject, isDraft7: boolean, hasDialect: boolean): CompiledSchema {
  const budget = new StepBudget();
  const regExp = (pattern: string, flags: string) => compileLinearRegExp(pattern, flags, budget);
  regExp.code = "compileLinearRegExp";
  const options: Options = {
    ...settings,
    meta: hasDialect,
    code: { regExp, process: countSteps, optimize: false },
  };
  const ajv = Object.assign(isDraft7 ? new Ajv(options) : new Ajv2020(options), { budget });
  formatsPlugin.default(ajv, { mode: "fast" });
  // The keyword of Ajv compares all pairs of items.
  ajv.removeKeyword("uniqueItems");
  ajv.addKeyword({
    keyword: "uniqueItems",
    type: "array",
    schemaType: "boolean",
    error: { message: "must not have equal items" },
    validate: (isRequired: boolean, items: readonly unknown[]) => !isRequired || areUnique(items, budget),
  });
  return { validate: ajv.compile(schema), budget };
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

function areUnique(items: readonly unknown[], budget: StepBudget): boolean {
  const seen = new Set<string>();
  for (const item of items) {
    const text = canonicalJson(item);
    budget.spend(1 + text.length / 64);
    if (seen.has(text)) return false;
    seen.add(text);
  }
  return true;
}

function usesDraft7(schema: JsonObject): boolean {
  return typeof schema["$schema"] === "string" && /draft-0[67]/.test(schema["$schema"]);
}
