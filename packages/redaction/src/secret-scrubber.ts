/**
 * Replaces known secrets in complete texts and JSON values: results, errors,
 * previews, log lines. It recognizes the values that it has learned, in every
 * encoding of `secret-forms.ts`, also when a value is split across the text
 * items of one list, such as the content of a tool result.
 *
 * It never recognizes a value that it has not learned. Without a known secret
 * it returns its input.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { FormMatcher, type WantedForm } from "./form-matcher.ts";
import { LeadCursor } from "./lead-cursor.ts";
import { secretForms, secretMinLength } from "./secret-forms.ts";
import { secretTextsOf } from "./secret-texts.ts";
import { WorkBudget } from "./work-budget.ts";

/** Limits of what a scrubber remembers. */
interface SecretScrubberLimits {
  /** Maximum number of values that a scrubber of results, errors and logs remembers; it forgets the one that was learned least recently. @default 4,000 */
  readonly maxValues?: number | undefined;
}

const defaultMaxValues = 4000;

/** A secret that was found. `end` is exclusive. */
interface SecretSpan {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** A search for values. */
class ValueSearch {
  readonly matcher = new FormMatcher<string>([]);
  /** Whether a number can be a secret. */
  hasNumbers = false;
  readonly #texts = new Set<string>();

  /** Adds the texts of `values`, by name, that it does not know. */
  add(values: Iterable<readonly [value: string, name: string]>): void {
    const wanted: WantedForm<string>[] = [];
    for (const [value, name] of values) {
      for (const text of secretTextsOf(value)) {
        if (this.#texts.has(text)) continue;
        this.#texts.add(text);
        for (const form of secretForms(text, "text")) wanted.push({ ...form, tag: name });
        this.hasNumbers ||= /^-?\d+(?:\.\d+)?$/.test(text);
      }
    }
    this.matcher.add(wanted);
  }
}

/** Replaces each secret that it has learned by `[secret NAME]`. */
export class SecretScrubber {
  /** Names by value, the value that was learned last at the end. */
  readonly #names = new Map<string, string>();
  #generation = 0;
  #search: ValueSearch | undefined;
  /** Names by value of those that are not yet in the search. */
  readonly #added = new Map<string, string>();
  /** Number of values in the search that were forgotten. */
  #forgottenCount = 0;
  readonly #maxValues: number;
  #steps = 0;
  /** Definitions, and their members, that contain none of the secrets of a generation. */
  #clean = new WeakSet<object>();
  #cleanGeneration = 0;
  /** Of the text, value or definition that is scrubbed. */
  #budget = new WorkBudget();

  constructor({ maxValues = defaultMaxValues }: SecretScrubberLimits = {}) {
    this.#maxValues = maxValues;
  }

