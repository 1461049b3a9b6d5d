/**
 * Finds forms in bytes, in one pass. A form is longer than a stride: of each
 * stride of a text, two bytes at its end tell in most cases that no form begins
 * in it, and the next two in most of the rest. In what remains each place is
 * looked at, its first two bytes, then its third; only where a form can begin
 * is it followed, with all spellings at once, so that the time is bounded by
 * the length of the form. The form that begins first is found, and of those
 * that begin there the longest.
 *
 * It keeps nothing between calls: what a text has to be continued with is said
 * by `pending`, and the caller keeps it.
 */

import { type ByteSet, byteSet, type Form, type Spelling, type TextSymbol } from "./symbols.ts";

/** A form to look for. */
export interface Wanted<Tag> {
  readonly form: Form;
  /** What it is a form of. */
  readonly tag: Tag;
}

/** What a look into bytes came to. */
export type Finding<Tag> =
  | { readonly kind: "found"; readonly start: number; readonly end: number; readonly tag: Tag }
  /** The bytes from `start` on may be the beginning of a form: more are needed to tell. */
  | { readonly kind: "pending"; readonly start: number }
  | { readonly kind: "none" };

/** Looks for a fixed set of forms. */
export interface Matcher<Tag> {
  /** Bytes of the shortest form: what is shorter holds none. */
  readonly shortest: number;
  /**
   * The first form at or after `from`.
   *
   * @param isEnd whether nothing follows `bytes`; then nothing is pending.
   */
  find(bytes: Uint8Array, from: number, isEnd: boolean): Finding<Tag>;
}

/** No end: the form is not here. */
const noEnd = -1;

/** Create a matcher for `wanted`, each of which is four bytes long or more. */
export function createMatcher<Tag>(wanted: readonly Wanted<Tag>[]): Matcher<Tag> {
  const forms = wanted.map(({ form }) => form);
  const { first, pairs, triples } = beginningsOf(forms);
  const shortest = Math.min(...forms.map(shortestOf));
  const stride = strideOf(forms, shortest);
  const within = pairsWithin(forms, stride + behindStride - 1);
  const byFirst = groupByFirst(wanted);
  return {
    shortest,
    find(bytes, from, isEnd) {
      // Where nothing follows, a form has to have room.
      const limit = isEnd ? bytes.length - shortest + 1 : bytes.length;
      for (let at = nextCandidate(bytes, from, limit); at < limit; at = nextCandidate(bytes, at + 1, limit)) {
        const finding = findAt(bytes, at, isEnd);
        if (finding !== undefined) return finding;
      }
      return { kind: "none" };
    },
  };

  /** Where a form can begin, at or after `from` and before `limit`; at least `limit` when that is nowhere. */
  function nextCandidate(bytes: Uint8Array, from: number, limit: number): number {
    // Locals: this is the loop that every stride passes.
    const pairsOfForms = within;
    const ahead = stride - 1;
    const length = bytes.length - behindStride;
    // What begins in a stride goes on behind it: the pairs from the last byte of the stride on are pairs of its own.
    for (let pairAt = from + ahead; pairAt < length; pairAt += stride) {
      const second = bytes[pairAt + 1] as number;
      if (!hasPair(pairsOfForms, bytes[pairAt] as number, second)) continue;
      const third = bytes[pairAt + 2] as number;
      if (!hasPair(pairsOfForms, second, third)) continue;
      if (!hasPair(pairsOfForms, third, bytes[pairAt + 3] as number)) continue;
      const found = candidateWithin(bytes, pairAt - ahead, pairAt + 1);
      if (found <= pairAt) return found;
    }
    return candidateWithin(bytes, Math.max(from, length - ahead), limit);
  }

  /** The same from `from` to before `end`, place by place; `end` when it is nowhere there. */
  function candidateWithin(bytes: Uint8Array, from: number, end: number): number {
    const { length } = bytes;
    for (let at = from; at < end; at += 1) {
      const byte = bytes[at] as number;
      if (first[byte] === 0) continue;
      if (at + 1 === length) return at;
      const pair = (byte << 8) | (bytes[at + 1] as number);
      if (pairs[pair] === 0) continue;
      if (at + 2 === length || triples[tripleIndex(pair, bytes[at + 2] as number)]) return at;
    }
    return end;
  }

  function findAt(bytes: Uint8Array, start: number, isEnd: boolean): Finding<Tag> | undefined {
    let longest = noEnd;
    let tag: Tag | undefined;
    for (const one of byFirst[bytes[start] as number] ?? []) {
      const { end, ranOut } = follow(bytes, start, one.form);
      if (ranOut && !isEnd) return { kind: "pending", start };
      if (end > longest) ({ tag } = one);
      longest = Math.max(longest, end);
    }
    return longest === noEnd ? undefined : { kind: "found", start, end: longest, tag: tag as Tag };
  }
}

