/**
 * Validates by interpreting a JSON Schema (2020-12 and draft-07), step by step and exactly. For
 * schemas that Ajv compiles wrongly: dynamic references, `unevaluatedItems` and
 * `unevaluatedProperties`, resources within resources, keywords next to `$ref` in draft-07.
 * Problems have the same words as those of Ajv. Every part that is applied uses a step.
 *
 * The file is one piece because it is one table of keywords.
 */

import { checkFormat } from "./formats.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "./json-value.ts";
import { compileLinearRegExp, type LinearRegExp } from "./linear-regexp.ts";
import { isSameJson } from "./same-json.ts";
import {
  type FindDocument,
  type ResolvedSchema,
  type SchemaResource,
  SchemaResources,
} from "./schema-resources.ts";
import { StepBudget } from "./step-budget.ts";
import { hasUniqueItems } from "./unique-items.ts";

/** A problem, with the parameters that its message is made from. */
export interface KeywordProblem {
  readonly keyword: string;
  readonly instancePath: string;
  readonly message: string;
  readonly params: { readonly [key: string]: unknown };
}

/** A schema that is ready to be interpreted. */
export interface InterpretedSchema {
  /** Returns the problems of `value`; none if it is valid. */
  readonly interpret: (value: unknown) => readonly KeywordProblem[];
  readonly budget: StepBudget;
}

/** Problems kept for one value. */
const problemsMaxCount = 1000;

/**
 * Prepares `schema` for interpretation.
 *
 * @throws {Error} for a reference that names nothing, and for a pattern that RE2 does not support.
 */
export function prepareSchema(schema: JsonObject, isDraft7: boolean, find: FindDocument): InterpretedSchema {
  const budget = new StepBudget();
  const patterns = new Map<string, LinearRegExp>();
  const references: { readonly reference: string; readonly resource: SchemaResource }[] = [];
  const resources = new SchemaResources(schema, isDraft7, find, (part, resource) => {
    for (const reference of [part["$ref"], part["$dynamicRef"]]) {
      if (typeof reference === "string") references.push({ reference, resource });
    }
    const { pattern, patternProperties } = part;
    const sources = isJsonObject(patternProperties) ? Object.keys(patternProperties) : [];
    if (typeof pattern === "string") sources.push(pattern);
    for (const source of sources) {
      if (!patterns.has(source)) patterns.set(source, compileLinearRegExp(source, "u", budget));
    }
  });
  // Resolving one can find more.
  for (let next = references.pop(); next !== undefined; next = references.pop()) {
    resources.resolve(next.reference, next.resource);
  }
  return {
    budget,
    interpret: (value) => {
      const run = new Interpretation(resources, patterns, budget);
      run.apply(resources.root, value as JsonValue, "", [], new Evaluated());
      return run.problems;
    },
  };
}

/** The properties and items that schemas at one place of the value have evaluated. */
class Evaluated {
  readonly #names = new Set<string>();
  readonly #indexes = new Set<number>();
  #hasAllNames = false;
  #itemsCount = 0;

  addName(name: string): void {
    this.#names.add(name);
  }

  addAllNames(): void {
    this.#hasAllNames = true;
  }

  addIndex(index: number): void {
    this.#indexes.add(index);
  }

  /** The first `count` items. */
  addItems(count: number): void {
    this.#itemsCount = Math.max(this.#itemsCount, count);
  }

  /** Number of names and indexes to merge. */
  get size(): number {
    return this.#names.size + this.#indexes.size;
  }

