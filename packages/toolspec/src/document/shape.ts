/**
 * Shapes: one description of a value from which both its check and its JSON
 * Schema come, so that the two cannot drift apart. A shape reports what is
 * wrong where it stands in the text and goes on; what it returns then lacks the
 * faulty parts, and nobody uses it, because the report holds an error.
 *
 * Here are the shapes of single values; shape-collection.ts has the rest.
 */

import { nearestName, type Span } from "@toolcrib/diagnostics";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { yaml11Meaning } from "./bare-words.ts";
import { type DocumentNode, type ScalarNode, toJsonValue, typeName } from "./document-tree.ts";
import { listOf, type Problem, quote, type Reporter } from "./reporter.ts";

/** Where a value stands. */
export interface Place {
  /** Such as `tools[0].path`; empty for the whole document. */
  readonly path: string;
  /** The field or index it stands under; empty for the whole document. */
  readonly key: string;
  /** Where `key` is written; for a list item, its own place. */
  readonly keySpan: Span;
  readonly reporter: Reporter;
}

export interface Shape<T> {
  /** The value of `node`; `undefined` when it is unusable, which was then reported. */
  check(node: DocumentNode, place: Place): T | undefined;
  /** JSON Schema of what passes. */
  toJsonSchema(): JsonObject;
}

/** The value that a shape yields. */
export type ValueOf<S> = S extends Shape<infer T> ? T : never;

/** A closer look at a value that has the right shape. Reports what it finds. */
export type Inspect<T> = (value: T, node: DocumentNode, place: Place) => void;

/** Report a problem at `node`, or at its field name where the value is empty. */
export function reportAt(node: DocumentNode, place: Place, problem: Problem): undefined {
  const isEmpty = node.span.end <= node.span.start;
  place.reporter.report({ path: place.path, span: isEmpty ? place.keySpan : node.span, ...problem });
  return undefined;
}

/** The place of field `key` of the value at `place`. */
export function fieldPlace(place: Place, key: string, keySpan: Span): Place {
  const step = /^[A-Za-z_$][\w$-]*$/.test(key) ? `.${key}` : `[${quote(key)}]`;
  const path = place.path === "" ? step.replace(/^\./, "") : `${place.path}${step}`;
  return { path, key, keySpan, reporter: place.reporter };
}

interface TextOptions {
  readonly description: string;
  /** What it must match as a whole, and what that means in words. */
  readonly pattern?: { readonly source: string; readonly meaning: string };
  /** Code of a value that does not match; that of invalid values when left out. */
  readonly code?: string;
  readonly maxLength: number;
  readonly examples?: readonly string[];
  readonly inspect?: Inspect<string>;
  /** How to mend a value that does not match, where that is clear. */
  readonly instead?: (value: string) => string | undefined;
}

