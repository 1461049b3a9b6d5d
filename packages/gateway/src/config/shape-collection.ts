/**
 * Shapes of lists, of maps with fixed fields (`record`), of maps with free keys
 * (`dictionary`), and of values with several forms.
 */

import { nearestName } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { configFieldRequired, configInvalidValue, configUnknownField } from "./codes.ts";
import type { ConfigEntry, ConfigMap, ConfigNode } from "./config-tree.ts";
import { looksLikeCredential } from "./credential.ts";
import { quote } from "./reporter.ts";
import {
  type Definitions,
  fieldPlace,
  type Inspect,
  invalid,
  type Place,
  reportAt,
  reportType,
  type Shape,
} from "./shape.ts";

interface ListOptions<T> {
  readonly description: string;
  readonly maxItems: number;
  /** Fewest items. @default 0 */
  readonly minItems?: number;
  /** What to write in place of a value of another type. */
  readonly instead?: (node: ConfigNode) => string | undefined;
  /** Sees the items with their places; those of unusable items are `undefined`. */
  readonly inspect?: Inspect<readonly (T | undefined)[]>;
}

/** A list of like values. */
export function list<T>(item: Shape<T>, options: ListOptions<T>): Shape<readonly T[]> {
  const { description, maxItems, minItems = 0, inspect } = options;
  return {
    check(node, place) {
      if (node.kind !== "list") {
        return reportType(node, place, "a list", options.instead?.(node) ?? loneItemHint(node));
      }
      if (node.items.length > maxItems)
        invalid(node, place, `${quote(place.path)} has more than ${maxItems} items`);
      if (node.items.length < minItems) invalid(node, place, `${quote(place.path)} is empty`);
      // Those past the limit are not looked at: one finding about a runaway list is enough.
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
      ...(minItems > 0 ? { minItems } : {}),
    }),
  };
}

function loneItemHint(node: ConfigNode): string | undefined {
  if (node.kind !== "scalar" || node.value === null) return undefined;
  return looksLikeCredential(node.text) ? "write it as a list" : `write it as a list: [${quote(node.text)}]`;
}

function itemPlace(place: Place, node: ConfigNode, index: number): Place {
  const path = `${place.path}[${index}]`;
  return { path, key: String(index), keySpan: node.span, reporter: place.reporter };
}

interface DictionaryOptions<T> {
  readonly description: string;
  readonly maxEntries: number;
  /** What each key must match as a whole, and what that means in words. */
  readonly key: { readonly source: string; readonly meaning: string };
  readonly inspect?: Inspect<{ readonly [key: string]: T }>;
}

