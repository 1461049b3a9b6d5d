/**
 * Shapes: one description of a value from which both its check and its JSON
 * Schema come, so that the two cannot drift apart. A shape reports what is
 * wrong where it stands in the text and goes on; what it returns then lacks the
 * faulty parts, and nobody uses it, because the report holds an error.
 *
 * Here are the shapes of single values; shape-collection.ts has the rest.
 */

import type { Span } from "@toolcrib/diagnostics";
import { nearestName } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import {
  configInvalidValue,
  configSectionNotAvailable,
  configValueNotAvailable,
  configWrongType,
} from "./codes.ts";
import { type ConfigNode, typeName } from "./config-tree.ts";
import { looksLikeCredential } from "./credential.ts";
import { listOf, type Problem, quote, type Reporter } from "./reporter.ts";

/** Where a value stands. */
export interface Place {
  /** Such as `tool_servers[0].transport`; empty for the whole document. */
  readonly path: string;
  /** The field or index it stands under; empty for the whole document. */
  readonly key: string;
  /** Where `key` is written; for a list item, its own place. */
  readonly keySpan: Span;
  readonly reporter: Reporter;
}

export interface Shape<T> {
  /** The value of `node`; `undefined` when it is unusable, which was then reported. */
  check(node: ConfigNode, place: Place): T | undefined;
  /** JSON Schema of what passes; named parts go into `definitions`. */
  toJsonSchema(definitions: Definitions): JsonObject;
}

/** Named parts of a JSON Schema, for its `$defs`. */
export type Definitions = Map<string, JsonObject>;

/** The value that a shape yields. */
export type ValueOf<S> = S extends Shape<infer T> ? T : never;

/** A closer look at a value that has the right shape. Reports what it finds. */
export type Inspect<T> = (value: T, node: ConfigNode, place: Place) => void;

/** Report a problem at `node`, or at its field name where the value is empty. */
export function reportAt(node: ConfigNode, place: Place, problem: Problem): void {
  const isEmpty = node.span.end <= node.span.start;
  place.reporter.report({ path: place.path, span: isEmpty ? place.keySpan : node.span, ...problem });
}

/** The place of field `key` of the value at `place`. */
export function fieldPlace(place: Place, key: string, keySpan: Span): Place {
  const isPlain = /^[A-Za-z_$][\w$-]*$/.test(key) && !looksLikeCredential(key);
  const step = isPlain ? `.${key}` : `[${quote(key)}]`;
  const path = place.path === "" ? step.replace(/^\./, "") : `${place.path}${step}`;
  return { path, key, keySpan, reporter: place.reporter };
}

interface TextOptions {
  readonly description: string;
  /** What it must match as a whole, as source of a regular expression, and what that means in words. */
  readonly pattern?: { readonly source: string; readonly meaning: string; readonly code?: string };
  /** Fewest characters, white space at the ends not counted; 0 allows an empty text. @default 1 */
  readonly minLength?: number;
  readonly maxLength: number;
  readonly default?: string;
  readonly examples?: readonly string[];
  readonly inspect?: Inspect<string>;
  /** Whether people may write a secret here by mistake, so that messages do not quote it. @default false */
  readonly isNameOfSecret?: boolean;
  /** What to write in place of a value of another type. */
  readonly instead?: (node: ConfigNode) => string | undefined;
}

