/**
 * Shapes of lists, of maps with fixed fields (`record`), of maps with free keys
 * (`dictionary`), and of values with several forms.
 */

import { nearestName, positionAt } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import {
  type DocumentNode,
  entryOf,
  fieldOf,
  type MapEntry,
  type MapNode,
  stringOf,
} from "./document-tree.ts";
import type { Problem } from "./reporter.ts";
import {
  type Definitions,
  fieldPlace,
  type Inspect,
  knownFieldPlace,
  type Place,
  reportAt,
  reportType,
  type Shape,
} from "./shape.ts";

/** Options of `list`. */
export interface ListOptions<T> {
  readonly description: string;
  readonly maxItems: number;
  /** Code of an empty list. @default an empty list passes */
  readonly emptyCode?: string;
  /** Hint for a value of another type. */
  readonly otherTypeHint?: (node: DocumentNode) => string | undefined;
  /** Checks the items as a whole; an item that failed its check is `undefined`. */
  readonly inspect?: Inspect<readonly (T | undefined)[]>;
}

/** A list of values of one shape. */
export function list<T>(item: Shape<T>, options: ListOptions<T>): Shape<readonly T[]> {
  const { description, maxItems, emptyCode, inspect } = options;
  return {
    check(node, place) {
      const { quote } = place.reporter;
      if (node.kind !== "list")
        return reportType(node, place, "a list", options.otherTypeHint?.(node) ?? loneItemHint(node, place));
      if (node.items.length === 0 && emptyCode !== undefined) {
        const message = `${quote(place.path)} must not be empty`;
        return reportAt(node, place, { code: emptyCode, message, hint: "add an item" });
      }
      if (node.items.length > maxItems) reportTooMany(place, node.items.length, "items", maxItems);
      // Items past the limit are not checked: one finding about the length is enough.
      const values = node.items
        .slice(0, maxItems)
        .map((child, index) => item.check(child, itemPlace(place, child, index)));
      inspect?.(values, node, place);
      return values.filter((value) => value !== undefined);
    },
    toJsonSchema: (definitions) => ({
      type: "array",
      description,
      items: item.toJsonSchema(definitions),
      maxItems,
      ...(emptyCode === undefined ? {} : { minItems: 1 }),
    }),
  };
}

function loneItemHint(node: DocumentNode, { reporter }: Place): string | undefined {
  if (node.kind !== "scalar" || node.value === null) return undefined;
  const quoted = reporter.quote(node.text);
  return quoted.startsWith('"') ? `write it as a list: [${quoted}]` : "write it as a list";
}

function itemPlace(place: Place, node: DocumentNode, index: number): Place {
  const path = `${place.path}[${index}]`;
  return { path, key: String(index), keySpan: node.span, reporter: place.reporter };
}

function reportTooMany(
  { path, keySpan, reporter }: Place,
  count: number,
  noun: string,
  maximum: number,
): void {
  const message = `${reporter.quote(path)} has ${count} ${noun}; at most ${maximum} are allowed`;
  reporter.report({ code: reporter.codes.valueInvalid, message, span: keySpan, path });
}

/** Options of `dictionary`. */
export interface DictionaryOptions<T> {
  readonly description: string;
  readonly maxEntries: number;
  /** Regular expression that matches each key as a whole, and its meaning in words. */
  readonly key: { readonly source: string; readonly meaning: string };
  readonly inspect?: Inspect<{ readonly [key: string]: T }>;
}

/** A map with any keys, whose values have one shape. */
export function dictionary<T>(
  value: Shape<T>,
  options: DictionaryOptions<T>,
): Shape<{ readonly [key: string]: T }> {
  const { description, maxEntries, key, inspect } = options;
  const whole = new RegExp(`^(?:${key.source})$`);
  return {
    check(node, place) {
      if (node.kind !== "map") return reportType(node, place, "a map", "write it as a map: { NAME: value }");
      const { quote, codes } = place.reporter;
      if (node.entries.length > maxEntries) reportTooMany(place, node.entries.length, "entries", maxEntries);
      const pairs: [string, T][] = [];
      for (const entry of node.entries.slice(0, maxEntries)) {
        const at = fieldPlace(place, entry.key, entry.keySpan);
        if (!whole.test(entry.key)) {
          const message = `${quote(entry.key)} cannot be a name in ${quote(place.path)}: a name is ${key.meaning}`;
          at.reporter.report({ code: codes.valueInvalid, message, span: entry.keySpan, path: at.path });
        }
        const checked = value.check(entry.value, at);
        if (checked !== undefined) pairs.push([entry.key, checked]);
      }
      // Defines own properties only, for every key.
      const result = Object.fromEntries(pairs);
      inspect?.(result, node, place);
      return result;
    },
    toJsonSchema: (definitions) => ({
      type: "object",
      description,
      propertyNames: { pattern: `^(?:${key.source})$` },
      additionalProperties: value.toJsonSchema(definitions),
      maxProperties: maxEntries,
    }),
  };
}

