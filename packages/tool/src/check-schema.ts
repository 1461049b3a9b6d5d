/**
 * A structural check of JSON Schemas (2020-12 and draft-07) that come from
 * servers. Clients compile the output schema of every tool when they list
 * tools, and one that does not compile fails the list as a whole. This check
 * finds what keeps a schema from compiling: a keyword of the wrong type, a
 * pattern that is no regular expression, a reference that leads nowhere.
 *
 * Pure, and bounded: a schema of more than 10,000 subschemas or 100 levels is a problem.
 * Nothing is fetched, so a reference to another document is one, too.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { DefinitionProblem } from "./check-definition.ts";

const maxSubschemas = 10_000;
const maxDepth = 100;

/** Checks the schema `value`. @returns the first problem that is found, in a list */
export function schemaProblems(value: unknown): readonly DefinitionProblem[] {
  if (!isJsonObject(value)) return [{ member: "", rule: "must be an object" }];
  const problem = new SchemaWalk(value).visit(value, "", 0);
  return problem === undefined ? [] : [problem];
}

const types: ReadonlySet<unknown> = new Set([
  "array",
  "boolean",
  "integer",
  "null",
  "number",
  "object",
  "string",
]);

type Rule = readonly [text: string, isSound: (value: unknown) => boolean];

const aString: Rule = ["must be a string", (value) => typeof value === "string"];
const aNumber: Rule = ["must be a number", (value) => typeof value === "number"];
const aBoolean: Rule = ["must be true or false", (value) => typeof value === "boolean"];
const aCount: Rule = [
  "must be a whole number, 0 or more",
  (value) => Number.isInteger(value) && Number(value) >= 0,
];
const strings: Rule = ["must be a list of strings", isStrings];
const aPattern: Rule = ["must be a regular expression", isPattern];

/** Keywords that have no meaning, or that validators refuse, where another one is absent. */
const companions: ReadonlyMap<string, string> = new Map([
  ["nullable", "type"],
  ["formatMaximum", "format"],
  ["formatMinimum", "format"],
  ["formatExclusiveMaximum", "format"],
  ["formatExclusiveMinimum", "format"],
]);

/** Keywords whose values are no schemas. */
const plainKeywords: ReadonlyMap<string, Rule> = new Map([
  ["$schema", aString],
  ["$id", aString],
  ["$anchor", aString],
  ["$dynamicAnchor", aString],
  ["$comment", aString],
  ["title", aString],
  ["description", aString],
  ["format", aString],
  ["pattern", aPattern],
  ["type", ["must name one or more JSON types", isType]],
  ["enum", ["must be a list with at least one value", (value) => Array.isArray(value) && value.length > 0]],
  ["required", strings],
  ["multipleOf", ["must be a number above 0", (value) => typeof value === "number" && value > 0]],
  ["maximum", aNumber],
  ["minimum", aNumber],
  ["exclusiveMaximum", aNumber],
  ["exclusiveMinimum", aNumber],
  ["maxLength", aCount],
  ["minLength", aCount],
  ["maxItems", aCount],
  ["minItems", aCount],
  ["maxProperties", aCount],
  ["minProperties", aCount],
  ["maxContains", aCount],
  ["minContains", aCount],
  ["uniqueItems", aBoolean],
  ["nullable", aBoolean],
  ["formatMaximum", aString],
  ["formatMinimum", aString],
  ["formatExclusiveMaximum", aString],
  ["formatExclusiveMinimum", aString],
  ["id", ["must be $id: the spelling of draft-04 is refused", () => false]],
  [
    "dependentRequired",
    [
      "must be an object of lists of strings",
      (value) => isJsonObject(value) && Object.values(value).every(isStrings),
    ],
  ],
]);

const schemaKeywords: ReadonlySet<string> = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
]);
const schemaListKeywords: ReadonlySet<string> = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const schemaMapKeywords: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
  "properties",
]);

/** One walk through a schema, up to its first problem. */
class SchemaWalk {
  readonly #root: JsonObject;
  readonly #names: ReadonlySet<string>;
  readonly #ids = new Set<unknown>();
  #count = 0;

  constructor(root: JsonObject) {
    this.#root = root;
    this.#names = namesIn(root);
  }

