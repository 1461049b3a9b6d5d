/**
 * Shapes: one description of a value that both checks it and generates its JSON
 * Schema, so that the two cannot diverge. A shape reports each problem at its
 * place in the text and continues. The value that it then returns lacks the
 * faulty parts, and `checkDocument` discards it because of the reported error.
 *
 * This file has the shapes of single values; shape-collection.ts has the others.
 */

import { nearestName, type Span } from "@toolcrib/diagnostics";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { yaml11Meaning } from "./bare-words.ts";
import { type DocumentNode, type ScalarNode, toJsonValue, typeName } from "./document-tree.ts";
import { meantFlag, meantNumber } from "./meant-value.ts";
import type { Problem, Reporter } from "./reporter.ts";
import { listOf } from "./shown-text.ts";

/** The place of a value in its document. */
export interface Place {
  /** Path, such as `tools[0].path`; empty for the whole document. */
  readonly path: string;
  /** Field name or index of the value; empty for the whole document. */
  readonly key: string;
  /** The span of `key`; for a list item, the span of the item. */
  readonly keySpan: Span;
  readonly reporter: Reporter;
}

/** Named parts of a JSON Schema, for its `$defs`. */
export type Definitions = Map<string, JsonObject>;

/** The requirements for a value. */
export interface Shape<T> {
  /** Returns the value of `node`; `undefined` after it reported that the value is unusable. */
  check(node: DocumentNode, place: Place): T | undefined;
  /**
   * Returns the JSON Schema of the values that pass.
   *
   * @param definitions receives the named parts. @default named parts are inlined at each use
   */
  toJsonSchema(definitions?: Definitions): JsonObject;
}

/** The type of the values of a shape. */
export type ValueOf<S> = S extends Shape<infer T> ? T : never;

/** Checks a value of the right shape further, and reports its findings. */
export type Inspect<T> = (value: T, node: DocumentNode, place: Place) => void;

/** Reports a problem at `node`, or at its field name if the value is empty. */
export function reportAt(node: DocumentNode, place: Place, problem: Problem): undefined {
  const isEmpty = node.span.end <= node.span.start;
  place.reporter.report({ path: place.path, span: isEmpty ? place.keySpan : node.span, ...problem });
  return undefined;
}

/** Reports that the value of `node` is not allowed, with the code of invalid values. */
export function invalid(node: DocumentNode, place: Place, message: string, hint?: string): undefined {
  return reportAt(node, place, { code: place.reporter.codes.valueInvalid, message, hint });
}

/** Reports that `node` is not `wanted`. */
export function reportType(node: DocumentNode, place: Place, wanted: string, hint?: string): undefined {
  const { noun, codes, quote } = place.reporter;
  const name = place.path === "" ? `The ${noun}` : quote(place.path);
  const isUnquoted = wanted === "a string" && node.kind === "scalar" && node.text !== "";
  return reportAt(node, place, {
    code: codes.wrongType,
    message: `${name} must be ${wanted}, but is ${typeName(node)}`,
    hint: hint ?? (isUnquoted ? `write it in quotes: ${quote(node.text)}` : undefined),
  });
}

/** Returns the place of field `key` of the value at `place`. */
export function fieldPlace(place: Place, key: string, keySpan: Span): Place {
  const quoted = place.reporter.quote(key);
  // A key that messages do not quote is not shown in paths either.
  if (/^[A-Za-z_$][\w$-]*$/.test(key) && quoted === `"${key}"`) return knownFieldPlace(place, key, keySpan);
  return { path: `${place.path}[${quoted}]`, key, keySpan, reporter: place.reporter };
}

/** Returns the place of a field whose name the shape defines, so that no secret can be in it. */
export function knownFieldPlace({ path, reporter }: Place, key: string, keySpan: Span): Place {
  return { path: path === "" ? key : `${path}.${key}`, key, keySpan, reporter };
}

/** Options of `text`. */
export interface TextOptions {
  readonly description: string;
  /** Source of a regular expression that matches the whole text, and its meaning in words. */
  readonly pattern?: { readonly source: string; readonly meaning: string; readonly code?: string };
  /** Code of a value that does not pass. @default that of invalid values */
  readonly code?: string;
  /** Fewest characters, without white space at the ends; 0 allows an empty text. @default 1 */
  readonly minLength?: number;
  readonly maxLength: number;
  /** For the JSON Schema. */
  readonly default?: string;
  /** For the JSON Schema. */
  readonly examples?: readonly string[];
  readonly inspect?: Inspect<string>;
  /** Whether an author might write a secret here by mistake; messages then do not quote the value. @default false */
  readonly isNameOfSecret?: boolean;
  /** Returns the correction of a text that does not match, if it is clear. */
  readonly instead?: (value: string) => string | undefined;
  /** Returns the hint for a value of another type. */
  readonly otherTypeHint?: (node: DocumentNode) => string | undefined;
}