/** A required field. */
export interface Required<T> {
  readonly required: Shape<T>;
  /** The reason, for the message. */
  readonly because?: string;
  /** Whether an empty text is a value; otherwise it counts as missing. @default false */
  readonly canBeEmpty?: boolean;
  /** The finding for a missing field. @default a general message with the code of required fields */
  readonly missing?: { readonly code: string; readonly message: string; readonly hint: string };
}

type Field = Shape<unknown> | Required<unknown>;
type Fields = { readonly [name: string]: Field };

/** The value of a `record` with these fields. */
export type RecordOf<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Required<unknown> ? K : never]: F[K] extends Required<infer T>
    ? T
    : never;
} & {
  readonly [K in keyof F as F[K] extends Required<unknown> ? never : K]?: F[K] extends Shape<infer T>
    ? T
    : never;
};

interface RecordBase {
  readonly description: string;
  readonly fields: Fields;
  /** Hints for field names that authors often try, by name. */
  readonly hints?: { readonly [field: string]: string | ((entry: MapEntry) => string) };
  /** Whether unlisted fields are accepted without a check. @default false */
  readonly isOpen?: boolean;
  /** Reports the unlisted fields of a map that has some, which are then accepted without a check. */
  readonly reportUnlisted?: (entries: readonly MapEntry[], place: Place) => void;
  /** Returns the finding for an unlisted field; `undefined` to report it as unknown. */
  readonly misplaced?: (
    entry: MapEntry,
    place: Place,
  ) => { readonly code: string; readonly message: string; readonly hint: string } | undefined;
  /** Name in the `$defs` of the JSON Schema. @default the schema is inlined at each use */
  readonly name?: string;
}

/** Options of `record`. */
export interface RecordOptions<F extends Fields> extends RecordBase {
  readonly fields: F;
  readonly inspect?: Inspect<Partial<RecordOf<F>>>;
}

/** A map with fixed fields. Any other field is an error. */
export function record<const F extends Fields>(options: RecordOptions<F>): Shape<RecordOf<F>> {
  const fields = new Map(Object.entries<Field>(options.fields));
  return {
    check(node, place) {
      if (node.kind !== "map") return reportType(node, place, "a map");
      const value = Object.fromEntries(checkFields(node, place, fields, options)) as Partial<RecordOf<F>>;
      options.inspect?.(value, node, place);
      return value as RecordOf<F>;
    },
    toJsonSchema(definitions) {
      if (options.name === undefined || definitions === undefined) return recordSchema(options, definitions);
      if (!definitions.has(options.name)) definitions.set(options.name, recordSchema(options, definitions));
      return { $ref: `#/$defs/${options.name}` };
    },
  };
}

function checkFields(
  node: MapNode,
  place: Place,
  fields: ReadonlyMap<string, Field>,
  options: RecordBase,
): [string, unknown][] {
  const found: [string, unknown][] = [];
  const unlisted: MapEntry[] = [];
  for (const entry of node.entries) {
    const field = fields.get(entry.key);
    if (field === undefined) {
      if (isOpen(options)) unlisted.push(entry);
      else reportUnknown(entry, node, place, options);
    } else if (!isMissing(field, entry)) {
      const at = knownFieldPlace(place, entry.key, entry.keySpan);
      const value = shapeOf(field).check(entry.value, at);
      if (value !== undefined) found.push([entry.key, value]);
    }
  }
  for (const [name, field] of fields) {
    if (!("required" in field)) continue;
    const entry = entryOf(node, name);
    if (isMissing(field, entry)) reportMissing(node, place, name, field, entry);
  }
  if (unlisted.length > 0) options.reportUnlisted?.(unlisted, place);
  return found;
}

function isOpen(options: RecordBase): boolean {
  return options.isOpen === true || options.reportUnlisted !== undefined;
}

/** Whether a required field is missing or has no value, so that one message covers both. */
function isMissing(field: Field, entry: MapEntry | undefined): boolean {
  if (!("required" in field)) return false;
  if (entry === undefined) return true;
  if (entry.value.kind !== "scalar") return false;
  return entry.value.value === null || (field.canBeEmpty !== true && entry.value.text.trim() === "");
}