  /** Returns the first problem of the subschema `value` at `path`. */
  visit(value: unknown, path: string, depth: number): DefinitionProblem | undefined {
    this.#count += 1;
    if (typeof value === "boolean") return undefined;
    if (!isJsonObject(value)) return { member: path, rule: "must be a schema" };
    if (this.#count > maxSubschemas) {
      return { member: path, rule: `is one of more than ${maxSubschemas} subschemas` };
    }
    if (depth > maxDepth) return { member: path, rule: `is nested more than ${maxDepth} levels deep` };
    const { $id: id } = value;
    if (id !== undefined && this.#ids.has(id)) return { member: path, rule: "has an $id that is taken" };
    this.#ids.add(id);
    return firstOf(Object.entries(value), ([keyword, member]) => {
      const place = path === "" ? keyword : `${path}.${keyword}`;
      const companion = companions.get(keyword);
      if (companion !== undefined && value[companion] === undefined) {
        return { member: place, rule: `must not be without ${companion}` };
      }
      return this.#checkKeyword(keyword, member, place, depth + 1);
    });
  }

  #checkKeyword(keyword: string, value: unknown, path: string, depth: number): DefinitionProblem | undefined {
    const plain = plainKeywords.get(keyword);
    if (plain !== undefined) {
      const [text, isSound] = plain;
      return isSound(value) ? undefined : { member: path, rule: text };
    }
    if (keyword === "$ref" || keyword === "$dynamicRef") return this.#checkReference(value, path);
    if (schemaKeywords.has(keyword)) return this.visit(value, path, depth);
    if (schemaListKeywords.has(keyword)) return this.#checkList(value, path, depth);
    if (schemaMapKeywords.has(keyword)) return this.#checkMap(keyword, value, path, depth);
    if (keyword !== "items") return undefined;
    // A list of schemas is the draft-07 form of `prefixItems`.
    return Array.isArray(value) ? this.#checkList(value, path, depth) : this.visit(value, path, depth);
  }

  #checkList(value: unknown, path: string, depth: number): DefinitionProblem | undefined {
    if (!Array.isArray(value) || value.length === 0) {
      return { member: path, rule: "must be a list of schemas" };
    }
    return firstOf([...value.entries()], ([at, one]) => this.visit(one, `${path}[${at}]`, depth));
  }

  #checkMap(keyword: string, value: unknown, path: string, depth: number): DefinitionProblem | undefined {
    if (!isJsonObject(value)) return { member: path, rule: "must be an object of schemas" };
    return firstOf(Object.entries(value), ([name, one]) => {
      const member = `${path}.${name}`;
      if (keyword === "patternProperties" && !isPattern(name)) {
        return { member, rule: "must have a regular expression as its name" };
      }
      return keyword === "dependencies" && isStrings(one) ? undefined : this.visit(one, member, depth);
    });
  }

  #checkReference(value: unknown, path: string): DefinitionProblem | undefined {
    if (typeof value !== "string") return { member: path, rule: "must be a string" };
    const [document = "", place] = value.split("#", 2);
    const isOwn = document === "" || document === draft7 || this.#names.has(document);
    // A pointer into a part with an id of its own counts from there; it is left to the validator.
    const isSound =
      document === "" && place?.startsWith("/") === true
        ? isPlace(this.#root, value)
        : isOwn && (!value.startsWith("#") || value === "#" || this.#names.has(value));
    if (isSound) return undefined;
    const shown = JSON.stringify(value.slice(0, 100));
    return { member: path, rule: `must refer to a place in this schema, not to ${shown}` };
  }
}

function firstOf<Item>(
  items: readonly Item[],
  check: (item: Item) => DefinitionProblem | undefined,
): DefinitionProblem | undefined {
  for (const item of items) {
    const problem = check(item);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The one dialect that every client knows, and that a schema may refer to. */
const draft7 = "http://json-schema.org/draft-07/schema";

/** Whether the JSON Pointer of `reference` leads to a schema. */
function isPlace(root: JsonObject, reference: string): boolean {
  let value: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const name = unescaped(part);
    if (name === undefined || typeof value !== "object" || value === null || !Object.hasOwn(value, name))
      return false;
    value = (value as { readonly [name: string]: unknown })[name];
  }
  return isJsonObject(value) || typeof value === "boolean";
}

function unescaped(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}

/** References by name that `root` defines: `$id`s, and anchors with their `#`. */
function namesIn(root: JsonObject): ReadonlySet<string> {
  const names = new Set<string>();
  const open: { readonly value: unknown; readonly depth: number }[] = [{ value: root, depth: 0 }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, depth } = next;
    if (typeof value !== "object" || value === null || depth > maxDepth || names.size > maxSubschemas)
      continue;
    if (isJsonObject(value)) {
      const { $id: id, $anchor: anchor, $dynamicAnchor: dynamicAnchor } = value;
      if (typeof id === "string") names.add(id).add(id.replace(/#$/, ""));
      for (const one of [anchor, dynamicAnchor]) if (typeof one === "string") names.add(`#${one}`);
    }
    for (const member of Object.values(value)) open.push({ value: member, depth: depth + 1 });
  }
  return names;
}

function isType(value: unknown): boolean {
  if (typeof value === "string") return types.has(value);
  return Array.isArray(value) && value.length > 0 && value.every((one) => types.has(one));
}

function isStrings(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function isPattern(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    // Clients compile patterns with this flag.
    new RegExp(value, "u");
    return true;
  } catch {
    return false;
  }
}