/** A string. */
export function text(options: TextOptions): Shape<string> {
  const { description, pattern, minLength = 1, maxLength, inspect, examples } = options;
  const whole = pattern === undefined ? undefined : new RegExp(`^(?:${pattern.source})$`);
  return {
    check(node, place) {
      if (node.kind !== "scalar" || typeof node.value !== "string")
        return reportType(node, place, "a string", options.otherTypeHint?.(node));
      const { value } = node;
      const { quote, codes } = place.reporter;
      const code = options.code ?? codes.valueInvalid;
      if (value.trim().length < minLength) {
        const hint = "write a value, or remove the field";
        return reportAt(node, place, { code, message: `${quote(place.path)} is empty`, hint });
      }
      if (value.length > maxLength) {
        const message = `${quote(place.path)} has ${value.length} characters; at most ${maxLength} are allowed`;
        return reportAt(node, place, { code, message });
      }
      if (value.includes("\0")) {
        const message = `${quote(place.path)} contains a NUL character`;
        return reportAt(node, place, { code, message });
      }
      if (whole !== undefined && !whole.test(value)) {
        const state = options.isNameOfSecret === true ? "" : `, but is ${quote(value)}`;
        const meant = options.instead?.(value);
        return reportAt(node, place, {
          code: pattern?.code ?? code,
          message: `${quote(place.path)} must be ${pattern?.meaning}${state}`,
          hint: meant !== undefined && whole.test(meant) ? `write ${meant}` : undefined,
        });
      }
      warnBareWord(node, place);
      inspect?.(value, node, place);
      return value;
    },
    toJsonSchema: () => ({
      type: "string",
      description,
      ...(minLength > 0 ? { minLength } : {}),
      maxLength,
      ...(pattern === undefined ? {} : { pattern: `^(?:${pattern.source})$` }),
      ...(options.default === undefined ? {} : { default: options.default }),
      ...(examples === undefined ? {} : { examples: [...examples] }),
    }),
  };
}

function warnBareWord(node: ScalarNode, place: Place): void {
  const { codes, quote } = place.reporter;
  const meaning = node.isPlain && codes.bareWord !== undefined ? yaml11Meaning(node.text) : undefined;
  if (meaning === undefined || codes.bareWord === undefined) return;
  reportAt(node, place, {
    severity: "warning",
    code: codes.bareWord,
    message: `A YAML 1.1 reader takes ${quote(node.text)} without quotes for ${meaning}`,
    hint: `write it in quotes: ${quote(node.text)}`,
  });
}

/** Options of `integer`. */
export interface IntegerOptions {
  readonly description: string;
  readonly minimum: number;
  readonly maximum: number;
  /** For the JSON Schema. */
  readonly default?: number;
  /** Number of units in one second, for a duration. @default 1 */
  readonly perSecond?: number;
}

/** A whole number within bounds. */
export function integer(options: IntegerOptions): Shape<number> {
  const { description, minimum, maximum } = options;
  const allowed = `a whole number from ${minimum} to ${maximum}`;
  return {
    check(node, place) {
      if (node.kind !== "scalar" || typeof node.value !== "number") {
        const meant = node.kind === "scalar" ? meantNumber(node.text, options.perSecond ?? 1) : undefined;
        return reportType(node, place, allowed, meant === undefined ? undefined : `write ${meant}`);
      }
      if (Number.isInteger(node.value) && node.value >= minimum && node.value <= maximum) return node.value;
      const written = node.text.slice(0, 40);
      return invalid(
        node,
        place,
        `${place.reporter.quote(place.path)} must be ${allowed}, but is ${written}`,
      );
    },
    toJsonSchema: () => ({
      type: "integer",
      description,
      minimum,
      maximum,
      ...(options.default === undefined ? {} : { default: options.default }),
    }),
  };
}

/** A number within bounds. */
export function decimal(options: Pick<IntegerOptions, "description" | "minimum" | "maximum">): Shape<number> {
  const { description, minimum, maximum } = options;
  const allowed = `a number from ${minimum} to ${maximum}`;
  return {
    check(node, place) {
      if (node.kind !== "scalar" || typeof node.value !== "number") return reportType(node, place, allowed);
      if (node.value >= minimum && node.value <= maximum) return node.value;
      const written = node.text.slice(0, 40);
      return invalid(
        node,
        place,
        `${place.reporter.quote(place.path)} must be ${allowed}, but is ${written}`,
      );
    },
    toJsonSchema: () => ({ type: "number", description, minimum, maximum }),
  };
}