/** A string that is not empty. */
export function text(options: TextOptions): Shape<string> {
  const { description, pattern, maxLength, inspect, examples } = options;
  const whole = pattern === undefined ? undefined : new RegExp(`^(?:${pattern.source})$`);
  return {
    check(node, place) {
      if (node.kind !== "scalar" || typeof node.value !== "string")
        return reportType(node, place, "a string");
      const { value } = node;
      const code = options.code ?? place.reporter.codes.valueInvalid;
      if (value.trim() === "") {
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
      if (whole !== undefined && pattern !== undefined && !whole.test(value)) {
        const message = `${quote(place.path)} must be ${pattern.meaning}, but is ${quote(value)}`;
        const meant = options.instead?.(value);
        const hint = meant !== undefined && whole.test(meant) ? `write ${meant}` : undefined;
        return reportAt(node, place, { code, message, hint });
      }
      warnBareWord(node, place);
      inspect?.(value, node, place);
      return value;
    },
    toJsonSchema: () => ({
      type: "string",
      description,
      minLength: 1,
      maxLength,
      ...(pattern === undefined ? {} : { pattern: `^(?:${pattern.source})$` }),
      ...(examples === undefined ? {} : { examples: [...examples] }),
    }),
  };
}

function warnBareWord(node: ScalarNode, place: Place): void {
  const meaning = node.isPlain ? yaml11Meaning(node.text) : undefined;
  if (meaning === undefined) return;
  reportAt(node, place, {
    severity: "warning",
    code: place.reporter.codes.bareWord,
    message: `A YAML 1.1 reader takes ${quote(node.text)} without quotes for ${meaning}`,
    hint: `write it in quotes: ${quote(node.text)}`,
  });
}

/** A whole number within bounds. */
export function integer(options: {
  readonly description: string;
  readonly minimum: number;
  readonly maximum: number;
}): Shape<number> {
  const { description, minimum, maximum } = options;
  const allowed = `a whole number from ${minimum} to ${maximum}`;
  return {
    check(node, place) {
      if (node.kind !== "scalar" || typeof node.value !== "number") return reportType(node, place, allowed);
      if (Number.isInteger(node.value) && node.value >= minimum && node.value <= maximum) return node.value;
      const message = `${quote(place.path)} must be ${allowed}, but is ${node.text.slice(0, 40)}`;
      return reportAt(node, place, { code: place.reporter.codes.valueInvalid, message });
    },
    toJsonSchema: () => ({ type: "integer", description, minimum, maximum }),
  };
}

/** The one number that is allowed. */
export function literalNumber(options: {
  readonly description: string;
  readonly values: readonly number[];
  readonly code: string;
}): Shape<number> {
  const { description, values, code } = options;
  const allowed = listOf(values.map(String));
  return {
    check(node, place) {
      if (node.kind === "scalar" && typeof node.value === "number" && values.includes(node.value))
        return node.value;
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

const flagsMeant: { readonly [text: string]: boolean } = {
  y: true,
  yes: true,
  on: true,
  true: true,
  "1": true,
  n: false,
  no: false,
  off: false,
  false: false,
  "0": false,
};

/** `true` or `false`. */
export function flag(description: string): Shape<boolean> {
  return {
    check(node, place) {
      if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
      const written = node.kind === "scalar" ? node.text.toLowerCase() : "";
      const meant = Object.hasOwn(flagsMeant, written) ? flagsMeant[written] : undefined;
      return reportType(node, place, "true or false", meant === undefined ? undefined : `write ${meant}`);
    },
    toJsonSchema: () => ({ type: "boolean", description }),
  };
}

interface ChoiceOptions<T extends string> {
  readonly description: string;
  readonly values: readonly T[];
  /** Code of any other value. */
  readonly code: string;
  /** What else people write, in lower case. */
  readonly aliases?: { readonly [alias: string]: T };
  /** What to do about values that are known from elsewhere, as the hint. */
  readonly hints?: { readonly [value: string]: string };
}

/** One of a few words. */
export function choice<const T extends string>(options: ChoiceOptions<T>): Shape<T> {
  const { description, values, code } = options;
  return {
    check(node, place) {
      if (node.kind !== "scalar" || node.value === null)
        return reportType(node, place, `one of ${listOf(values)}`);
      const found = values.find((value) => value === node.value);
      if (found !== undefined) return found;
      const message = `${quote(place.path)} must be ${listOf(values)}, but is ${quote(node.text)}`;
      return reportAt(node, place, { code, message, hint: choiceHint(node.text, place, options) });
    },
    toJsonSchema: () => ({ description, enum: [...values] }),
  };
}

function choiceHint<T extends string>(
  written: string,
  place: Place,
  options: ChoiceOptions<T>,
): string | undefined {
  const normal = written.trim().toLowerCase();
  if (Object.hasOwn(options.hints ?? {}, normal)) return options.hints?.[normal];
  const alias = Object.hasOwn(options.aliases ?? {}, normal) ? options.aliases?.[normal] : undefined;
  const same = options.values.find((value) => value.toLowerCase() === normal);
  if ((alias ?? same) !== undefined) return `write ${place.key}: ${alias ?? same}`;
  const near = nearestName(written, options.values);
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

/** Report that `node` is not `wanted`. */
export function reportType(node: DocumentNode, place: Place, wanted: string, hint?: string): undefined {
  const name = place.path === "" ? `The ${place.reporter.noun}` : quote(place.path);
  const isUnquoted = wanted === "a string" && node.kind === "scalar" && node.text !== "";
  return reportAt(node, place, {
    code: place.reporter.codes.wrongType,
    message: `${name} must be ${wanted}, but is ${typeName(node)}`,
    hint: hint ?? (isUnquoted ? `write it in quotes: ${quote(node.text)}` : undefined),
  });
}
