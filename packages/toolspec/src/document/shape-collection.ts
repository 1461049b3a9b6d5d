/** Shapes of lists, of maps with fixed fields (`record`), and of maps with free keys (`dictionary`). */

import { nearestName, positionAt } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { DocumentNode, MapEntry, MapNode } from "./document-tree.ts";
import { quote } from "./reporter.ts";
import { fieldPlace, type Inspect, type Place, reportAt, reportType, type Shape } from "./shape.ts";

interface ListOptions<T> {
  readonly description: string;
  readonly maxItems: number;
  /** Code of an empty list, where it must not be empty. */
  readonly emptyCode?: string;
  readonly inspect?: Inspect<readonly (T | undefined)[]>;
}

/** A list of like values. */
export function list<T>(item: Shape<T>, options: ListOptions<T>): Shape<readonly T[]> {
  const { description, maxItems, emptyCode, inspect } = options;
  return {
    check(node, place) {
      if (node.kind !== "list") {
        const lone =
          node.kind === "scalar" && node.value !== null
            ? `write it as a list: [${quote(node.text)}]`
            : undefined;
        return reportType(node, place, "a list", lone);
      }
      if (node.items.length === 0 && emptyCode !== undefined) {
        const message = `${quote(place.path)} must not be empty`;
        return reportAt(node, place, { code: emptyCode, message, hint: "add an item" });
      }
      if (node.items.length > maxItems) {
        const message = `${quote(place.path)} has ${node.items.length} items; at most ${maxItems} are allowed`;
        reportAt(node, place, { code: place.reporter.codes.valueInvalid, message, span: place.keySpan });
      }
      // Those past the limit are not looked at: one finding about a runaway list is enough.
      const values = node.items.slice(0, maxItems).map((child, index) =>
        item.check(child, {
          path: `${place.path}[${index}]`,
          key: String(index),
          keySpan: child.span,
          reporter: place.reporter,
        }),
      );
      inspect?.(values, node, place);
      return values.filter((value) => value !== undefined);
    },
    toJsonSchema: () => ({
      type: "array",
      description,
      items: item.toJsonSchema(),
      maxItems,
      ...(emptyCode === undefined ? {} : { minItems: 1 }),
    }),
  };
}

interface DictionaryOptions {
  readonly description: string;
  readonly maxEntries: number;
  /** What each key must match as a whole, and what that means in words. */
  readonly key: { readonly source: string; readonly meaning: string };
}

/** A map whose keys are the author's. */
export function dictionary<T>(
  value: Shape<T>,
  { description, maxEntries, key }: DictionaryOptions,
): Shape<{ readonly [key: string]: T }> {
  const whole = new RegExp(`^(?:${key.source})$`);
  return {
    check(node, place) {
      if (node.kind !== "map") return reportType(node, place, "a map");
      const code = place.reporter.codes.valueInvalid;
      if (node.entries.length > maxEntries) {
        const message = `${quote(place.path)} has ${node.entries.length} entries; at most ${maxEntries} are allowed`;
        reportAt(node, place, { code, message, span: place.keySpan });
      }
      const pairs: [string, T][] = [];
      for (const entry of node.entries.slice(0, maxEntries)) {
        const at = fieldPlace(place, entry.key, entry.keySpan);
        if (!whole.test(entry.key)) {
          const message = `${quote(entry.key)} cannot be a name in ${quote(place.path)}: a name is ${key.meaning}`;
          at.reporter.report({ code, message, span: entry.keySpan, path: at.path });
        }
        const checked = value.check(entry.value, at);
        if (checked !== undefined) pairs.push([entry.key, checked]);
      }
      // Defines own properties only, whatever the keys are called.
      return Object.fromEntries(pairs);
    },
    toJsonSchema: () => ({
      type: "object",
      description,
      propertyNames: { pattern: `^(?:${key.source})$` },
      additionalProperties: value.toJsonSchema(),
      maxProperties: maxEntries,
    }),
  };
}

/** A field that must be there. */
export interface Required<T> {
  readonly required: Shape<T>;
  /** Why, for the message. */
  readonly because?: string;
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
  /** What to do about fields that people try, by their name. */
  readonly hints?: { readonly [field: string]: string };
  /** Fields that belong elsewhere: code and message of such a field. */
  readonly misplaced?: (entry: MapEntry) => { code: string; message: string; hint: string } | undefined;
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
    toJsonSchema: () => recordSchema(options),
  };
}