/** One of a few numbers, such as a version. */
export function literalNumber(options: {
  readonly description: string;
  readonly values: readonly number[];
  /** Code of any other value. */
  readonly code: string;
}): Shape<number> {
  const { description, values, code } = options;
  const allowed = listOf(values.map(String));
  return {
    check(node, place) {
      if (node.kind === "scalar" && typeof node.value === "number" && values.includes(node.value))
        return node.value;
      const { quote } = place.reporter;
      const written = node.kind === "scalar" && node.value !== null ? quote(node.text) : typeName(node);
      const isQuoted = node.kind === "scalar" && values.some((value) => String(value) === node.value);
      return reportAt(node, place, {
        code,
        message: `${quote(place.path)} must be ${allowed}, but is ${isQuoted ? `the text ${written}` : written}`,
        hint: `write ${place.key}: ${values.at(-1)}${isQuoted ? " without quotes" : ""}`,
      });
    },
    toJsonSchema: () => ({ description, enum: [...values] }),
  };
}

/** `true` or `false`. */
export function flag(description: string, options: { readonly default?: boolean } = {}): Shape<boolean> {
  return {
    check(node, place) {
      if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
      const meant = node.kind === "scalar" ? meantFlag(node.text) : undefined;
      return reportType(node, place, "true or false", meant === undefined ? undefined : `write ${meant}`);
    },
    toJsonSchema: () => ({
      type: "boolean",
      description,
      ...(options.default === undefined ? {} : { default: options.default }),
    }),
  };
}

/** Options of `choice`. */
export interface ChoiceOptions<T extends string> {
  readonly description: string;
  readonly values: readonly T[];
  /** Code of any other value. @default that of invalid values */
  readonly code?: string;
  /** Other spellings of the values, in lower case, with `_` for spaces and hyphens. */
  readonly aliases?: { readonly [alias: string]: T };
  /** Hints for values that other programs use. */
  readonly hints?: { readonly [value: string]: string };
  /** Values of a later version: their code, and a hint for each. */
  readonly later?: { readonly code: string; readonly hints: { readonly [value: string]: string } };
  /** For the JSON Schema. */
  readonly default?: T;
}

/** One of a few words. */
export function choice<const T extends string>(options: ChoiceOptions<T>): Shape<T> {
  const { description, values, later } = options;
  return {
    check(node, place) {
      if (node.kind !== "scalar" || node.value === null)
        return reportType(node, place, `one of ${listOf(values)}`);
      const found = values.find((value) => value === node.value);
      if (found !== undefined) return found;
      const { quote, codes } = place.reporter;
      if (later !== undefined && Object.hasOwn(later.hints, node.text)) {
        const state = `cannot be ${quote(node.text)} yet: this version supports ${listOf(values)}`;
        const message = `${quote(place.path)} ${state}`;
        return reportAt(node, place, { code: later.code, message, hint: later.hints[node.text] });
      }
      const message = `${quote(place.path)} must be ${listOf(values)}, but is ${quote(node.text)}`;
      const hint = choiceHint(node.text, place, options);
      return reportAt(node, place, { code: options.code ?? codes.valueInvalid, message, hint });
    },
    toJsonSchema: () => ({
      description,
      enum: [...values],
      ...(options.default === undefined ? {} : { default: options.default }),
    }),
  };
}

function choiceHint<T extends string>(
  written: string,
  place: Place,
  { values, aliases = {}, hints = {} }: ChoiceOptions<T>,
): string | undefined {
  const lower = written.trim().toLowerCase();
  if (Object.hasOwn(hints, lower)) return hints[lower];
  const name = lower.replace(/[\s-]+/g, "_");
  const meant =
    [lower, name].map((one) => (Object.hasOwn(aliases, one) ? aliases[one] : undefined)).find(Boolean) ??
    values.find((value) => value.toLowerCase() === lower || value === name);
  if (meant !== undefined) return `write ${place.key}: ${meant}`;
  const near = nearestName(written, values);
  return near === undefined ? undefined : `did you mean ${near}?`;
}

/** Any value, as JSON. */
export function anyJson(description: string): Shape<JsonValue> {
  return {
    check(node, place) {
      warnBareWords(node, place);
      return toJsonValue(node);
    },
    toJsonSchema: () => ({ description }),
  };
}

function warnBareWords(node: DocumentNode, place: Place): void {
  if (node.kind === "scalar") warnBareWord(node, place);
  else if (node.kind === "list") for (const item of node.items) warnBareWords(item, place);
  else for (const { value } of node.entries) warnBareWords(value, place);
}

/** Any value, without a check. */
export function anything(description: string): Shape<true> {
  return { check: () => true, toJsonSchema: () => ({ description }) };
}