  /** Grows with each new value. A text that was scrubbed before can contain the values learned since. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * Remembers `value`, in addition to the values of `name` that it knows. Values
   * shorter than six characters are ignored. A value that is known by another
   * name keeps that name.
   */
  learn(name: string, value: string): void {
    if (value.length < secretMinLength) return;
    const known = this.#names.get(value);
    this.#names.delete(value);
    this.#names.set(value, known ?? name);
    if (known !== undefined) return;
    this.#added.set(value, name);
    this.#generation += 1;
    if (this.#names.size > this.#maxValues) this.#forget(this.#names.keys().next().value as string);
  }

  /** Number of steps of all searches around places where a secret could begin. A measure of work that does not depend on the machine, for tests. */
  get steps(): number {
    return this.#steps + (this.#search?.matcher.steps ?? 0);
  }

  /**
   * Returns `text` without known secrets. If it consists of partial matches of secrets, so that the search would take too
   * long, all after the first part of it is replaced, too; the same holds for the texts of a value or definition together.
   */
  text(text: string): string {
    if (this.#names.size === 0 || text.length < secretMinLength) return text;
    this.#budget = new WorkBudget();
    return this.#scrubText(text);
  }

  #scrubText(text: string): string {
    if (text.length < secretMinLength) return text;
    const spans = this.#find(text);
    return spans.length === 0 ? text : replaceSpans(text, spans, 0);
  }

  /** Returns `value` without known secrets in its strings, keys and numbers; the same object if there are none. */
  value<Value>(value: Value): Value {
    if (this.#names.size === 0) return value;
    this.#budget = new WorkBudget();
    return this.#scrub(value as JsonValue) as typeof value;
  }

  /**
   * As `value`, for a definition that never changes: an object without secrets is not searched again before another secret
   * is learned, nor are its members in a copy, such as its schema under another name.
   */
  definition<Value extends object>(definition: Value): Value {
    if (this.#names.size === 0) return definition;
    if (this.#cleanGeneration !== this.#generation) this.#clean = new WeakSet();
    this.#cleanGeneration = this.#generation;
    if (this.#clean.has(definition)) return definition;
    this.#budget = new WorkBudget();
    const clean = this.#scrubMembers(definition as JsonObject, (member) => this.#scrubOnce(member));
    if (clean === definition) this.#clean.add(definition);
    return clean as Value;
  }

  #scrubOnce(member: JsonValue | undefined): JsonValue | undefined {
    if (typeof member !== "object" || member === null) return this.#scrub(member);
    if (this.#clean.has(member)) return member;
    const clean = this.#scrub(member);
    if (clean === member) this.#clean.add(member);
    return clean;
  }

  #find(text: string): readonly SecretSpan[] {
    const { matcher } = this.#searchForAll();
    this.#budget.extend(text.length);
    const leads = new LeadCursor(text, this.#budget);
    let finding = matcher.find(text, 0, true, leads);
    if (finding.kind === "none") return noSpans;
    const spans: SecretSpan[] = [];
    while (finding.kind === "found") {
      const { start, end, tag: name } = finding;
      spans.push({ start, end, name });
      finding = matcher.find(text, end, true, leads);
    }
    return spans;
  }

  /** Forgets `value`. The search keeps it until it has as many forgotten values as known ones. */
  #forget(value: string): void {
    this.#names.delete(value);
    if (this.#added.delete(value) || this.#search === undefined) return;
    this.#forgottenCount += 1;
    if (this.#forgottenCount < this.#names.size) return;
    this.#search = undefined;
    this.#forgottenCount = 0;
    for (const [known, name] of this.#names) this.#added.set(known, name);
  }

  #searchForAll(): ValueSearch {
    this.#search ??= new ValueSearch();
    if (this.#added.size > 0) {
      this.#search.add(this.#added);
      this.#added.clear();
    }
    return this.#search;
  }

  #scrub(value: JsonValue | undefined): JsonValue | undefined {
    if (typeof value === "string") return this.#scrubText(value);
    if (typeof value === "number") return this.#scrubNumber(value);
    if (typeof value !== "object" || value === null) return value;
    if (Array.isArray(value)) return this.#scrubItems(this.#scrubSplit(value));
    return this.#scrubMembers(value as JsonObject);
  }

  #scrubNumber(value: number): number | string {
    if (!this.#searchForAll().hasNumbers) return value;
    const text = String(value);
    const scrubbed = this.#scrubText(text);
    return scrubbed === text ? value : scrubbed;
  }

  #scrubItems(items: readonly JsonValue[]): JsonValue {
    let scrubbed: JsonValue[] | undefined;
    for (const [at, item] of items.entries()) {
      const clean = this.#scrub(item) as JsonValue;
      if (clean === item) continue;
      scrubbed ??= [...items];
      scrubbed[at] = clean;
    }
    return scrubbed ?? (items as JsonValue);
  }

  #scrubMembers(
    object: JsonObject,
    scrub: (member: JsonValue | undefined) => JsonValue | undefined = (member) => this.#scrub(member),
  ): JsonObject {
    const entries = Object.entries(object);
    let scrubbed: [string, JsonValue | undefined][] | undefined;
    for (const [at, [key, member]] of entries.entries()) {
      const cleanKey = this.#scrubText(key);
      const clean = scrub(member);
      if (cleanKey === key && clean === member) continue;
      scrubbed ??= [...entries];
      scrubbed[at] = [cleanKey, clean];
    }
    return scrubbed === undefined ? object : Object.fromEntries(scrubbed);
  }

  /** Redacts secrets that are split across the texts of `items`. Each part is replaced in its own item. */
  #scrubSplit(items: readonly JsonValue[]): readonly JsonValue[] {
    const texts = items.map(textOf);
    if (texts.filter((text) => text !== undefined).length < 2) return items;
    const spans = this.#find(texts.join(""));
    if (spans.length === 0) return items;
    const own = new SpanCursor(spans);
    let offset = 0;
    const scrubbed = items.map((item, at) => {
      const text = texts[at];
      if (text === undefined || text === "") return item;
      const start = offset;
      offset += text.length;
      const found = own.next(start, offset);
      return found.length === 0 ? item : withText(item, replaceSpans(text, found, start));
    });
    this.#steps += own.steps;
    return scrubbed;
  }
}

/** Walks through spans and the texts that contain them, both in ascending order. */
class SpanCursor {
  /** Number of spans that were read, a measure of work. */
  steps = 0;
  readonly #spans: readonly SecretSpan[];
  #first = 0;

  constructor(spans: readonly SecretSpan[]) {
    this.#spans = spans;
  }

  /** Returns the spans that have a part from `start` to before `end`. Both are not less than those of the last call. */
  next(start: number, end: number): readonly SecretSpan[] {
    while ((this.#spans[this.#first]?.end ?? Number.POSITIVE_INFINITY) <= start) this.#first += 1;
    let last = this.#first;
    while ((this.#spans[last]?.start ?? Number.POSITIVE_INFINITY) < end) last += 1;
    this.steps += last - this.#first + 1;
    return this.#spans.slice(this.#first, last);
  }
}

const noSpans: readonly SecretSpan[] = [];

/** Replaces the parts of `text`, which begins at `offset`, that lie in `spans`. */
function replaceSpans(text: string, spans: readonly SecretSpan[], offset: number): string {
  let clean = "";
  let passed = 0;
  for (const { start, end, name } of spans) {
    clean += `${text.slice(passed, Math.max(passed, start - offset))}[secret ${name}]`;
    passed = Math.min(text.length, end - offset);
  }
  return clean + text.slice(passed);
}

/** The members of a content item that lead to its text: of a text block, an embedded resource and a prompt message. */
const textPaths: readonly (readonly string[])[] = [["text"], ["resource", "text"], ["content", "text"]];

function textOf(item: JsonValue): string | undefined {
  if (!isJsonObject(item)) return undefined;
  for (const path of textPaths) {
    const found = path.reduce<JsonValue | undefined>(memberOf, item);
    if (typeof found === "string") return found;
  }
  return undefined;
}

function memberOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return isJsonObject(value) ? value[key] : undefined;
}

function withText(item: JsonValue, text: string): JsonValue {
  if (!isJsonObject(item)) return item;
  const [outer, inner] =
    textPaths.find((path) => typeof path.reduce<JsonValue | undefined>(memberOf, item) === "string") ?? [];
  if (outer === undefined) return item;
  if (inner === undefined) return { ...item, [outer]: text };
  return { ...item, [outer]: { ...(item[outer] as JsonObject), [inner]: text } };
}
