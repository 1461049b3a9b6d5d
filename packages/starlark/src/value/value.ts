/**
 * The values of Starlark, as JavaScript holds them.
 *
 *     None   null               int    number when it is a safe integer, else bigint
 *     bool   boolean            float  StarlarkFloat (1 and 1.0 differ)
 *     string string (UTF-16)    bytes  StarlarkBytes
 *
 * Everything else is a `StarlarkObject`. A JavaScript `number` is always a safe
 * integer and never -0; a `bigint` never fits a safe integer; so `===` is equality
 * for ints. No plain JavaScript object, array or function is ever a value: a
 * program cannot reach a prototype, a constructor or a property.
 *
 * Classes here hold state and the rules of changing it (frozen, being iterated
 * over). What may be done with values stands in the files beside this one; what
 * memory is charged, in `heap-weight.ts`.
 */

import { StarlarkError } from "../run/starlark-error.ts";
import type { Thread } from "../run/thread.ts";
import { EntryTable, type Shape } from "./entry-table.ts";
import type { Key } from "./hash-key.ts";
import { dictEntryWeight, recordFieldWeight, tableWeight } from "./heap-weight.ts";

/** Any value of a program. */
export type Value = null | boolean | number | bigint | string | StarlarkObject;

/** A value that is not a JavaScript primitive. */
export abstract class StarlarkObject {
  /** The name that `type(x)` gives. */
  abstract readonly type: string;

  /** Whether it counts as true; everything does but empty containers and zeroes. */
  truth(): boolean {
    return true;
  }

  /** Make it immutable, and push the objects that it refers to on `rest`, for the caller to go on with. */
  freeze(_rest: Value[]): void {}

  /** The weight in bytes for the simulated heap, without what it refers to. */
  weight(): number {
    return 64;
  }

  /** Push all values that it refers to; for the walk of the heap. */
  references(_rest: Value[]): void {}
}

/** An object that may be referred to from several places, and is weighed once. */
export abstract class SharedObject extends StarlarkObject {
  /** The last walk of the heap that met it; see `run/measure-heap.ts`. */
  epoch = 0;
}

/** What a program or host gives attributes to: `x.name`. */
export interface HasAttributes {
  /** The value of the attribute; `undefined` when there is none. */
  attribute(name: string, thread: Thread): Value | undefined;
  /** All names, sorted; for `dir` and for hints. */
  attributeNames(): readonly string[];
}

/**
 * A value that a host defines. What it can do is what it overrides; nothing is
 * found by reflection.
 */
export abstract class HostObject extends SharedObject implements HasAttributes {
  attribute(_name: string, _thread: Thread): Value | undefined {
    return undefined;
  }

  attributeNames(): readonly string[] {
    return [];
  }

  /** `x.name = value`; absent when attributes cannot be set. */
  setAttribute?(name: string, value: Value, thread: Thread): void;

  /** `x + y` and the like, `side` telling which operand this is; `undefined` when it does not know. */
  binary?(operator: string, other: Value, side: "left" | "right", thread: Thread): Value | undefined;

  /** `for y in x`; absent when it is not iterable. */
  iterate?(): ValueIterator;

  /** `x(…)`; absent when it cannot be called. */
  call?(thread: Thread, args: readonly Value[], named: readonly NamedArgument[]): Value | Deferred;

  /** Order against another value: negative, 0 or positive; `undefined` when there is none. Absent: unordered. */
  compare?(other: Value, thread: Thread): number | undefined;

  /** Whether it may be the key of a dict. @default true */
  get hashable(): boolean {
    return true;
  }

  /** Values that are equal give the same text, no others do. Absent: equal to itself alone. */
  hashKey?(): string;

  /** How `repr` writes it. @default `<type>` */
  repr(): string {
    return `<${this.type}>`;
  }
}

/** `name=value` of a call. */
export type NamedArgument = readonly [name: string, value: Value];

/** A result that is not there yet: see `Continuation` and `Pending` in `run/deferred.ts`. */
export abstract class Deferred {}

/** A float: an IEEE 754 double. */
export class StarlarkFloat extends StarlarkObject {
  get type(): "float" {
    return "float";
  }
  readonly value: number;

  constructor(value: number) {
    super();
    this.value = value;
  }

  override truth(): boolean {
    return this.value !== 0;
  }

  override weight(): number {
    return 40;
  }
}

/** An immutable sequence of octets. Whoever makes one gives the array away. */
export class StarlarkBytes extends SharedObject {
  get type(): "bytes" {
    return "bytes";
  }
  readonly octets: Uint8Array;

