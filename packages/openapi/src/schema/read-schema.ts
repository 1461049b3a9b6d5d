/**
 * Reads the parts of a JSON Schema that a toolspec needs: types, fields, values
 * and descriptions. Merges `allOf` and follows `$ref`; stops where a schema
 * contains itself. Reads lazily, only as deep as the caller asks.
 */

import type { Findings, Place } from "../document/findings.ts";
import {
  fieldOf,
  isList,
  isMap,
  isSet,
  itemsOf,
  type MapNode,
  type Node,
  type Scalar,
  textOf,
} from "../document/node.ts";
import type { Documents, Part } from "../document/references.ts";

/** Dependencies of reading a schema: the documents, and the collector of findings. */
export interface SchemaContext {
  readonly documents: Documents;
  readonly findings: Findings;
  /** Number of schemas that can still be read; below zero the import fails. */
  readonly left: { schemas: number };
}

/** Maximum number of schemas that one import reads, counted once per reference. */
export const schemasOfImportMaxCount = 4_000_000;

/** A type of JSON Schema, except `null`. */
export type SchemaType = "string" | "integer" | "number" | "boolean" | "object" | "array";

/** A field of an object, or an item of an array, that is not read yet. */
export interface SchemaPart extends Part {
  readonly place: Place;
  /** The same field in other alternatives of a `oneOf` or `anyOf`. */
  readonly others?: readonly SchemaPart[];
}

/** A schema that was read. */
export interface Schema {
  /** Empty when every type is allowed. */
  readonly types: ReadonlySet<SchemaType>;
  readonly properties: ReadonlyMap<string, SchemaPart>;
  readonly required: ReadonlySet<string>;
  /** Whether the schema itself allows fields that are not in `properties`. */
  readonly takesMore: boolean;
  readonly items: SchemaPart | undefined;
  readonly enum: readonly Scalar[] | undefined;
  /** Alternatives of `oneOf` and `anyOf`, without those that only allow `null`. */
  readonly alternatives: readonly Schema[];
  readonly description: string | undefined;
  readonly example: Node | undefined;
  /** Single keywords, of the schema itself or of the parts of its `allOf`. */
  readonly facts: ReadonlyMap<Fact, Node>;
}

const factNames = [
  "format",
  "default",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "pattern",
  "readOnly",
  "deprecated",
  "contentEncoding",
  "contentMediaType",
] as const;

/** A single keyword that constrains or describes the values of a schema. */
export type Fact = (typeof factNames)[number];

/** Deepest nesting of `allOf`, `oneOf` and `anyOf`. */
const compositionMaxDepth = 16;
/** Maximum number of schemas that are read to resolve one schema. */
const schemasMaxCount = 500;

const typeNames: ReadonlySet<string> = new Set(["string", "integer", "number", "boolean", "object", "array"]);

interface Draft {
  readonly types: Set<SchemaType>;
  readonly properties: Map<string, SchemaPart>;
  readonly required: Set<string>;
  readonly alternatives: Schema[];
  readonly facts: Map<Fact, Node>;
  takesMore: boolean;
  items: SchemaPart | undefined;
  enum: readonly Scalar[] | undefined;
  description: string | undefined;
  example: Node | undefined;
}

/** Reads the schema at `part`. */
export function readSchema(part: SchemaPart, context: SchemaContext): Schema {
  const left = { count: schemasMaxCount };
  const own = read(part, context, { path: new Set(), left });
  if (part.others === undefined) return own;
  const others = part.others.map((other) => read(other, context, { path: new Set(), left }));
  const { example } = own;
  const said = new Set([own, ...others].flatMap((one) => one.description ?? []));
  const description = said.size === 0 ? undefined : [...said].slice(0, 3).join("\n\nOr: ");
  // A keyword of one alternative does not apply to the others.
  const marks = [...own.facts].filter(([name, value]) =>
    others.every((one) => one.facts.get(name) === value),
  );
  const alternatives = [own, ...others];
  return { ...emptyDraft(), alternatives, description, example, facts: new Map(marks) };
}

interface Reading {
  /** Schemas on the current path: one that occurs again contains itself. */
  readonly path: ReadonlySet<Node>;
  readonly left: { count: number };
}

function read(part: SchemaPart, context: SchemaContext, reading: Reading): Schema {
  const draft = emptyDraft();
  add(draft, part, context, reading);
  return draft;
}

