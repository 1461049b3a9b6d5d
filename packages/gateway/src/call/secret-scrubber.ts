/**
 * Takes known secret values out of everything that leaves: results, errors,
 * previews, log lines. It knows the values that the configuration resolved,
 * plain and in the encodings that servers echo them in (`secret-forms.ts`).
 *
 * What was not resolved from the configuration it does not know, and cannot
 * recognise. Without a known secret it does nothing at all.
 */

import { inspect } from "node:util";
import { CodedError } from "@toolcrib/diagnostics";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { secretMinLength, secretPatternsOf } from "./secret-forms.ts";

/** Removes secrets; learns them as they are resolved. */
export interface SecretScrubber {
  /** Remember a resolved value, beside those it had before. `name` takes its place, or the name it was learnt by first. */
  learn(name: string, value: string): void;
  /** `text` with every known secret replaced by `[secret NAME]`. */
  text(text: string): string;
  /** `value` with the same done to every string and key in it; the same object when nothing was found. */
  value<Value>(value: Value): Value;
}

/** Most values that are remembered; the one that was learnt longest ago is forgotten first. */
const maxValues = 10_000;

/** Most texts whose secret is remembered. */
const maxRecognised = 1000;

/** What is looked for. */
interface Search {
  readonly pattern: RegExp;
  /** The name of the secret that `found`, a match of the pattern, is a form of. */
  nameOf(found: string): string;
  /** Whether a number may be a secret. */
  readonly hasNumbers: boolean;
}

/** Create a scrubber that knows nothing yet. */
export function createSecretScrubber(): SecretScrubber {
  /** Names by value, the one learnt last at the end. */
  const known = new Map<string, string>();
  let search: Search | undefined;

  function scrubText(text: string): string {
    if (known.size === 0 || text.length < secretMinLength) return text;
    search ??= toSearch(known);
    const { pattern, nameOf } = search;
    return text.replace(pattern, (found) => `[secret ${nameOf(found)}]`);
  }

  function scrubNumber(value: number): number | string {
    if (search?.hasNumbers === false) return value;
    const text = String(value);
    const scrubbed = scrubText(text);
    return scrubbed === text ? value : scrubbed;
  }

  function scrubValue(value: JsonValue | undefined): JsonValue | undefined {
    if (typeof value === "string") return scrubText(value);
    if (typeof value === "number") return scrubNumber(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) {
      const items = value.map(scrubValue) as JsonValue[];
      return items.some((item, at) => item !== value[at]) ? items : value;
    }
    const members = Object.entries(value as JsonObject);
    const scrubbed = members.map(([key, member]) => [scrubText(key), scrubValue(member)] as const);
    const isChanged = scrubbed.some(
      ([key, member], at) => key !== members[at]?.[0] || member !== members[at]?.[1],
    );
    return isChanged ? Object.fromEntries(scrubbed) : value;
  }

  return {
    learn(name, value) {
      if (value.length < secretMinLength) return;
      const knownAs = known.get(value);
      if (knownAs === undefined) search = undefined;
      known.delete(value);
      known.set(value, knownAs ?? name);
      if (known.size <= maxValues) return;
      known.delete(known.keys().next().value as string);
      search = undefined;
    },
    text: scrubText,
    value: (value) => (known.size === 0 ? value : (scrubValue(value as JsonValue) as typeof value)),
  };
}

function toSearch(known: ReadonlyMap<string, string>): Search {
  const names = new Map<string, string>();
  for (const [value, name] of known) {
    for (const source of secretPatternsOf(value)) if (!names.has(source)) names.set(source, name);
  }
  // Longest first, so that a secret that contains another goes as a whole.
  const sources = [...names].sort(([a], [b]) => b.length - a.length);
  const recognised = new Map<string, string>();
  return {
    pattern: new RegExp(sources.map(([source]) => source).join("|"), "g"),
    nameOf(found) {
      const known = recognised.get(found);
      if (known !== undefined) return known;
      const name = sources.find(([source]) => new RegExp(`^(?:${source})$`).test(found))?.[1] ?? "?";
      if (recognised.size < maxRecognised) recognised.set(found, name);
      return name;
    },
    hasNumbers: [...known.keys()].some((value) => /^-?\d+(?:\.\d+)?$/.test(value.trim())),
  };
}

/** `error` without known secrets, its causes included; the same object when there are none in it. */
export function scrubError(scrubber: SecretScrubber, error: CodedError): CodedError {
  const message = scrubber.text(error.message);
  const hint = error.hint === undefined ? undefined : scrubber.text(error.hint);
  const data = error.data === undefined ? undefined : scrubber.value(error.data);
  const cause = scrubCause(scrubber, error.cause);
  const isSame = message === error.message && hint === error.hint && data === error.data;
  if (isSame) {
    // It stays what it is, with its class and its fields; what it is made of need not be told.
    if (cause !== error.cause) error.cause = cause;
    return error;
  }
  return withStack(new CodedError(error.code, message, { hint, data, cause }), error, scrubber);
}

/** Deepest cause that is kept; what is deeper is left out. */
const causesMaxDepth = 10;

/** What `thrown` was, without known secrets: logs for developers and programs show causes. The same object when there are none in it. */
export function scrubCause(scrubber: SecretScrubber, thrown: unknown, depth = 1): unknown {
  if (typeof thrown === "string") return scrubber.text(thrown);
  if (!(thrown instanceof Error)) {
    const shown = inspect(thrown);
    return scrubber.text(shown) === shown ? thrown : undefined;
  }
  const message = scrubber.text(thrown.message);
  const cause = depth < causesMaxDepth ? scrubCause(scrubber, thrown.cause, depth + 1) : undefined;
  const isSame = message === thrown.message && scrubber.text(thrown.stack ?? "") === (thrown.stack ?? "");
  return isSame && cause === thrown.cause
    ? thrown
    : withStack(new Error(message, { cause }), thrown, scrubber);
}

/** `error` at the place where `original` was thrown. */
function withStack<One extends Error>(error: One, original: Error, scrubber: SecretScrubber): One {
  if (original.stack !== undefined) error.stack = scrubber.text(original.stack);
  return error;
}