  constructor(octets: Uint8Array) {
    super();
    this.octets = octets;
  }

  override truth(): boolean {
    return this.octets.length > 0;
  }

  override weight(): number {
    return 200 + this.octets.length;
  }
}

/** 0: open; 1: frozen for good; 2: frozen while `parallel` runs. */
export type Frozenness = 0 | 1 | 2;

/** A mutable container: counts who iterates over it, and knows whether it is frozen. */
export abstract class Container extends SharedObject {
  frozen: Frozenness = 0;
  /** How many loops are going over it. */
  locks = 0;
}

/** A list. `items` may be changed only after `checkMutable`. */
export class StarlarkList extends Container {
  get type(): "list" {
    return "list";
  }
  items: Value[];

  /** Takes `items` over; whoever calls has charged them. */
  constructor(items: Value[]) {
    super();
    this.items = items;
  }

  override truth(): boolean {
    return this.items.length > 0;
  }

  /** @throws {StarlarkError} when it is frozen or iterated over; `verb` is such as `append to`. */
  checkMutable(verb: string): void {
    if (this.frozen !== 0) throw new StarlarkError(`cannot ${verb} frozen list${during(this.frozen)}`);
    if (this.locks > 0) throw new StarlarkError(`cannot ${verb} list during iteration`);
  }

  /** Put `more` at the end of a list that may change; whoever calls has charged them. */
  extend(more: readonly Value[]): void {
    // An array that grows at its end is copied again and again, with room to spare each time.
    const { length } = more;
    if (length > 1000 && length > this.items.length >> 2) this.items = this.items.concat(more);
    // `more` may be the list's own elements.
    else for (let index = 0; index < length; index += 1) this.items.push(more[index]!);
  }

  override freeze(rest: Value[]): void {
    if (this.frozen === 1) return;
    this.frozen = 1;
    pushObjects(rest, this.items);
  }

  override weight(): number {
    return 104 + 10 * this.items.length;
  }

  override references(rest: Value[]): void {
    pushAll(rest, this.items);
  }
}

/** A tuple; never changes. */
export class StarlarkTuple extends SharedObject {
  get type(): "tuple" {
    return "tuple";
  }
  readonly items: readonly Value[];
  /** Its key for dicts, once it was asked for. */
  key: string | undefined = undefined;

  constructor(items: readonly Value[]) {
    super();
    this.items = items;
  }

  override truth(): boolean {
    return this.items.length > 0;
  }

  override freeze(rest: Value[]): void {
    pushObjects(rest, this.items);
  }

  override weight(): number {
    return 80 + 10 * this.items.length + (this.key === undefined ? 0 : 24 + this.key.length);
  }

  override references(rest: Value[]): void {
    pushAll(rest, this.items);
  }
}

/** What dicts and sets share: a table that may be frozen or iterated over. */
abstract class HashContainer extends Container {
  abstract get size(): number;

  override truth(): boolean {
    return this.size > 0;
  }

  /** @throws {StarlarkError} when it is frozen or iterated over; `verb` is such as `insert into`. */
  checkMutable(verb: string): void {
    if (this.frozen !== 0) throw new StarlarkError(`cannot ${verb} frozen hash table${during(this.frozen)}`);
    if (this.locks > 0) throw new StarlarkError(`cannot ${verb} hash table during iteration`);
  }
}

/** A dict, in insertion order. `entries` may be changed only after `checkMutable`. */
export class StarlarkDict extends HashContainer {
  get type(): "dict" {
    return "dict";
  }
  readonly entries: EntryTable;

  /** Empty; or a record of `shape`, with `values` in its order, which are given away. */
  constructor(shape?: Shape, values?: Value[]) {
    super();
    this.entries = new EntryTable(shape, values);
  }

  get size(): number {
    return this.entries.size;
  }

  override freeze(rest: Value[]): void {
    if (this.frozen === 1) return;
    this.frozen = 1;
    for (const { key, value } of this.entries.values()) pushObjects(rest, [key, value]);
  }

  override weight(): number {
    const { shape, size } = this.entries;
    return tableWeight + (shape === undefined ? dictEntryWeight : recordFieldWeight) * size;
  }

  override references(rest: Value[]): void {
    for (const entry of this.entries.values()) {
      rest.push(entry.key, entry.value);
    }
  }
}

/** A set, in insertion order. `members` may be changed only after `checkMutable`. */
export class StarlarkSet extends HashContainer {
  get type(): "set" {
    return "set";
  }
  readonly members = new Map<Key, Value>();

