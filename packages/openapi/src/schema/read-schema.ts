/**
 * A JSON Schema of a document as far as a toolspec asks for it: what type its
 * values have, which fields, which values, and what is said of them. `allOf` is
 * merged, `$ref` followed; where a schema contains itself, reading ends. Reads
 * only as deep as is asked for.
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

/** What reading needs: the documents, and whom to tell. */
export interface SchemaContext {
  readonly documents: Documents;
  readonly findings: Findings;
  /** How many schemas may still be read; below zero nothing more is, and the import fails. */
  readonly left: { schemas: number };
}

/** Most schemas that are read in one import, each as often as something refers to it. */
export const schemasOfImportMaxCount = 4_000_000;

/** A type of JSON Schema, `null` left out. */
export type SchemaType = "string" | "integer" | "number" | "boolean" | "object" | "array";

/** A field of an object, or an item of an array, not read yet. */
export interface SchemaPart extends Part {
  readonly place: Place;
  /** The same field in other alternatives of a `oneOf` or `anyOf`. */
  readonly others?: readonly SchemaPart[];
}

/** A schema that was read. */
export interface Schema {
  /** Empty where any type will do. */
  readonly types: ReadonlySet<SchemaType>;
  readonly properties: ReadonlyMap<string, SchemaPart>;
  readonly required: ReadonlySet<string>;
  /** Whether fields are allowed that are not among `properties`, by what the schema says itself. */
  readonly takesMore: boolean;
  readonly items: SchemaPart | undefined;
  readonly enum: readonly Scalar[] | undefined;
  /** Of `oneOf` and `anyOf`, without those that only say `null`. */
  readonly alternatives: readonly Schema[];
  readonly description: string | undefined;
  readonly example: Node | undefined;
  /** Single fields, of the schema itself or of the parts of its `allOf`. */
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

/** A single field that says something of a schema's values. */
export type Fact = (typeof factNames)[number];

/** Deepest `allOf`, `oneOf` and `anyOf` within one another. */
const compositionMaxDepth = 16;
/** Most schemas that are read for one. */
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

/** Read the schema at `part`. */
export function readSchema(part: SchemaPart, context: SchemaContext): Schema {
  const left = { count: schemasMaxCount };
  const own = read(part, context, { path: new Set(), left });
  if (part.others === undefined) return own;
  const others = part.others.map((other) => read(other, context, { path: new Set(), left }));
  const { example } = own;
  const said = new Set([own, ...others].flatMap((one) => one.description ?? []));
  const description = said.size === 0 ? undefined : [...said].slice(0, 3).join("\n\nOr: ");
  // What only one of them says holds for none of the others.
  const marks = [...own.facts].filter(([name, value]) =>
    others.every((one) => one.facts.get(name) === value),
  );
  const alternatives = [own, ...others];
  return { ...emptyDraft(), alternatives, description, example, facts: new Map(marks) };
}

interface Reading {
  /** Schemas that are being read: one that comes again contains itself. */
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
    // The schema `true` allows everything; `false` is nothing that anyone sends.
    if (own === true) draft.takesMore = true;
    return;
  }
  reading.left.count -= 1;
  context.left.schemas -= 1;
  if (context.left.schemas < 0) return;
  const isAgain = reading.path.has(own) || reading.path.size > compositionMaxDepth || reading.left.count < 0;
  if (isAgain) return;
  const inner = { path: new Set([...reading.path, own]), left: reading.left };
  // What stands beside a $ref counts (3.1), and comes first.
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
    // Some documents write the file of OpenAPI 2.
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

/** Field `name` where it is a text. */
export function factText(schema: Schema, name: Fact): string | undefined {
  const value = schema.facts.get(name);
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Whether a value is the bytes of something. */
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

/** Whether the operation's node says that it is deprecated. */
export function isDeprecated(node: Node | undefined): boolean {
  return isSet(node, "deprecated");
}