/** The longest end of `form` at `start`, and whether more bytes could change that. */
function follow(bytes: Uint8Array, start: number, form: Form): { end: number; ranOut: boolean } {
  let positions = [start];
  let ranOut = false;
  for (const symbol of form) {
    const next: number[] = [];
    for (const position of positions) {
      if (position >= bytes.length) {
        ranOut = true;
      } else if (symbol.plain[bytes[position] as number]) {
        add(next, position + 1);
      } else {
        for (const spelling of symbol.spellings) {
          if (spell(bytes, position, spelling, next)) ranOut = true;
        }
      }
    }
    if (next.length === 0) return { end: noEnd, ranOut };
    positions = next;
  }
  return { end: Math.max(...positions), ranOut };
}

/** Add each position behind `spelling` to `next`; says whether the bytes ended within it. */
function spell(bytes: Uint8Array, start: number, spelling: Spelling, next: number[]): boolean {
  const { runByte, runMin, runMax, sets } = spelling;
  let at = start;
  while (at - start < runMax && bytes[at] === runByte) at += 1;
  const run = at - start;
  if (runMax > 0 && run < runMax && at >= bytes.length) {
    // A run that reaches the end can go on; as much of it as there is counts, too.
    if (sets.length === 0) for (let length = runMin; length <= run; length += 1) add(next, start + length);
    return true;
  }
  if (run < runMin) return false;
  if (sets.length === 0) {
    for (let length = runMin; length <= run; length += 1) add(next, start + length);
    return false;
  }
  for (const set of sets) {
    if (at >= bytes.length) return true;
    if (!set[bytes[at] as number]) return false;
    at += 1;
  }
  add(next, at);
  return false;
}

/** Only runs of backslashes within the text that is looked for come to more, and those are no secret. */
const maxPositions = 64;

function add(positions: number[], position: number): void {
  if (positions.length < maxPositions && !positions.includes(position)) positions.push(position);
}

/** What a form can begin with. */
interface Beginnings {
  readonly first: ByteSet;
  readonly pairs: Uint8Array;
  /** At `tripleIndex`, which several triples share: 0 is sure, 1 is not. */
  readonly triples: Uint8Array;
}

function tripleIndex(pair: number, third: number): number {
  return (pair ^ (third * 0x9e5)) & 0xffff;
}

function beginningsOf(forms: readonly Form[]): Beginnings {
  const first = new Uint8Array(256);
  const pairs = new Uint8Array(65_536);
  const triples = new Uint8Array(65_536);
  for (const form of forms) {
    for (const sets of leadingSets(form, 0, 3)) {
      const [ones, twos, threes] = sets.map(bytesOf) as [Bytes, Bytes, Bytes];
      for (const one of ones) {
        first[one] = 1;
        for (const two of twos) {
          const pair = (one << 8) | two;
          pairs[pair] = 1;
          for (const three of threes) triples[tripleIndex(pair, three)] = 1;
        }
      }
    }
  }
  return { first, pairs, triples };
}

type Bytes = readonly number[];

/** Sets are shared by texts. */
const bytesBySet = new WeakMap<ByteSet, readonly number[]>();

function bytesOf(set: ByteSet): readonly number[] {
  let bytes = bytesBySet.get(set);
  if (bytes === undefined) {
    bytes = [...set.keys()].filter((byte) => set[byte]);
    bytesBySet.set(set, bytes);
  }
  return bytes;
}

/** Every row of at most `count` sets that `form` can begin with from `index` on. */
function leadingSets(form: Form, index: number, count: number): ByteSet[][] {
  const symbol = form[index];
  if (count === 0 || symbol === undefined) return [[]];
  return symbol.spellings.flatMap((spelling) =>
    spellingHeads(spelling, count).flatMap((head) =>
      leadingSets(form, index + 1, count - head.length).map((rest) => [...head, ...rest]),
    ),
  );
}

function spellingHeads({ runByte, runMin, runMax, sets }: Spelling, count: number): ByteSet[][] {
  const runSet = byteSet(runByte);
  const heads: ByteSet[][] = [];
  for (let run = runMin; run <= Math.min(runMax, count); run += 1) {
    heads.push([...Array<ByteSet>(run).fill(runSet), ...sets].slice(0, count));
  }
  return heads;
}