/** A string. */
export function text(options: TextOptions): Shape<string> {
  const { description, pattern, minLength = 1, maxLength, inspect, examples } = options;
  const whole = pattern === undefined ? undefined : new RegExp(`^(?:${pattern.source})$`);
  return {
    check(node, place) {
      if (node.kind !== "scalar" || typeof node.value !== "string")
        return reportType(node, place, "a string", options.instead?.(node));
      const value = node.value;
      if (value.trim().length < minLength) {
        return invalid(node, place, `${quote(place.path)} is empty`, "write a value, or remove the field");
      }
      if (value.length > maxLength) {
        return invalid(node, place, `${quote(place.path)} is longer than ${maxLength} characters`);
      }
      if (value.includes("\0")) return invalid(node, place, `${quote(place.path)} contains a NUL character`);
      if (whole !== undefined && pattern !== undefined && !whole.test(value)) {
        const code = pattern.code ?? configInvalidValue;
        const state = options.isNameOfSecret === true ? "" : `, but is ${quote(value)}`;
        reportAt(node, place, {
          code,
          message: `${quote(place.path)} must be ${pattern.meaning}${state}`,
        });
        return undefined;
      }
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

interface IntegerOptions {
  readonly description: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly default?: number;
  /** What one second is of it, where it is a time. @default 1 */
  readonly perSecond?: number;
}

/** A whole number within bounds. */
export function integer(options: IntegerOptions): Shape<number> {
  const { description, minimum, maximum } = options;
  const allowed = `a whole number from ${minimum} to ${maximum}`;
  return {
    check(node, place) {
      if (node.kind !== "scalar" || typeof node.value !== "number") {
        const meant = numberMeant(node, options.perSecond);
        return reportType(node, place, allowed, meant === undefined ? undefined : `write ${meant}`);
      }
      if (!Number.isInteger(node.value) || node.value < minimum || node.value > maximum) {
        return invalid(
          node,
          place,
          `${quote(place.path)} must be ${allowed}, but is ${node.text.slice(0, 40)}`,
        );
      }
      return node.value;
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

const sizeUnits: { readonly [unit: string]: number } = {
  "": 1,
  b: 1,
  k: 1024,
  kb: 1024,
  kib: 1024,
  m: 1024 ** 2,
  mb: 1024 ** 2,
  mib: 1024 ** 2,
  g: 1024 ** 3,
  gb: 1024 ** 3,
  gib: 1024 ** 3,
  s: 1,
  sec: 1,
  min: 60,
  h: 3600,
};

const timeUnits: ReadonlySet<string> = new Set(["s", "sec", "min", "h"]);

/** The number that a text such as `"30"`, `4MB` or `30s` means. */
function numberMeant(node: ConfigNode, perSecond = 1): number | undefined {
  if (node.kind !== "scalar") return undefined;
  const [, digits, written = ""] = /^\s*([0-9]{1,12})\s*([A-Za-z]{0,3})\s*$/.exec(node.text) ?? [];
  const unit = written.toLowerCase();
  if (digits === undefined) return undefined;
  if (unit === "ms") return perSecond === 1000 ? Number(digits) : undefined;
  const factor = sizeUnits[unit];
  return factor === undefined ? undefined : Number(digits) * factor * (timeUnits.has(unit) ? perSecond : 1);
}

/** `true` or `false`. */
export function flag(options: { readonly description: string; readonly default?: boolean }): Shape<boolean> {
  return {
    check(node, place) {
      if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
      const meant = node.kind === "scalar" ? flagsMeant[node.text.toLowerCase()] : undefined;
      return reportType(node, place, "true or false", meant === undefined ? undefined : `write ${meant}`);
    },
    toJsonSchema: () => ({
      type: "boolean",
      description: options.description,
      ...(options.default === undefined ? {} : { default: options.default }),
    }),
  };
}

const flagsMeant: { readonly [text: string]: boolean } = {
  yes: true,
  on: true,
  true: true,
  "1": true,
  no: false,
  off: false,
  false: false,
  "0": false,
};

interface ChoiceOptions<T extends string> {
  readonly description: string;
  readonly values: readonly T[];
  /** What other programs call the values, in lower case with `_` for `-`. */
  readonly aliases?: { readonly [alias: string]: T };
  /** Values of a later version, and what to do until then. */
  readonly notAvailable?: { readonly [value: string]: string };
  readonly default?: T;
}

/** One of a few words. */
export function choice<const T extends string>(options: ChoiceOptions<T>): Shape<T> {
  const { description, values } = options;
  return {
    check(node, place) {
      if (node.kind === "scalar") {
        const found = values.find((value) => value === node.value);
        if (found !== undefined) return found;
        if (Object.hasOwn(options.notAvailable ?? {}, node.text)) {
          reportAt(node, place, {
            code: configValueNotAvailable,
            message: `${quote(place.path)} cannot be ${quote(node.text)} yet: this version supports ${listOf(values)}`,
            hint: options.notAvailable?.[node.text],
          });
          return undefined;
        }
      }
      if (node.kind !== "scalar" || node.value === null)
        return reportType(node, place, `one of ${listOf(values)}`);
      return invalid(
        node,
        place,
        `${quote(place.path)} must be one of ${listOf(values)}, but is ${quote(node.text)}`,
        valueHint(node.text, place, options),
      );
    },
    toJsonSchema: () => ({
      description,
      enum: [...values],
      ...(options.default === undefined ? {} : { default: options.default }),
    }),
  };
}

function valueHint<T extends string>(
  written: string,
  place: Place,
  options: ChoiceOptions<T>,
): string | undefined {
  const normal = written
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, "_");
  const alias = Object.hasOwn(options.aliases ?? {}, normal) ? options.aliases?.[normal] : undefined;
  if (alias !== undefined) return `write ${place.key}: ${alias}`;
  const near = options.values.find((value) => value === normal) ?? nearestName(written, options.values);
  return near === undefined ? undefined : `did you mean ${near}?`;
}

/** A part of the document that a later version reads. */
export function sectionOfLater(description: string, hint: string): Shape<never> {
  return {
    check(_node, place) {
      place.reporter.report({
        code: configSectionNotAvailable,
        message: `Section ${quote(place.path)} is not available: this version of Toolcrib does not read it yet`,
        hint,
        span: place.keySpan,
        path: place.path,
      });
      return undefined;
    },
    toJsonSchema: () => ({ not: {}, description: `${description} Not available in this version.` }),
  };
}

/** Any value; none of our business. */
export function anything(description: string): Shape<true> {
  return { check: () => true, toJsonSchema: () => ({ description }) };
}

/** Report that `node` is not `wanted`. */
export function reportType(node: ConfigNode, place: Place, wanted: string, hint?: string): undefined {
  const name = place.path === "" ? "The configuration" : quote(place.path);
  const isUnquoted = wanted === "a string" && node.kind === "scalar" && node.value !== null;
  reportAt(node, place, {
    code: configWrongType,
    message: `${name} must be ${wanted}, but is ${typeName(node)}`,
    hint: hint ?? (isUnquoted ? `write it in quotes: ${quote(node.text)}` : undefined),
  });
  return undefined;
}

/** Report that the value of `node` is not allowed. */
export function invalid(node: ConfigNode, place: Place, message: string, hint?: string): undefined {
  reportAt(node, place, { code: configInvalidValue, message, hint });
  return undefined;
}
