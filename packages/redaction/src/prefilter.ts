/**
 * Skips units in which no form begins. A form is longer than a stride, so it
 * covers the last unit of the stride in which it begins and the units that
 * follow. If three of these make a triple that no form has near its beginning,
 * no form begins in that stride. Most strides of ordinary data are rejected
 * after one triple: the prefilter reads three units out of 24. In the other
 * strides, it checks the first three units of each place.
 *
 * The checks are necessary conditions: they never skip a form. Units above 255
 * (UTF-16 code units) count by their low byte.
 */

import { type Edges, edgesOf, type Form, shortestOf } from "./form.ts";
import { hasBit, NeighbourSet, tripleIndex } from "./neighbours.ts";
import { byteCount } from "./unit-set.ts";

/** Longer strides gain little. */
const strideMax = 24;
/** How many units after the end of a stride are read at most, and at least. */
const lookaheadMax = 8;
const lookaheadMin = 3;
/** A symbol that matches more units than this says little about its neighbours. */
const narrowMaxCount = 4;

/** Finds the places at which a form can begin. */
export class Prefilter {
  /** The least room of a form. It sets the stride, and how many units after the end of a stride are read. */
  #room = Number.POSITIVE_INFINITY;
  #stride = strideMax;
  #lookahead = lookaheadMax;
  readonly #neighbours = new NeighbourSet();
  /** First units, first pairs and first triples of the forms. */
  readonly #first = new Uint8Array(byteCount);
  readonly #firstPairs = new Uint8Array(1 << 16);
  readonly #firstTriples = new Uint8Array(1 << 16);
  /** The forms, by index, that can begin with a triple. */
  readonly #formsByTriple = new Map<number, number[]>();

  /**
   * Adds `forms`; the index of the first one is `firstIndex`. A shorter stride
   * reads less of the beginning of the forms that are known, so nothing that was
   * added for them needs to change.
   */
  add(forms: readonly Form[], firstIndex: number): void {
    this.#room = Math.min(this.#room, ...forms.map(roomOf));
    this.#lookahead = Math.max(lookaheadMin, Math.min(lookaheadMax, Math.floor(this.#room / 4)));
    this.#stride = Math.max(1, Math.min(strideMax, this.#room - this.#lookahead));
    const count = this.#stride + this.#lookahead - 1;
    for (const [index, form] of forms.entries()) {
      this.#neighbours.addBeginning(form, count);
      this.#addBeginnings(form, firstIndex + index);
    }
  }

  /** Returns the next place in `bytes` at or after `from` where a form can begin; `limit` or more if there is none before it. */
  nextInBytes(bytes: Uint8Array, from: number, limit: number): number {
    // Locals: every stride passes this loop.
    const { pairs, triples } = this.#neighbours;
    const stride = this.#stride;
    const ahead = stride - 1;
    const lookahead = this.#lookahead;
    const length = bytes.length - lookahead;
    for (let at = from + ahead; at < length; at += stride) {
      const pair = ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
      if (!hasBit(pairs, pair)) continue;
      if (!hasBit(triples, tripleIndex(pair, bytes[at + 2] as number))) continue;
      if (!this.#hasTriplesInBytes(bytes, at + 1, at + lookahead)) continue;
      const found = this.#placeInBytes(bytes, at - ahead, at + 1);
      if (found <= at) return found;
    }
    // The loop rejected every stride that ends before `length`.
    const rest = from + Math.max(0, Math.ceil((length - from - ahead) / stride)) * stride;
    return this.#placeInBytes(bytes, rest, limit);
  }

  /** The same for `text`. Kept apart from `nextInBytes`, so that each loop reads one kind of input and stays fast. */
  nextInText(text: string, from: number, limit: number): number {
    const { pairs, triples } = this.#neighbours;
    const stride = this.#stride;
    const ahead = stride - 1;
    const lookahead = this.#lookahead;
    const length = text.length - lookahead;
    for (let at = from + ahead; at < length; at += stride) {
      const pair = ((text.charCodeAt(at) & 0xff) << 8) | (text.charCodeAt(at + 1) & 0xff);
      if (!hasBit(pairs, pair)) continue;
      if (!hasBit(triples, tripleIndex(pair, text.charCodeAt(at + 2) & 0xff))) continue;
      if (!this.#hasTriplesInText(text, at + 1, at + lookahead)) continue;
      const found = this.#placeInText(text, at - ahead, at + 1);
      if (found <= at) return found;
    }
    const rest = from + Math.max(0, Math.ceil((length - from - ahead) / stride)) * stride;
    return this.#placeInText(text, rest, limit);
  }

  /** Whether each three units in a row from `from` to `last` occur near the beginning of a form. */
  #hasTriplesInBytes(bytes: Uint8Array, from: number, last: number): boolean {
    const { triples } = this.#neighbours;
    let pair = ((bytes[from] as number) << 8) | (bytes[from + 1] as number);
    for (let at = from + 2; at <= last; at += 1) {
      const unit = bytes[at] as number;
      if (!hasBit(triples, tripleIndex(pair, unit))) return false;
      pair = ((pair & 0xff) << 8) | unit;
    }
    return true;
  }

  #hasTriplesInText(text: string, from: number, last: number): boolean {
    const { triples } = this.#neighbours;
    let pair = ((text.charCodeAt(from) & 0xff) << 8) | (text.charCodeAt(from + 1) & 0xff);
    for (let at = from + 2; at <= last; at += 1) {
      const unit = text.charCodeAt(at) & 0xff;
      if (!hasBit(triples, tripleIndex(pair, unit))) return false;
      pair = ((pair & 0xff) << 8) | unit;
    }
    return true;
  }