/** Longer ones gain little. */
const strideMax = 24;
/** How far the last pair that is looked at goes beyond its stride. */
const behindStride = 3;

/** A symbol that more bytes can be tells little: the letter of a class, in either case. */
const narrowMaxCount = 4;

/** What leaves room for the pairs behind it in the shortest form, and in what comes before anything may. */
function strideOf(forms: readonly Form[], shortest: number): number {
  if (shortest <= behindStride) throw new RangeError("A form to look for has less than four bytes");
  const narrow = forms.map((form) => {
    const wide = form.findIndex(({ plain }) => plain.reduce((sum, is) => sum + is, 0) > narrowMaxCount);
    return wide === -1 ? strideMax : shortestOf(form.slice(0, wide));
  });
  return Math.max(
    1,
    Math.min(strideMax, shortest - behindStride, ...narrow.map((one) => one - behindStride)),
  );
}

/** By the bytes with which they can begin. */
function groupByFirst<Tag>(wanted: readonly Wanted<Tag>[]): readonly (readonly Wanted<Tag>[] | undefined)[] {
  const groups: Wanted<Tag>[][] = [];
  for (const one of wanted) {
    const [first] = one.form;
    if (first === undefined) continue;
    const bytes = new Set([...edgesOf(first).firsts].flatMap(bytesOf));
    for (const byte of bytes) {
      groups[byte] ??= [];
      groups[byte].push(one);
    }
  }
  return groups;
}

function shortestOf(form: Form): number {
  return form.reduce((sum, symbol) => sum + edgesOf(symbol).shortest, 0);
}

/** Pairs of bytes, a bit for each: small enough to stay next to the processor while a text passes. */
type PairSet = Int32Array;

function hasPair(pairs: PairSet, first: number, second: number): boolean {
  // A shift counts by its last five bits.
  return ((pairs[(first << 3) | (second >>> 5)] as number) & (1 << second)) !== 0;
}

/** The pairs of bytes of which the first can be among the first `count` bytes of a form, and some others. */
function pairsWithin(forms: readonly Form[], count: number): PairSet {
  const pairs = new Int32Array(256 << 3);
  const known = new Map<ByteSet, Set<ByteSet>>();
  const add = (one: ByteSet, two: ByteSet): void => {
    let seconds = known.get(one);
    if (seconds === undefined) {
      seconds = new Set();
      known.set(one, seconds);
    }
    if (seconds.has(two)) return;
    seconds.add(two);
    for (const first of bytesOf(one)) {
      for (const second of bytesOf(two)) pairs[(first << 3) | (second >>> 5)]! |= 1 << second;
    }
  };
  for (const form of forms) {
    // Where all that comes before it is as short as it can be.
    let start = 0;
    for (let index = 0; index < form.length && start < count; index += 1) {
      const symbol = edgesOf(form[index] as TextSymbol);
      for (const [one, two] of symbol.inner) add(one, two);
      const next = form[index + 1];
      if (next !== undefined)
        for (const one of symbol.lasts) for (const two of edgesOf(next).firsts) add(one, two);
      start += symbol.shortest;
    }
  }
  return pairs;
}

/** What a symbol can begin with, end with, and have side by side. */
interface Edges {
  readonly shortest: number;
  readonly firsts: ReadonlySet<ByteSet>;
  readonly lasts: ReadonlySet<ByteSet>;
  readonly inner: readonly (readonly [ByteSet, ByteSet])[];
}

/** Symbols are shared by texts, too. */
const edgesBySymbol = new WeakMap<TextSymbol, Edges>();

function edgesOf(symbol: TextSymbol): Edges {
  const known = edgesBySymbol.get(symbol);
  if (known !== undefined) return known;
  const firsts = new Set<ByteSet>();
  const lasts = new Set<ByteSet>();
  const inner: [ByteSet, ByteSet][] = [];
  for (const { runByte, runMin, runMax, sets } of symbol.spellings) {
    const run = byteSet(runByte);
    const row = runMax > 0 ? [run, ...sets] : sets;
    if (runMax > 1) inner.push([run, run]);
    for (let at = 1; at < row.length; at += 1) inner.push([row[at - 1] as ByteSet, row[at] as ByteSet]);
    firsts.add(row[0] as ByteSet);
    if (runMin === 0 && sets.length > 0) firsts.add(sets[0] as ByteSet);
    lasts.add(row[row.length - 1] as ByteSet);
  }
  const shortest = Math.min(...symbol.spellings.map(({ runMin, sets }) => runMin + sets.length));
  const edges = { shortest, firsts, lasts, inner };
  edgesBySymbol.set(symbol, edges);
  return edges;
}