  get size(): number {
    return this.members.size;
  }

  override freeze(rest: Value[]): void {
    // Members are hashable, and what is hashable cannot change: only mark it.
    this.frozen = 1;
    this.references(rest);
  }

  override weight(): number {
    return 150 + 50 * this.members.size;
  }

  override references(rest: Value[]): void {
    for (const member of this.members.values()) rest.push(member);
  }
}

/** The lazy sequence of `range(start, stop, step)`. */
export class StarlarkRange extends SharedObject {
  get type(): "range" {
    return "range";
  }
  readonly start: number;
  readonly stop: number;
  readonly step: number;
  readonly length: number;

  /** All three safe integers, `step` not 0. */
  constructor(start: number, stop: number, step: number) {
    super();
    this.start = start;
    this.stop = stop;
    this.step = step;
    const distance = step > 0 ? stop - start : start - stop;
    this.length = distance <= 0 ? 0 : Math.ceil(distance / Math.abs(step));
  }

  override truth(): boolean {
    return this.length > 0;
  }
}

/** The iterables that strings and bytes give: `"abc".elems()`, `"abc".codepoint_ords()` and so on. */
export class ElementsView extends SharedObject {
  readonly type: string;
  readonly of: string | StarlarkBytes;
  /** How `repr` ends it, such as `.elems()`. */
  readonly suffix: string;
  /** Numbers or strings, of code units or code points. */
  readonly kind: "elems" | "elemOrds" | "codepoints" | "codepointOrds";

  constructor(type: string, of: string | StarlarkBytes, suffix: string, kind: ElementsView["kind"]) {
    super();
    this.type = type;
    this.of = of;
    this.suffix = suffix;
    this.kind = kind;
  }
}

/** An immutable record with named fields, sorted by name: the `struct` of hosts, and what `attempt` gives. */
export class StarlarkStruct extends SharedObject implements HasAttributes {
  get type(): "struct" {
    return "struct";
  }
  /** What `repr` writes before the parenthesis: `"struct"`, or the brand that a host gave. */
  readonly constructorValue: Value;
  readonly fields: ReadonlyMap<string, Value>;

  /** `fields` in the order of their names (code units). */
  constructor(constructorValue: Value, fields: ReadonlyMap<string, Value>) {
    super();
    this.constructorValue = constructorValue;
    this.fields = fields;
  }

  attribute(name: string): Value | undefined {
    return this.fields.get(name);
  }

  attributeNames(): readonly string[] {
    return [...this.fields.keys()];
  }

  override freeze(rest: Value[]): void {
    this.references(rest);
  }

  override weight(): number {
    return 150 + 50 * this.fields.size;
  }

  override references(rest: Value[]): void {
    for (const value of this.fields.values()) rest.push(value);
  }
}

/** A named collection of values, such as `json` or what `load` gave. */
export class StarlarkModule extends SharedObject implements HasAttributes {
  get type(): "module" {
    return "module";
  }
  readonly name: string;
  readonly members: ReadonlyMap<string, Value>;

  constructor(name: string, members: ReadonlyMap<string, Value>) {
    super();
    this.name = name;
    this.members = members;
  }

  attribute(name: string): Value | undefined {
    return this.members.get(name);
  }

  attributeNames(): readonly string[] {
    return [...this.members.keys()].sort();
  }

  override freeze(rest: Value[]): void {
    this.references(rest);
  }

  override references(rest: Value[]): void {
    for (const value of this.members.values()) rest.push(value);
  }
}

/**
 * A walk over an iterable. Whoever made it closes it, also when it was not gone
 * through to the end: a list or dict cannot change until then.
 */
export abstract class ValueIterator {
  /** The next value; `undefined` at the end. */
  abstract next(): Value | undefined;
  /** Release what is iterated over. Safe to repeat. */
  close(): void {}
  /** What is iterated over, for the walk of the heap. */
  abstract readonly subject: Value;
}

function during(frozen: Frozenness): string {
  return frozen === 2 ? " while parallel() runs" : "";
}

/** Push those of `values` that are objects, for walks that have nothing to do with the others. */
export function pushObjects(rest: Value[], values: readonly Value[]): void {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]!;
    if (typeof value === "object" && value !== null) rest.push(value);
  }
}

function pushAll(rest: Value[], values: readonly Value[]): void {
  for (let index = 0; index < values.length; index += 1) rest.push(values[index]!);
}