function emptyDraft(): Draft {
  return {
    types: new Set(),
    properties: new Map(),
    required: new Set(),
    alternatives: [],
    facts: new Map(),
    takesMore: false,
    items: undefined,
    enum: undefined,
    description: undefined,
    example: undefined,
  };
}

function add(draft: Draft, part: SchemaPart, context: SchemaContext, reading: Reading): void {
  const own = part.node;
  if (!isMap(own)) {
    // The schema `true` allows every value; `false` allows none, so no client sends one.
    if (own === true) draft.takesMore = true;
    return;
  }
  reading.left.count -= 1;
  context.left.schemas -= 1;
  if (context.left.schemas < 0) return;
  const isAgain = reading.path.has(own) || reading.path.size > compositionMaxDepth || reading.left.count < 0;
  if (isAgain) return;
  const inner = { path: new Set([...reading.path, own]), left: reading.left };
  // Keywords next to a $ref apply (3.1) and take precedence.
  addOwn(draft, own, part);
  if (own.fields.has("$ref")) {
    const { node, file } = context.documents.follow(part, context.findings, part.place);
    if (node !== own && node !== undefined) add(draft, { node, file, place: part.place }, context, inner);
  }
  for (const node of itemsOf(own, "allOf")) add(draft, { ...part, node }, context, inner);
  for (const keyword of ["oneOf", "anyOf"]) {
    for (const node of itemsOf(own, keyword)) {
      const schema = read({ ...part, node }, context, inner);
      if (!isOnlyNull(node)) draft.alternatives.push(schema);
    }
  }
}

function isOnlyNull(node: Node): boolean {
  if (fieldOf(node, "type") === "null") return true;
  const values = fieldOf(node, "enum");
  return isList(values) && values.items.every((value) => value === null);
}

function addOwn(draft: Draft, own: MapNode, part: SchemaPart): void {
  const type = own.fields.get("type");
  for (const name of isList(type) ? type.items : [type]) {
    if (typeof name === "string" && typeNames.has(name)) draft.types.add(name as SchemaType);
    // Some documents use the `file` type of OpenAPI 2.
    if (name === "file") draft.types.add("string");
  }
  const properties = own.fields.get("properties");
  for (const [name, node] of isMap(properties) ? properties.fields : []) {
    if (draft.properties.has(name)) continue;
    draft.properties.set(name, {
      node,
      file: part.file,
      place: { file: part.file, owner: properties, key: name },
    });
  }
  for (const name of itemsOf(own, "required")) if (typeof name === "string") draft.required.add(name);
  const more = own.fields.get("additionalProperties");
  if (more === true || isMap(more) || isMap(own.fields.get("patternProperties"))) draft.takesMore = true;
  const items = own.fields.get("items");
  if (items !== undefined)
    draft.items ??= { node: items, file: part.file, place: { file: part.file, owner: own, key: "items" } };
  addValues(draft, own);
  draft.description ??= textOf(own, "description") ?? textOf(own, "title");
  draft.example ??= own.fields.get("example") ?? itemsOf(own, "examples")[0];
  for (const name of factNames) {
    const value = own.fields.get(name);
    if (value !== undefined && !draft.facts.has(name)) draft.facts.set(name, value);
  }
}

function addValues(draft: Draft, own: MapNode): void {
  const constant = own.fields.get("const");
  const list = own.fields.get("enum");
  const values = constant !== undefined ? [constant] : isList(list) ? list.items : undefined;
  const scalars = values?.filter(
    (value): value is Scalar => !isMap(value) && !isList(value) && value !== null && value !== "",
  );
  if (scalars !== undefined && scalars.length > 0) draft.enum ??= scalars;
}

/** Whether field `name` is `true`. */
export function isMarked(schema: Schema, name: Fact): boolean {
  return schema.facts.get(name) === true;
}

/** Returns field `name`, if it is a text. */
export function factText(schema: Schema, name: Fact): string | undefined {
  const value = schema.facts.get(name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Whether a value is binary content. */
export function isBinary(schema: Schema): boolean {
  const format = factText(schema, "format");
  const media = factText(schema, "contentMediaType");
  const isEncoded = factText(schema, "contentEncoding") !== undefined;
  return (
    format === "binary" ||
    format === "file" ||
    (media !== undefined && !isEncoded && !/^text\/|json/.test(media))
  );
}

/** Whether the node of an operation marks it as deprecated. */
export function isDeprecated(node: Node | undefined): boolean {
  return isSet(node, "deprecated");
}