  merge(other: Evaluated): void {
    for (const name of other.#names) this.#names.add(name);
    for (const index of other.#indexes) this.#indexes.add(index);
    this.#hasAllNames ||= other.#hasAllNames;
    this.addItems(other.#itemsCount);
  }

  hasName(name: string): boolean {
    return this.#hasAllNames || this.#names.has(name);
  }

  hasIndex(index: number): boolean {
    return index < this.#itemsCount || this.#indexes.has(index);
  }
}

/** Resources that were entered on the way to a schema, the outermost first. */
type Scope = readonly SchemaResource[];

/** A schema that is applied to a place of the value. */
interface Place {
  readonly schema: JsonObject;
  readonly resource: SchemaResource;
  readonly scope: Scope;
  readonly path: string;
  readonly evaluated: Evaluated;
}

class Interpretation {
  readonly problems: KeywordProblem[] = [];
  readonly #resources: SchemaResources;
  readonly #patterns: ReadonlyMap<string, LinearRegExp>;
  readonly #budget: StepBudget;

  constructor(resources: SchemaResources, patterns: ReadonlyMap<string, LinearRegExp>, budget: StepBudget) {
    this.#resources = resources;
    this.#patterns = patterns;
    this.#budget = budget;
  }

  /** Applies a schema and returns whether `value` is valid; adds what it evaluates, and problems. */
  apply(
    { schema, resource: outer }: ResolvedSchema,
    value: JsonValue,
    path: string,
    scope: Scope,
    evaluated: Evaluated,
  ): boolean {
    this.#budget.spend(1);
    if (schema === false) return this.#report("false schema", path, "boolean schema is false");
    if (!isJsonObject(schema)) return true;
    const resource = this.#resources.resourceOf(schema, outer);
    const place: Place = {
      schema,
      resource,
      path,
      evaluated,
      scope: scope.at(-1) === resource ? scope : [...scope, resource],
    };
    if (resource.isDraft7 && typeof schema["$ref"] === "string") return this.#applyReference(place, value);
    const checks = [
      this.#applyReference(place, value),
      this.#applyDynamicReference(place, value),
      this.#checkType(place, value),
      this.#checkValue(place, value),
      this.#combine(place, value),
    ];
    if (typeof value === "number") checks.push(this.#checkNumber(place, value));
    else if (typeof value === "string") checks.push(this.#checkText(place, value));
    else if (Array.isArray(value)) checks.push(this.#checkItems(place, value));
    else if (isJsonObject(value)) checks.push(this.#checkProperties(place, value));
    return checks.every(Boolean);
  }

  /** Applies a part of the schema at the same place; what it evaluates counts if it is valid. */
  #applyHere(place: Place, schema: JsonValue | undefined, value: JsonValue): boolean {
    return this.#applyResolved(place, this.#part(place, schema), value);
  }

  /** Applies a part of the schema to a child of the value. */
  #applyTo(place: Place, schema: JsonValue | undefined, child: JsonValue, key: string | number): boolean {
    const part = typeof key === "number" ? String(key) : key.replaceAll("~", "~0").replaceAll("/", "~1");
    return this.apply(
      this.#part(place, schema),
      child,
      `${place.path}/${part}`,
      place.scope,
      new Evaluated(),
    );
  }

  #part({ resource }: Place, schema: JsonValue | undefined): ResolvedSchema {
    return { schema: schema ?? true, resource };
  }

  /** Applies without reporting problems. */
  #isValid(apply: () => boolean): boolean {
    const mark = this.problems.length;
    const isValid = apply();
    this.problems.length = mark;
    return isValid;
  }

  #report(
    keyword: string,
    instancePath: string,
    message: string,
    params: KeywordProblem["params"] = {},
  ): false {
    this.#budget.spend(1);
    if (this.problems.length < problemsMaxCount)
      this.problems.push({ keyword, instancePath, message, params });
    return false;
  }

  #applyReference(place: Place, value: JsonValue): boolean {
    const { $ref: reference } = place.schema;
    if (typeof reference !== "string") return true;
    return this.#applyResolved(place, this.#resources.resolve(reference, place.resource), value);
  }

  /** JSON Schema Core, section 8.2.3.2. */
  #applyDynamicReference(place: Place, value: JsonValue): boolean {
    const { $dynamicRef: reference } = place.schema;
    if (typeof reference !== "string" || place.resource.isDraft7) return true;
    let target = this.#resources.resolve(reference, place.resource);
    const name = isJsonObject(target.schema) ? target.schema["$dynamicAnchor"] : undefined;
    if (typeof name === "string" && reference.endsWith(`#${name}`)) {
      for (const resource of place.scope) {
        const schema = resource.dynamicAnchors.get(name);
        if (schema === undefined) continue;
        target = { schema, resource };
        break;
      }
    }
    return this.#applyResolved(place, target, value);
  }