/** A map whose keys are the user's. */
export function dictionary<T>(
  value: Shape<T>,
  options: DictionaryOptions<T>,
): Shape<{ readonly [key: string]: T }> {
  const { description, maxEntries, key, inspect } = options;
  const wholeKey = new RegExp(`^(?:${key.source})$`);
  return {
    check(node, place) {
      if (node.kind !== "map") return reportType(node, place, "a map", "write it as a map: { NAME: value }");
      if (node.entries.length > maxEntries) {
        invalid(node, place, `${quote(place.path)} has more than ${maxEntries} entries`);
      }
      const pairs: [string, T][] = [];
      for (const entry of node.entries.slice(0, maxEntries)) {
        const at = fieldPlace(place, entry.key, entry.keySpan);
        if (!wholeKey.test(entry.key)) {
          const message = `${quote(entry.key)} cannot be a name in ${quote(place.path)}: a name is ${key.meaning}`;
          at.reporter.report({ code: configInvalidValue, message, span: entry.keySpan, path: at.path });
        }
        const checked = value.check(entry.value, at);
        if (checked !== undefined) pairs.push([entry.key, checked]);
      }
      // Defines own properties only, whatever the keys are called.
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

/** A field that must be there. */
export interface Required<T> {
  readonly required: Shape<T>;
  /** What is said when it is not; a plain sentence when left out. */
  readonly missing?: { readonly code: string; readonly message: string; readonly hint: string };
}

type Fields = { readonly [name: string]: Shape<unknown> | Required<unknown> };

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
  /** What to do about fields that other programs have, by their name. */
  readonly hints?: { readonly [field: string]: string | ((entry: ConfigEntry) => string) };
  /** Whether fields that are not listed pass without a look. @default false */
  readonly isOpen?: boolean;
  /** Takes over a field that is not listed; `false` leaves it to be reported as unknown. */
  readonly onUnknown?: (entry: ConfigEntry, place: Place) => boolean;
  /** Its name in the `$defs` of the JSON Schema; without one it is written where it is used. */
  readonly name?: string;
}

interface RecordOptions<F extends Fields> extends RecordBase {
  readonly fields: F;
  readonly inspect?: Inspect<Partial<RecordOf<F>>>;
}

/** A map with fixed fields. Any other field is an error. */
export function record<const F extends Fields>(options: RecordOptions<F>): Shape<RecordOf<F>> {
  return {
    check(node, place) {
      if (node.kind !== "map") return reportType(node, place, "a map");
      const value = Object.fromEntries(checkFields(node, place, options)) as Partial<RecordOf<F>>;
      options.inspect?.(value, node, place);
      return value as RecordOf<F>;
    },
    toJsonSchema(definitions) {
      if (options.name === undefined) return recordSchema(options, definitions);
      if (!definitions.has(options.name)) definitions.set(options.name, recordSchema(options, definitions));
      return { $ref: `#/$defs/${options.name}` };
    },
  };
}

function checkFields(node: ConfigMap, place: Place, options: RecordBase): [string, unknown][] {
  const found: [string, unknown][] = [];
  const present = new Map(node.entries.map((entry) => [entry.key, entry]));
  for (const entry of node.entries) {
    const at = fieldPlace(place, entry.key, entry.keySpan);
    const field = Object.hasOwn(options.fields, entry.key) ? options.fields[entry.key] : undefined;
    if (field === undefined) {
      if (options.isOpen !== true && options.onUnknown?.(entry, at) !== true)
        reportUnknown(entry, at, present, place, options);
      continue;
    }
    if (isEmptyField(field, entry)) continue;
    const value = shapeOf(field).check(entry.value, at);
    if (value !== undefined) found.push([entry.key, value]);
  }
  for (const [name, field] of Object.entries(options.fields)) {
    const entry = present.get(name);
    if ("required" in field && (entry === undefined || isEmptyField(field, entry))) {
      reportMissing(node, place, name, field, entry);
    }
  }
  return found;
}

/** A required field that is written without a value counts as missing, so that one message says so. */
function isEmptyField(field: Shape<unknown> | Required<unknown>, entry: ConfigEntry): boolean {
  return "required" in field && entry.value.kind === "scalar" && entry.value.text.trim() === "";
}

function reportMissing(
  node: ConfigMap,
  place: Place,
  name: string,
  field: Required<unknown>,
  entry: ConfigEntry | undefined,
): void {
  const span = entry?.keySpan ?? node.entries[0]?.keySpan ?? node.span;
  const where = place.path === "" ? "the configuration" : quote(place.path);
  const isWritten = entry !== undefined;
  const missing = field.missing ?? {
    code: configFieldRequired,
    message: `Field ${quote(name)} is required in ${where}`,
    hint: `add ${name}`,
  };
  place.reporter.report({
    code: missing.code,
    message: isWritten ? `${missing.message}: it is empty` : missing.message,
    hint: missing.hint,
    span,
    path: place.path,
  });
}

function reportUnknown(
  entry: ConfigEntry,
  at: Place,
  present: ReadonlyMap<string, ConfigEntry>,
  place: Place,
  options: RecordBase,
): void {
  const known = Object.keys(options.fields);
  const mergeHint = "merge keys are not read: repeat the fields, or use an alias for the whole map";
  const own =
    entry.key === "<<"
      ? mergeHint
      : Object.hasOwn(options.hints ?? {}, entry.key)
        ? options.hints?.[entry.key]
        : undefined;
  const near =
    nearestName(
      entry.key,
      known.filter((name) => !present.has(name)),
    ) ?? nearestName(entry.key, known);
  const parent = place.path === "" ? "the configuration" : quote(place.path);
  at.reporter.report({
    code: configUnknownField,
    message: `Unknown field ${quote(entry.key)} in ${parent}`,
    hint:
      (typeof own === "function" ? own(entry) : own) ??
      (near === undefined ? `allowed: ${known.join(", ")}` : `did you mean ${near}?`),
    span: entry.keySpan,
    path: at.path,
  });
}

function shapeOf(field: Shape<unknown> | Required<unknown>): Shape<unknown> {
  return "required" in field ? field.required : field;
}

function recordSchema(options: RecordBase, definitions: Definitions): JsonObject {
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
    ...(options.isOpen === true ? {} : { additionalProperties: false }),
  };
}

/** A value of one of two forms, told apart by its look. */
export function either<A, B>(
  isFirst: (node: ConfigNode) => boolean,
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

/** Report at a whole map: at its first field, because a map may be many lines. */
export function reportAtMap(node: ConfigNode, place: Place, problem: Parameters<typeof reportAt>[2]): void {
  const span = node.kind === "map" ? node.entries[0]?.keySpan : undefined;
  reportAt(node, place, span === undefined ? problem : { ...problem, span });
}
