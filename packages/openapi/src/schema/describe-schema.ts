/** Describes to a model, in words, what a type does not state: bounds, formats, fields and items. */

import type { ParamType } from "@toolcrib/toolspec";
import { isList, isMap, type Node, type Scalar } from "../document/node.ts";
import { cutLine, sentences, toPlainLine } from "../write/plain-text.ts";
import { factText, isMarked, readSchema, type Schema, type SchemaContext } from "./read-schema.ts";
import { type ChosenType, fieldsOf, typeOfSchema } from "./type-of-schema.ts";

/** Longest own description of a parameter, and longest complete one, in characters. */
const ownMaxLength = 300;
const descriptionMaxLength = 600;
/** Maximum number of enumeration values, and of fields, in a description. */
const valuesMaxCount = 20;
const fieldsMaxCount = 24;

/** Formats that a model can write, or that affect how it writes a value. */
const describedFormats: ReadonlySet<string> = new Set([
  "date",
  "date-time",
  "time",
  "duration",
  "email",
  "uri",
  "url",
  "uuid",
  "byte",
  "ipv4",
  "ipv6",
  "hostname",
  "password",
]);

/** Returns the description of a parameter: `own`, or else the one of the schema, followed by further constraints. */
export function describeSchema(
  schema: Schema,
  chosen: ChosenType,
  own: string | undefined,
  context: SchemaContext,
): string | undefined {
  const said =
    own ??
    schema.description ??
    schema.alternatives.find((one) => one.description !== undefined)?.description;
  const plain = said === undefined ? "" : toPlainLine(said, ownMaxLength);
  const isDeprecated = isMarked(schema, "deprecated") && !/deprecated/i.test(plain);
  const line = sentences([
    isDeprecated ? "Deprecated" : undefined,
    plain,
    ...factsOf(schema, chosen),
    partsOf(schema, chosen.type, context),
  ]);
  return line === "" ? undefined : cutLine(line, descriptionMaxLength);
}

function factsOf(schema: Schema, { type, values, lost }: ChosenType): (string | undefined)[] {
  const format = factText(schema, "format");
  const known = values === undefined ? schema.enum : undefined;
  return [
    known === undefined || type === "boolean" ? undefined : `One of ${listValues(known)}`,
    format !== undefined && describedFormats.has(format) ? `Format: ${format}` : undefined,
    boundsOf(schema),
    defaultOf(schema.facts.get("default")),
    lost.length > 0 ? `Given as ${type}` : undefined,
  ];
}

function listValues(values: readonly Scalar[]): string {
  const shown = values.slice(0, valuesMaxCount).map((value) => toPlainLine(String(value), 60));
  return `${shown.join(", ")}${values.length > shown.length ? ` and ${values.length - shown.length} more` : ""}`;
}

function boundsOf(schema: Schema): string | undefined {
  const number = (name: Parameters<typeof schema.facts.get>[0]) => {
    const value = schema.facts.get(name);
    return typeof value === "number" ? value : undefined;
  };
  const range = (low: number | undefined, high: number | undefined, what: string) => {
    if (low !== undefined && high !== undefined)
      return low === high ? `${low}${what}` : `${low} to ${high}${what}`;
    const named = (count: number) => `${count}${count === 1 ? what.replace(/s$/, "") : what}`;
    if (low !== undefined) return `At least ${named(low)}`;
    return high === undefined ? undefined : `At most ${named(high)}`;
  };
  // Bounds that equal the range of a machine type carry no information.
  const sensible = (value: number | undefined) =>
    value !== undefined && Math.abs(value) < 2 ** 31 - 1 ? value : undefined;
  const numbers = range(sensible(number("minimum")), sensible(number("maximum")), "");
  const low = number("minLength");
  const lengths = range(
    low === undefined || low <= 1 ? undefined : low,
    sensible(number("maxLength")),
    " characters",
  );
  const items = range(sensible(number("minItems")), sensible(number("maxItems")), " items");
  const pattern = factText(schema, "pattern");
  const shown = pattern !== undefined && pattern.length <= 60 && /^[\x20-\x7e]+$/.test(pattern);
  const all = [numbers, lengths, items, shown ? `Pattern: ${pattern}` : undefined];
  return sentences(all) || undefined;
}

function defaultOf(value: Node | undefined): string | undefined {
  if (value === undefined || value === null || value === "" || isMap(value)) return undefined;
  if (isList(value)) return undefined;
  return `Default: ${toPlainLine(String(value), 80)}`;
}

/** Describes the contents of an object or a list, one level deep. */
function partsOf(schema: Schema, type: ParamType, context: SchemaContext): string | undefined {
  if (type === "object") {
    const list = listFields(schema, context);
    return list === undefined ? undefined : `Fields: ${list}`;
  }
  if (type !== "array") return undefined;
  const items = itemsOfSchema(schema);
  if (items === undefined) return undefined;
  const inner = readSchema(items, context);
  const chosen = typeOfSchema(inner, { isText: false });
  const values = chosen.values ?? inner.enum;
  if (values !== undefined) return `Items: ${listValues(values)}`;
  const list = chosen.type === "object" ? listFields(inner, context) : undefined;
  return list === undefined ? `Items: ${chosen.type}` : `Items: object with ${list}`;
}

/** Returns the items of a schema, or of the first alternative that has items. */
export function itemsOfSchema(schema: Schema): Schema["items"] {
  return schema.items ?? schema.alternatives.find((one) => one.items !== undefined)?.items;
}

function listFields(schema: Schema, context: SchemaContext): string | undefined {
  const { fields, required } = fieldsOf(schema);
  const names = [...fields.keys()].sort((a, b) => Number(required.has(b)) - Number(required.has(a)));
  const shown: string[] = [];
  for (const name of names) {
    if (shown.length === fieldsMaxCount) break;
    const part = fields.get(name);
    if (part === undefined) continue;
    const field = readSchema(part, context);
    if (isMarked(field, "readOnly")) continue;
    const { type, values } = typeOfSchema(field, { isText: false });
    const kind =
      values !== undefined && values.length <= 6
        ? values.map((value) => toPlainLine(String(value), 40)).join("|")
        : type;
    shown.push(`${toPlainLine(name, 60)} (${kind}${required.has(name) ? ", required" : ""})`);
  }
  if (shown.length === 0) return undefined;
  const rest = names.length - shown.length;
  return `${shown.join(", ")}${shown.length === fieldsMaxCount && rest > 0 ? ` and ${rest} more` : ""}`;
}