  /** The first place from `from` to before `end` where a form can begin; `end` if there is none. */
  #placeInBytes(bytes: Uint8Array, from: number, end: number): number {
    const first = this.#first;
    const { length } = bytes;
    for (let at = from; at < end; at += 1) {
      const unit = bytes[at] as number;
      if (first[unit] === 0) continue;
      if (at + 1 === length) return at;
      const pair = (unit << 8) | (bytes[at + 1] as number);
      if (this.#firstPairs[pair] === 0) continue;
      if (at + 2 === length || this.#firstTriples[tripleIndex(pair, bytes[at + 2] as number)]) return at;
    }
    return Math.max(from, end);
  }

  #placeInText(text: string, from: number, end: number): number {
    const first = this.#first;
    const { length } = text;
    for (let at = from; at < end; at += 1) {
      const unit = text.charCodeAt(at) & 0xff;
      if (first[unit] === 0) continue;
      if (at + 1 === length) return at;
      const pair = (unit << 8) | (text.charCodeAt(at + 1) & 0xff);
      if (this.#firstPairs[pair] === 0) continue;
      if (at + 2 === length || this.#firstTriples[tripleIndex(pair, text.charCodeAt(at + 2) & 0xff)])
        return at;
    }
    return Math.max(from, end);
  }

  /** The indexes of the forms that can begin with three units, given by their low bytes. */
  formsBeginningWith(first: number, second: number, third: number): readonly number[] {
    return this.#formsByTriple.get((first << 16) | (second << 8) | third) ?? noForms;
  }

  /** Adds the first three units of a form in all spellings. */
  #addBeginnings({ symbols, gap }: Form, formIndex: number): void {
    const add = (triple: number): void => this.#addTriple(triple, formIndex);
    const extend = (prefix: number, length: number, index: number, gapsLeft: number): void => {
      const symbol = symbols[index];
      if (symbol === undefined) return;
      addSpellings(prefix, length, edgesOf(symbol.spellings), add, (longer, longerLength) =>
        extend(longer, longerLength, index + 1, gap?.maxCount ?? 0),
      );
      if (index === 0 || gap === undefined || gapsLeft === 0) return;
      addSpellings(prefix, length, edgesOf(gap.spellings), add, (longer, longerLength) =>
        extend(longer, longerLength, index, gapsLeft - 1),
      );
    };
    extend(0, 0, 0, 0);
  }

  #addTriple(triple: number, formIndex: number): void {
    this.#first[triple >>> 16] = 1;
    this.#firstPairs[triple >>> 8] = 1;
    this.#firstTriples[tripleIndex(triple >>> 8, triple & 0xff)] = 1;
    const forms = this.#formsByTriple.get(triple);
    if (forms === undefined) this.#formsByTriple.set(triple, [formIndex]);
    else if (forms.at(-1) !== formIndex) forms.push(formIndex);
  }
}

const noForms: readonly number[] = [];

/** Passes each triple of `prefix`, `length` units long, and spellings to `add`; combinations of fewer units go to `onShort`. */
function addSpellings(
  prefix: number,
  length: number,
  edges: Edges,
  add: (triple: number) => void,
  onShort: (prefix: number, length: number) => void,
): void {
  if (length === 2) {
    for (const unit of edges.firsts) add((prefix << 8) | unit);
    return;
  }
  for (const unit of edges.wholeUnits) onShort((prefix << 8) | unit, length + 1);
  if (length === 1) {
    for (const pair of edges.firstPairs) add((prefix << 16) | pair);
    return;
  }
  for (const pair of edges.wholePairs) onShort(pair, 2);
  for (const triple of edges.firstTriples) add(triple);
}

/** The number of units for a stride and its lookahead: those of the form that precede a wide symbol. */
function roomOf({ symbols }: Form): number {
  const wide = symbols.findIndex(({ spellings }) => edgesOf(spellings).wholeUnits.length > narrowMaxCount);
  return shortestOf(wide === -1 ? symbols : symbols.slice(0, wide));
}