  #applyResolved(place: Place, target: ResolvedSchema, value: JsonValue): boolean {
    const evaluated = new Evaluated();
    const isValid = this.apply(target, value, place.path, place.scope, evaluated);
    if (!isValid) return false;
    this.#budget.spend(evaluated.size / 8);
    place.evaluated.merge(evaluated);
    return true;
  }

  #checkType({ schema: { type }, path }: Place, value: JsonValue): boolean {
    if (type === undefined) return true;
    const types = [type].flat() as readonly string[];
    if (types.some((one) => isOfType(value, one))) return true;
    return this.#report("type", path, `must be ${types.join(",")}`, { type });
  }

  #checkValue({ schema, path }: Place, value: JsonValue): boolean {
    let isValid = true;
    if (Array.isArray(schema["enum"])) {
      this.#budget.spend(schema["enum"].length / 16);
      if (!schema["enum"].some((one) => isSameJson(one, value))) {
        isValid = this.#report("enum", path, "must be one of the allowed values", {
          allowedValues: schema["enum"],
        });
      }
    }
    if (schema["const"] !== undefined && !isSameJson(schema["const"], value)) {
      isValid = this.#report("const", path, "must be constant", { allowedValue: schema["const"] });
    }
    return isValid;
  }

  #combine(place: Place, value: JsonValue): boolean {
    const { schema, path } = place;
    const lists = (["allOf", "anyOf", "oneOf"] as const).map((keyword) => {
      const list = schema[keyword];
      return { keyword, list: Array.isArray(list) ? (list as readonly JsonValue[]) : undefined };
    });
    let isValid = true;
    for (const { keyword, list } of lists) {
      if (list === undefined) continue;
      const mark = this.problems.length;
      // All are applied, because each can evaluate something.
      const validCount = list.filter((one) => this.#applyHere(place, one, value)).length;
      if (keyword === "allOf") isValid &&= validCount === list.length;
      else if (keyword === "anyOf" ? validCount > 0 : validCount === 1) this.problems.length = mark;
      else {
        const message =
          keyword === "anyOf" ? "must match a schema in anyOf" : "must match exactly one schema in oneOf";
        isValid = this.#report(keyword, path, message);
      }
    }
    const { not, if: condition } = schema;
    if (
      not !== undefined &&
      this.#isValid(() => this.apply(this.#part(place, not), value, path, place.scope, new Evaluated()))
    ) {
      isValid = this.#report("not", path, "must NOT be valid");
    }
    if (condition !== undefined) {
      const branch = this.#isValid(() => this.#applyHere(place, condition, value)) ? "then" : "else";
      if (schema[branch] !== undefined && !this.#applyHere(place, schema[branch], value)) {
        isValid = this.#report("if", path, `must match "${branch}" schema`);
      }
    }
    return isValid;
  }

  #checkNumber({ schema, path }: Place, value: number): boolean {
    const rows = [
      ["minimum", ">=", (limit: number) => value >= limit],
      ["maximum", "<=", (limit: number) => value <= limit],
      ["exclusiveMinimum", ">", (limit: number) => value > limit],
      ["exclusiveMaximum", "<", (limit: number) => value < limit],
    ] as const;
    let isValid = true;
    for (const [keyword, sign, holds] of rows) {
      const limit = schema[keyword];
      if (typeof limit === "number" && !holds(limit)) {
        isValid = this.#report(keyword, path, `must be ${sign} ${limit}`);
      }
    }
    const { multipleOf } = schema;
    if (typeof multipleOf === "number" && !Number.isInteger(value / multipleOf)) {
      isValid = this.#report("multipleOf", path, `must be multiple of ${multipleOf}`);
    }
    return isValid;
  }

  #checkText({ schema, resource, path }: Place, value: string): boolean {
    const { minLength, maxLength, pattern, format } = schema;
    let isValid = true;
    if (minLength !== undefined || maxLength !== undefined) {
      this.#budget.spend(value.length / 64);
      isValid = this.#checkCount(path, lengthOf(value), minLength, maxLength, "Length", "characters");
    }
    if (typeof pattern === "string" && this.#patterns.get(pattern)?.test(value) === false) {
      isValid = this.#report("pattern", path, `must match pattern "${pattern}"`);
    }
    // In 2020-12, a format is an annotation.
    if (typeof format === "string" && resource.isDraft7 && !checkFormat(format, value)) {
      isValid = this.#report("format", path, `must match format "${format}"`);
    }
    return isValid;
  }

  #checkCount(
    path: string,
    count: number,
    least: JsonValue | undefined,
    most: JsonValue | undefined,
    suffix: string,
    noun: string,
  ): boolean {
    let isValid = true;
    if (typeof least === "number" && count < least) {
      isValid = this.#report(`min${suffix}`, path, `must NOT have fewer than ${least} ${noun}`);
    }
    if (typeof most === "number" && count > most) {
      isValid = this.#report(`max${suffix}`, path, `must NOT have more than ${most} ${noun}`);
    }
    return isValid;
  }

  #checkItems(place: Place, items: readonly JsonValue[]): boolean {
    const { schema, resource, path } = place;
    const { minItems, maxItems, uniqueItems } = schema;
    let isValid = this.#checkCount(path, items.length, minItems, maxItems, "Items", "items");
    if (uniqueItems === true && !hasUniqueItems(items, this.#budget)) {
      isValid = this.#report("uniqueItems", path, "must not have equal items");
    }
    // Both dialects have a list of schemas for the first items, and one for the others.
    const hasList = Array.isArray(schema["items"]) && resource.isDraft7;
    const list = hasList ? schema["items"] : resource.isDraft7 ? undefined : schema["prefixItems"];
    const others = hasList ? schema["additionalItems"] : schema["items"];
    const first = Array.isArray(list) ? (list as readonly JsonValue[]) : [];
    for (const [index, item] of items.entries()) {
      if (index >= first.length && others === undefined) break;
      const part = index < first.length ? first[index] : others;
      if (!this.#applyTo(place, part, item, index)) isValid = false;
    }
    place.evaluated.addItems(others === undefined ? Math.min(first.length, items.length) : items.length);
    if (!this.#checkContained(place, items)) isValid = false;
    const { unevaluatedItems } = schema;
    if (unevaluatedItems === undefined || resource.isDraft7) return isValid;
    for (const [index, item] of items.entries()) {
      if (place.evaluated.hasIndex(index)) continue;
      if (unevaluatedItems === false) {
        isValid = this.#report("unevaluatedItems", path, `must NOT have more than ${index} items`);
        break;
      }
      if (!this.#applyTo(place, unevaluatedItems, item, index)) isValid = false;
    }
    place.evaluated.addItems(items.length);
    return isValid;
  }

  #checkContained(place: Place, items: readonly JsonValue[]): boolean {
    const { contains, minContains, maxContains } = place.schema;
    if (contains === undefined) return true;
    const mark = this.problems.length;
    const found = items.flatMap((item, index) =>
      this.#applyTo(place, contains, item, index) ? [index] : [],
    );
    const [least, most] = place.resource.isDraft7
      ? [1, undefined]
      : [
          typeof minContains === "number" ? minContains : 1,
          typeof maxContains === "number" ? maxContains : undefined,
        ];
    if (!place.resource.isDraft7) for (const index of found) place.evaluated.addIndex(index);
    if (found.length >= least && (most === undefined || found.length <= most)) {
      this.problems.length = mark;
      return true;
    }
    const range = most === undefined ? `at least ${least}` : `at least ${least} and no more than ${most}`;
    return this.#report("contains", place.path, `must contain ${range} valid item(s)`);
  }

  #checkProperties(place: Place, value: JsonObject): boolean {
    const { schema, path } = place;
    const names = Object.keys(value).filter((name) => value[name] !== undefined);
    const { minProperties, maxProperties, propertyNames } = schema;
    let isValid = this.#checkCount(
      path,
      names.length,
      minProperties,
      maxProperties,
      "Properties",
      "properties",
    );
    if (!this.#checkRequired(place, value)) isValid = false;
    if (propertyNames !== undefined) {
      for (const name of names) {
        if (this.apply(this.#part(place, propertyNames), name, path, place.scope, new Evaluated())) continue;
        isValid = this.#report("propertyNames", path, "property name must be valid");
      }
    }
    if (!this.#checkDependencies(place, value)) isValid = false;
    for (const name of names)
      if (!this.#checkProperty(place, name, value[name] as JsonValue)) isValid = false;
    const { unevaluatedProperties } = schema;
    if (unevaluatedProperties === undefined || place.resource.isDraft7) return isValid;
    for (const name of names) {
      if (place.evaluated.hasName(name)) continue;
      if (unevaluatedProperties === false) {
        isValid = this.#report("unevaluatedProperties", path, "must NOT have unevaluated properties", {
          unevaluatedProperty: name,
        });
      } else if (!this.#applyTo(place, unevaluatedProperties, value[name] as JsonValue, name))
        isValid = false;
    }
    place.evaluated.addAllNames();
    return isValid;
  }

  #checkRequired({ schema: { required }, path }: Place, value: JsonObject): boolean {
    if (!Array.isArray(required)) return true;
    this.#budget.spend(required.length / 16);
    let isValid = true;
    for (const name of required as readonly string[]) {
      if (hasMember(value, name)) continue;
      isValid = this.#report("required", path, `must have required property '${name}'`);
    }
    return isValid;
  }

  #checkDependencies(place: Place, value: JsonObject): boolean {
    let isValid = true;
    for (const keyword of ["dependentRequired", "dependentSchemas", "dependencies"] as const) {
      const dependencies = place.schema[keyword];
      if (!isJsonObject(dependencies)) continue;
      for (const [name, dependency] of Object.entries(dependencies)) {
        this.#budget.spend(1);
        if (!hasMember(value, name)) continue;
        if (!Array.isArray(dependency)) {
          if (!this.#applyHere(place, dependency, value)) isValid = false;
          continue;
        }
        const missing = (dependency as readonly string[]).filter((other) => !hasMember(value, other));
        for (const other of missing) {
          isValid = this.#report(
            keyword,
            place.path,
            `must have property ${other} when property ${name} is present`,
          );
        }
      }
    }
    return isValid;
  }

  #checkProperty(place: Place, name: string, value: JsonValue): boolean {
    const { properties, patternProperties, additionalProperties } = place.schema;
    let isValid = true;
    let isKnown = false;
    const enter = (schema: JsonValue | undefined) => {
      isKnown = true;
      place.evaluated.addName(name);
      if (!this.#applyTo(place, schema, value, name)) isValid = false;
    };
    if (isJsonObject(properties) && Object.hasOwn(properties, name)) enter(properties[name]);
    if (isJsonObject(patternProperties)) {
      for (const [pattern, schema] of Object.entries(patternProperties)) {
        if (this.#patterns.get(pattern)?.test(name) === true) enter(schema);
      }
    }
    if (isKnown || additionalProperties === undefined) return isValid;
    place.evaluated.addName(name);
    if (additionalProperties !== false) return this.#applyTo(place, additionalProperties, value, name);
    return this.#report("additionalProperties", place.path, "must NOT have additional properties", {
      additionalProperty: name,
    });
  }
}

function isOfType(value: JsonValue, type: string): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isJsonObject(value);
    case "integer":
      return Number.isInteger(value);
    default:
      return typeof value === type;
  }
}

function hasMember(value: JsonObject, name: string): boolean {
  return Object.hasOwn(value, name) && value[name] !== undefined;
}

/** Number of Unicode characters. */
function lengthOf(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}
