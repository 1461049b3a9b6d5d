/**
 * Iteration. Lists, dicts and sets are locked while an iterator over them is open, so
 * they cannot change during the iteration.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import type { DictEntry } from "./entry-table.ts";
import { listWeight } from "./heap-weight.ts";
import { typeOf } from "./type-of.ts";
import {
  ElementsView,
  HostObject,
  StarlarkBytes,
  StarlarkDict,
  StarlarkList,
  StarlarkRange,
  StarlarkSet,
  StarlarkTuple,
  type Value,
  ValueIterator,
} from "./value.ts";

/**
 * Creates an iterator over `value`, which the caller must close.
 *
 * @throws {StarlarkError} `int value is not iterable`.
 */
export function iterate(value: Value): ValueIterator {
  if (value instanceof StarlarkList) return new ListIterator(value);
  if (value instanceof StarlarkTuple) return new TupleIterator(value);
  if (value instanceof StarlarkRange) return new RangeIterator(value);
  if (value instanceof StarlarkDict) return new DictIterator(value);
  if (value instanceof StarlarkSet) return new SetIterator(value);
  if (value instanceof ElementsView) return iterateElements(value);
  if (value instanceof HostObject && value.iterate !== undefined) return value.iterate();
  throw new StarlarkError(`${typeOf(value)} value is not iterable`);
}

/** Whether `iterate` accepts the value. */
export function isIterable(value: Value): boolean {
  return (
    value instanceof StarlarkList ||
    value instanceof StarlarkTuple ||
    value instanceof StarlarkRange ||
    value instanceof StarlarkDict ||
    value instanceof StarlarkSet ||
    value instanceof ElementsView ||
    (value instanceof HostObject && value.iterate !== undefined)
  );
}

/** The result of `len(value)`; `undefined` if the value has no length. */
export function lengthOf(value: Value): number | undefined {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return undefined;
  if (value instanceof StarlarkList || value instanceof StarlarkTuple) return value.items.length;
  if (value instanceof StarlarkDict || value instanceof StarlarkSet) return value.size;
  if (value instanceof StarlarkRange) return value.length;
  if (value instanceof StarlarkBytes) return value.octets.length;
  if (value instanceof ElementsView) return elementsLength(value);
  return undefined;
}

/** All elements of an iterable as a new array, charged as a list and counted as steps. */
export function toItems(value: Value, t: Thread): Value[] {
  if (value instanceof StarlarkList || value instanceof StarlarkTuple) {
    t.charge(listWeight(value.items.length));
    t.step(value.items.length >> 3);
    return value.items.slice();
  }
  const iterator = iterate(value);
  try {
    const length = lengthOf(value);
    t.charge(listWeight(length ?? 0));
    const items: Value[] = [];
    for (let item = iterator.next(); item !== undefined; item = iterator.next()) {
      if (length === undefined) t.chargeElement(items.length);
      else t.reserveGrowth(items.length);
      t.step(1);
      items.push(item);
    }
    return items;
  } finally {
    iterator.close();
  }
}

/** `range(…)[index]`, for an index within its length. */
export function rangeAt(range: StarlarkRange, index: number): number {
  return range.start + index * range.step + 0;
}

export class ListIterator extends ValueIterator {
  readonly subject: StarlarkList;
  #index = 0;
  #open = true;

  constructor(list: StarlarkList) {
    super();
    this.subject = list;
    list.locks += 1;
  }

  override next(): Value | undefined {
    // Past the end, this reads `undefined`, which signals the end.
    const item = this.subject.items[this.#index];
    this.#index += 1;
    return item;
  }

  override close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.subject.locks -= 1;
  }
}

export class TupleIterator extends ValueIterator {
  readonly subject: StarlarkTuple;
  #index = 0;

  constructor(tuple: StarlarkTuple) {
    super();
    this.subject = tuple;
  }

  override next(): Value | undefined {
    const item = this.subject.items[this.#index];
    this.#index += 1;
    return item;
  }
}

export class RangeIterator extends ValueIterator {
  readonly subject: StarlarkRange;
  #left: number;
  #at: number;

  constructor(range: StarlarkRange) {
    super();
    this.subject = range;
    this.#left = range.length;
    this.#at = range.start;
  }

  override next(): Value | undefined {
    if (this.#left === 0) return undefined;
    this.#left -= 1;
    const at = this.#at;
    this.#at = at + this.subject.step;
    return at;
  }
}

export class DictIterator extends ValueIterator {
  readonly subject: StarlarkDict;
  readonly #small: readonly Value[] | undefined;
  readonly #entries: IterableIterator<DictEntry> | undefined;
  #index = 0;
  #open = true;

  constructor(dict: StarlarkDict) {
    super();
    this.subject = dict;
    this.#small = dict.entries.smallKeys;
    this.#entries = this.#small === undefined ? dict.entries.values() : undefined;
    dict.locks += 1;
  }

  override next(): Value | undefined {
    if (this.#small === undefined) return this.#entries!.next().value?.key;
    const key = this.#small[this.#index];
    this.#index += 1;
    return key;
  }

  override close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.subject.locks -= 1;
  }
}

class SetIterator extends ValueIterator {
  readonly subject: StarlarkSet;
  readonly #members: MapIterator<Value>;
  #open = true;

  constructor(set: StarlarkSet) {
    super();
    this.subject = set;
    this.#members = set.members.values();
    set.locks += 1;
  }

  override next(): Value | undefined {
    return this.#members.next().value;
  }

  override close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.subject.locks -= 1;
  }
}

class ElementsIterator extends ValueIterator {
  readonly subject: Value;
  readonly #next: () => Value | undefined;

  constructor(subject: Value, next: () => Value | undefined) {
    super();
    this.subject = subject;
    this.#next = next;
  }

  override next(): Value | undefined {
    return this.#next();
  }
}

function iterateElements(view: ElementsView): ValueIterator {
  const { of, kind } = view;
  let at = 0;
  if (typeof of !== "string") {
    return new ElementsIterator(view, () => {
      const octet = of.octets[at];
      at += 1;
      return octet;
    });
  }
  if (kind === "elems" || kind === "elemOrds") {
    return new ElementsIterator(view, () => {
      if (at >= of.length) return undefined;
      const unit = at;
      at += 1;
      return kind === "elems" ? of[unit]! : of.charCodeAt(unit);
    });
  }
  return new ElementsIterator(view, () => {
    const point = of.codePointAt(at);
    if (point === undefined) return undefined;
    at += point > 0xffff ? 2 : 1;
    return kind === "codepoints" ? String.fromCodePoint(point) : point;
  });
}

function elementsLength(view: ElementsView): number | undefined {
  if (view.kind === "codepoints" || view.kind === "codepointOrds") return undefined;
  return typeof view.of === "string" ? view.of.length : view.of.octets.length;
}
