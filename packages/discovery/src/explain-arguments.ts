/**
 * Explains invalid arguments so that a model can correct its call: the place, the violated keyword, the part of the
 * schema that says what is allowed, and the nearest valid form. Corrections are shown and never applied.
 *
 * It works on the schema that the client was shown: what is hidden from the client is not named. Everything is
 * bounded: problems, parts of schemas, candidates and characters. Pure.
 */

import { nearestName } from "@toolcrib/diagnostics";
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type SchemaProblem,
  type SchemaValidator,
} from "@toolcrib/json";

/** Most problems that are explained, and characters of a part of a schema, of a value and of corrected arguments. */
const maxProblems = 10;
const partMaxLength = 300;
const valueMaxLength = 120;
const correctedMaxLength = 2000;
/** Most names and values that a misspelt one is compared with, and the longest one that is. */
const maxCandidates = 500;
const candidateMaxLength = 200;

/** A call with invalid arguments. */
export interface InvalidCall {
  /** Name in messages. */
  readonly tool: string;
  /** The input schema that the client was shown. */
  readonly schema: JsonObject;
  /** The arguments that the client sent. */
  readonly args: JsonObject;
  readonly problems: readonly SchemaProblem[];
  /** Names of arguments that the client does not see. */
  readonly hidden: readonly string[];
}

/** A correction of arguments. */
interface Correction {
  readonly path: readonly string[];
  /** The new name of the member; undefined to keep it. */
  readonly name?: string | undefined;
  /** The new value; undefined to keep it. */
  readonly value?: JsonValue | undefined;
}

/** Returns the explanation of `call`. */
export function explainArguments(
  call: InvalidCall,
  validator: Pick<SchemaValidator, "validateSupported">,
): string {
  const { tool, schema, args, hidden } = call;
  const shown = call.problems.filter(({ path }) => !hidden.includes(pathOf(path)[0] ?? ""));
  if (shown.length === 0) {
    return `Invalid arguments for "${tool}": the tool does not accept what the operator of the gateway set for it. The operator can change it (tools of the configuration)`;
  }
  const corrections: Correction[] = [];
  const lines = [`Invalid arguments for "${tool}":`];
  for (const problem of shown.slice(0, maxProblems))
    lines.push(...explained(problem, schema, args, corrections));
  if (shown.length > maxProblems) lines.push(`- and ${shown.length - maxProblems} more`);
  const corrected = corrections.length === 0 ? undefined : correctedArguments(args, corrections);
  if (corrected !== undefined && validator.validateSupported(schema, corrected).kind === "valid") {
    const text = JSON.stringify(corrected);
    if (text.length <= correctedMaxLength) lines.push(`These arguments are valid: ${text}`);
  }
  return lines.join("\n");
}

/** The lines about one problem; adds what would correct it. */
function explained(
  { path, message, keyword, member, types }: SchemaProblem,
  schema: JsonObject,
  args: JsonObject,
  corrections: Correction[],
): readonly string[] {
  const parts = pathOf(path);
  const place = `- ${path === "" ? "the arguments" : path} ${message}`;
  const own = schemaAt(schema, parts);
  const value = valueAt(args, parts);
  const lines = keyword === undefined ? [place] : [`${place} (keyword: ${keyword})`];
  if (keyword === "additionalProperties" || keyword === "unevaluatedProperties") {
    const known = namesOf(own).slice(0, maxCandidates);
    const isSent = (name: string) => isJsonObject(value) && Object.hasOwn(value, name);
    const free = known.filter((name) => !isSent(name));
    const near = member === undefined ? undefined : nearest(member, free);
    if (near !== undefined) corrections.push({ path: [...parts, member as string], name: near });
    lines.push(
      near === undefined ? `  known: ${cut(known.join(", "), partMaxLength)}` : `  did you mean "${near}"?`,
    );
    return lines;
  }
  if (keyword === "required") {
    const needed = member === undefined ? undefined : schemaAt(schema, [...parts, member]);
    if (needed !== undefined) lines.push(`  schema of ${member}: ${partOf(needed, undefined)}`);
    return lines;
  }
  if (own !== undefined) lines.push(`  schema: ${partOf(own, keyword)}`);
  const fitting = fittingValue(value, own, types);
  if (fitting !== undefined) {
    corrections.push({ path: parts, value: fitting });
    lines.push(`  did you mean ${cut(JSON.stringify(fitting), valueMaxLength)}?`);
  }
  return lines;
}