function reportMissing(
  node: MapNode,
  place: Place,
  name: string,
  { missing, because }: Required<unknown>,
  entry: MapEntry | undefined,
): void {
  const { quote, codes } = place.reporter;
  const reason = because === undefined ? "" : ` (${because})`;
  const message = missing?.message ?? `Field ${quote(name)} is required in ${ownerName(place)}${reason}`;
  place.reporter.report({
    code: missing?.code ?? codes.fieldRequired,
    message: entry === undefined ? message : `${message}: it is empty`,
    hint: missing?.hint ?? (entry === undefined ? `add ${name}` : `write a value after ${name}:`),
    span: entry?.keySpan ?? node.entries[0]?.keySpan ?? node.span,
    path: place.path,
  });
}

function ownerName({ path, reporter }: Place): string {
  return path === "" ? `the ${reporter.noun}` : reporter.quote(path);
}

/** The keys of maps with unknown fields. A map can have very many of them. */
const presentKeys = new WeakMap<MapNode, ReadonlySet<string>>();

function keysOf(node: MapNode): ReadonlySet<string> {
  const known = presentKeys.get(node);
  if (known !== undefined) return known;
  const keys = new Set(node.entries.map(({ key }) => key));
  presentKeys.set(node, keys);
  return keys;
}

function reportUnknown(entry: MapEntry, node: MapNode, place: Place, options: RecordBase): void {
  const at = fieldPlace(place, entry.key, entry.keySpan);
  const misplaced = options.misplaced?.(entry, at);
  if (misplaced !== undefined) {
    at.reporter.report({ ...misplaced, span: entry.keySpan, path: at.path });
    return;
  }
  const { quote, codes } = place.reporter;
  const known = Object.keys(options.fields);
  const free = known.filter((name) => !keysOf(node).has(name));
  const near = nearestName(entry.key, free) ?? nearestName(entry.key, known);
  at.reporter.report({
    code: codes.unknownField,
    message: `Unknown field ${quote(entry.key)} in ${ownerName(place)}`,
    hint:
      ownHint(entry, options) ??
      (near === undefined ? `allowed: ${known.join(", ")}` : `did you mean ${near}?`),
    span: entry.keySpan,
    path: at.path,
  });
}

function ownHint(entry: MapEntry, { hints = {} }: RecordBase): string | undefined {
  if (entry.key === "<<")
    return "merge keys are not read: repeat the fields, or use an alias for the whole map";
  const own = Object.hasOwn(hints, entry.key) ? hints[entry.key] : undefined;
  return typeof own === "function" ? own(entry) : own;
}

function shapeOf(field: Field): Shape<unknown> {
  return "required" in field ? field.required : field;
}

function recordSchema(options: RecordBase, definitions: Definitions | undefined): JsonObject {
  const required: string[] = [];
  const properties: { [name: string]: JsonObject } = {};
  for (const [name, field] of Object.entries(options.fields)) {
    if ("required" in field) required.push(name);
    properties[name] = shapeOf(field).toJsonSchema(definitions);
  }
  return {
    type: "object",
    description: options.description,
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(isOpen(options) ? {} : { additionalProperties: false }),
  };
}

/** A value of one of two forms; a predicate selects the form. */
export function either<A, B>(
  isFirst: (node: DocumentNode) => boolean,
  first: Shape<A>,
  second: Shape<B>,
  description: string,
): Shape<A | B> {
  return {
    check: (node, place) => (isFirst(node) ? first.check(node, place) : second.check(node, place)),
    toJsonSchema: (definitions) => ({
      description,
      oneOf: [first.toJsonSchema(definitions), second.toJsonSchema(definitions)],
    }),
  };
}

/** Reports a problem with a whole map at its first field, because a map can have many lines. */
export function reportAtMap(node: DocumentNode, place: Place, problem: Problem): undefined {
  const span = node.kind === "map" ? node.entries[0]?.keySpan : undefined;
  return reportAt(node, place, span === undefined ? problem : { ...problem, span });
}

/** Reports each item of `node` whose text `field` repeats that of an earlier item, ignoring white space at the ends. */
export function reportRepeated(
  node: DocumentNode,
  place: Place,
  field: string,
  problemOf: (value: string, lineNumber: number) => Problem,
): void {
  const first = new Map<string, DocumentNode>();
  for (const item of node.kind === "list" ? node.items : []) {
    const found = fieldOf(item, field);
    const value = stringOf(found)?.trim() ?? "";
    if (found === undefined || value === "") continue;
    const earlier = first.get(value);
    if (earlier === undefined) first.set(value, found);
    else {
      const { lineNumber } = positionAt(place.reporter.source.text, earlier.span.start);
      reportAt(found, place, problemOf(value, lineNumber));
    }
  }
}