function checkFields(node: MapNode, place: Place, options: RecordBase): [string, unknown][] {
  const found: [string, unknown][] = [];
  const present = new Map(node.entries.map((entry) => [entry.key, entry]));
  for (const entry of node.entries) {
    const field = Object.hasOwn(options.fields, entry.key) ? options.fields[entry.key] : undefined;
    const at = fieldPlace(place, entry.key, entry.keySpan);
    if (field === undefined) reportUnknown(entry, at, present, place, options);
    else if (!isMissing(field, entry)) {
      const value = shapeOf(field).check(entry.value, at);
      if (value !== undefined) found.push([entry.key, value]);
    }
  }
  for (const [name, field] of Object.entries(options.fields)) {
    const entry = present.get(name);
    if (isMissing(field, entry)) reportMissing(node, place, name, field as Required<unknown>, entry);
  }
  return found;
}

/** Whether a required field is not there; one without a value is not. */
function isMissing(field: Shape<unknown> | Required<unknown>, entry: MapEntry | undefined): boolean {
  if (!("required" in field)) return false;
  if (entry === undefined) return true;
  return entry.value.kind === "scalar" && (entry.value.value === null || entry.value.text.trim() === "");
}

function reportMissing(
  node: MapNode,
  place: Place,
  name: string,
  field: Required<unknown>,
  entry: MapEntry | undefined,
): void {
  const where = place.path === "" ? `the ${place.reporter.noun}` : quote(place.path);
  const state = entry === undefined ? "" : ": it is empty";
  const reason = field.because === undefined ? "" : ` (${field.because})`;
  place.reporter.report({
    code: place.reporter.codes.fieldRequired,
    message: `Field ${quote(name)} is required in ${where}${reason}${state}`,
    hint: entry === undefined ? `add ${name}` : `write a value behind ${name}:`,
    span: entry?.keySpan ?? node.entries[0]?.keySpan ?? node.span,
    path: place.path,
  });
}

function reportUnknown(
  entry: MapEntry,
  at: Place,
  present: ReadonlyMap<string, MapEntry>,
  place: Place,
  options: RecordBase,
): void {
  const misplaced = options.misplaced?.(entry);
  if (misplaced !== undefined) {
    at.reporter.report({ ...misplaced, span: entry.keySpan, path: at.path });
    return;
  }
  const known = Object.keys(options.fields);
  const free = known.filter((name) => !present.has(name));
  const near = nearestName(entry.key, free) ?? nearestName(entry.key, known);
  const own = Object.hasOwn(options.hints ?? {}, entry.key) ? options.hints?.[entry.key] : undefined;
  const merge = entry.key === "<<" ? "merge keys are not read: repeat the fields" : undefined;
  const parent = place.path === "" ? `the ${place.reporter.noun}` : quote(place.path);
  at.reporter.report({
    code: place.reporter.codes.unknownField,
    message: `Unknown field ${quote(entry.key)} in ${parent}`,
    hint: merge ?? own ?? (near === undefined ? `allowed: ${known.join(", ")}` : `did you mean ${near}?`),
    span: entry.keySpan,
    path: at.path,
  });
}

function shapeOf(field: Shape<unknown> | Required<unknown>): Shape<unknown> {
  return "required" in field ? field.required : field;
}

function recordSchema(options: RecordBase): JsonObject {
  const required: string[] = [];
  const properties: { [name: string]: JsonObject } = {};
  for (const [name, field] of Object.entries(options.fields)) {
    if ("required" in field) required.push(name);
    properties[name] = shapeOf(field).toJsonSchema();
  }
  return {
    type: "object",
    description: options.description,
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
  };
}

/** Report every item of `node` whose `field` is that of an earlier item. */
export function reportRepeated(
  node: DocumentNode,
  place: Place,
  field: string,
  problemOf: (value: string, lineNumber: number) => { code: string; message: string; hint: string },
): void {
  const first = new Map<string, DocumentNode>();
  for (const item of node.kind === "list" ? node.items : []) {
    const found = item.kind === "map" ? item.entries.find(({ key }) => key === field)?.value : undefined;
    if (found?.kind !== "scalar" || typeof found.value !== "string" || found.value === "") continue;
    const earlier = first.get(found.value);
    if (earlier === undefined) first.set(found.value, found);
    else {
      const { lineNumber } = positionAt(place.reporter.source.text, earlier.span.start);
      reportAt(found, place, problemOf(found.value, lineNumber));
    }
  }
}