/** Returns the value that was most likely meant. */
function fittingValue(
  value: JsonValue | undefined,
  schema: JsonObject | undefined,
  types: readonly string[] | undefined,
): JsonValue | undefined {
  const { enum: values } = schema ?? {};
  if (Array.isArray(values)) {
    const texts = values.filter((one): one is string => typeof one === "string").slice(0, maxCandidates);
    if (typeof value === "string") return nearest(value, texts);
    return values.find((one) => String(one) === String(value));
  }
  const wanted = types ?? [];
  if (typeof value === "string" && value.length <= candidateMaxLength) {
    if (wanted.includes("boolean") && /^(?:true|false)$/i.test(value.trim())) return /^t/i.test(value.trim());
    const number = value.trim() === "" ? Number.NaN : Number(value);
    if (wanted.includes("integer") && Number.isSafeInteger(number)) return number;
    if (wanted.includes("number") && Number.isFinite(number)) return number;
  }
  if (wanted.includes("string") && (typeof value === "number" || typeof value === "boolean"))
    return String(value);
  if (wanted.includes("integer") && typeof value === "number" && Number.isSafeInteger(Math.round(value)))
    return Math.round(value);
  if (wanted.includes("array") && value !== undefined && value !== null && !Array.isArray(value))
    return [value];
  if (wanted.includes("object") && typeof value === "string" && value.length <= 10 * candidateMaxLength)
    return parsedObject(value);
  return undefined;
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function nearest(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > candidateMaxLength) return undefined;
  const short = candidates.filter((one) => one.length <= candidateMaxLength);
  const plain = (text: string) => text.toLowerCase().replace(/[^a-z0-9]/g, "");
  return short.find((one) => plain(one) === plain(name)) ?? nearestName(name, short);
}

/** The keywords that say what a value may be, besides the violated one. */
const shownKeywords = [
  ...["type", "enum", "const", "format", "pattern", "minimum", "maximum", "minLength", "maxLength"],
  ...["minItems", "maxItems", "required", "description"],
];

/** A part of a schema for people and models: what it requires, without the schemas inside it where these are long. */
function partOf(schema: JsonObject, keyword: string | undefined): string {
  const whole = JSON.stringify(schema);
  if (whole.length <= partMaxLength) return whole;
  const names = [...new Set([...(keyword === undefined ? [] : [keyword]), ...shownKeywords])];
  const chosen = Object.fromEntries(
    names.flatMap((name) => {
      const part = schema[name];
      return part === undefined ? [] : [[name, part] as const];
    }),
  );
  return cut(JSON.stringify(chosen), partMaxLength);
}

function namesOf(schema: JsonObject | undefined): readonly string[] {
  const properties = schema?.["properties"];
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

/** Returns the schema of a place of the arguments, as far as `properties`, `items` and references within the schema lead to it. */
function schemaAt(root: JsonObject, path: readonly string[]): JsonObject | undefined {
  let current: JsonValue | undefined = root;
  for (const part of path) {
    const schema = dereferenced(current, root);
    if (schema === undefined) return undefined;
    const { properties, items, additionalProperties } = schema;
    if (isJsonObject(properties) && Object.hasOwn(properties, part)) current = properties[part];
    else if (/^\d+$/.test(part) && items !== undefined) current = items;
    else current = additionalProperties;
  }
  return dereferenced(current, root);
}

function dereferenced(schema: JsonValue | undefined, root: JsonObject): JsonObject | undefined {
  let current: JsonValue | undefined = schema;
  for (let step = 0; step < 4; step += 1) {
    if (!isJsonObject(current)) return undefined;
    const { $ref: reference } = current;
    if (typeof reference !== "string") return current;
    if (!reference.startsWith("#/")) return undefined;
    current = valueAt(root, pathOf(reference.slice(1)));
  }
  return undefined;
}

/** The parts of a JSON Pointer (RFC 6901). */
function pathOf(pointer: string): readonly string[] {
  if (pointer === "") return [];
  return pointer
    .slice(1)
    .split("/")
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function valueAt(root: JsonValue, path: readonly string[]): JsonValue | undefined {
  let current: JsonValue | undefined = root;
  for (const part of path) {
    const holder: unknown = current;
    if (typeof holder !== "object" || holder === null || !Object.hasOwn(holder, part)) return undefined;
    current = (holder as { readonly [key: string]: JsonValue })[part];
  }
  return current;
}

/** Returns a copy of `args` with the corrections. */
function correctedArguments(args: JsonObject, corrections: readonly Correction[]): JsonObject {
  const copy = structuredClone(args) as JsonObject;
  for (const { path, name, value } of corrections) {
    const last = path.at(-1);
    const holder: unknown = valueAt(copy, path.slice(0, -1));
    if (last === undefined || typeof holder !== "object" || holder === null) continue;
    const members = holder as { [key: string]: JsonValue };
    if (value !== undefined) set(members, last, value);
    if (name === undefined || !Object.hasOwn(members, last)) continue;
    const moved = members[last] as JsonValue;
    delete members[last];
    set(members, name, moved);
  }
  return copy;
}

function set(members: { [key: string]: JsonValue }, name: string, value: JsonValue): void {
  // Not an assignment: a name can be "__proto__".
  Object.defineProperty(members, name, { value, enumerable: true, configurable: true, writable: true });
}

function cut(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${text.slice(0, maxLength - 1)}…`;
}
