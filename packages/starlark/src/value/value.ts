/**
 * The values of Starlark and their representation in JavaScript.
 *
 *     None   null               int    number if it is a safe integer, otherwise bigint
 *     bool   boolean            float  StarlarkFloat (1 and 1.0 differ)
 *     string string (UTF-16)    bytes  StarlarkBytes
 *
 * Every other value is a `StarlarkObject`. A `number` is always a safe integer and
 * never -0, and a `bigint` is never a safe integer, so `===` compares ints. No plain
 * JavaScript object, array or function is a value: a program cannot reach a
 * prototype, a constructor or a property.
 *
 * The classes hold state and the rules for changing it (frozen, iterated over). The
 * operations on values are in the other files of this folder, and their weights in
 * `heap-weight.ts`.
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
  /** The result of `type(x)`. */
  abstract readonly type: string;

  /** The truth value: true except for empty containers and zeros. */
  truth(): boolean {
    return true;
  }

  /** Freezes the value, and pushes the objects that it refers to onto `rest`, which the caller freezes next. */
  freeze(_rest: Value[]): void {}

  /** Bytes on the simulated heap, without the values that it refers to. */
  weight(): number {
    return 64;
  }

  /** Pushes all values that it refers to, for the heap walk. */
  references(_rest: Value[]): void {}
}

/** An object that several places can refer to, and that a heap walk counts once. */
export abstract class SharedObject extends StarlarkObject {
  /** The last heap walk that visited the object; see `run/measure-heap.ts`. */
  epoch = 0;
}

/** An object with attributes: `x.name`. */
export interface HasAttributes {
  /** The value of the attribute; `undefined` if it does not exist. */
  attribute(name: string, thread: Thread): Value | undefined;
  /** All names, sorted; for `dir` and for hints. */
  attributeNames(): readonly string[];
}

/** A value that a host defines. It supports the operations that it overrides; nothing is found by reflection. */
export abstract class HostObject extends SharedObject implements HasAttributes {
  attribute(_name: string, _thread: Thread): Value | undefined {
    return undefined;
  }

  attributeNames(): readonly string[] {
    return [];
  }

  /** `x.name = value`; absent if attributes cannot be set. */
  setAttribute?(name: string, value: Value, thread: Thread): void;

  /**
   * `x + y` and other operators; `side` says which operand this is. Returns
   * `undefined` if the operation is not supported.
   */
  binary?(operator: string, other: Value, side: "left" | "right", thread: Thread): Value | undefined;

  /** `for y in x`; absent if the value is not iterable. */
  iterate?(): ValueIterator;

  /** `x(…)`; absent if the value is not callable. */
  call?(thread: Thread, args: readonly Value[], named: readonly NamedArgument[]): Value | Deferred;

  /**
   * Compares with another value: negative, 0 or positive; `undefined` if they have no
   * order. Absent if the value has no order at all.
   */
  compare?(other: Value, thread: Thread): number | undefined;

  /** Whether the value can be a key of a dict. @default true */
  get hashable(): boolean {
    return true;
  }

  /**
   * Equal values return the same text, and different values return different ones.
   * Absent if the value equals only itself.
   */
  hashKey?(): string;

  /** The result of `repr`. @default `<type>` */
  repr(): string {
    return `<${this.type}>`;
  }
}

/** A named argument of a call. */
export type NamedArgument = readonly [name: string, value: Value];

/** A result that is not available yet: see `Continuation` and `Pending` in `run/deferred.ts`. */
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

/** An immutable sequence of octets. It takes ownership of its array. */
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

/** 0: mutable; 1: frozen; 2: frozen while `parallel` runs. */
export type Frozenness = 0 | 1 | 2;

/** A mutable container. It counts the iterations over it, and records whether it is frozen. */
export abstract class Container extends SharedObject {
  frozen: Frozenness = 0;
  /** Number of open iterators over the container. */
  locks = 0;
}

/** A list. Call `checkMutable` before you change `items`. */
export class StarlarkList extends Container {
  get type(): "list" {
    return "list";
  }
  items: Value[];

  /** Takes ownership of `items`, which the caller has charged. */
  constructor(items: Value[]) {
    super();
    this.items = items;
  }

  override truth(): boolean {
    return this.items.length > 0;
  }

  /**
   * @throws {StarlarkError} if the container is frozen or iterated over; `verb` is
   *   the action, such as `append to`.
   */
  checkMutable(verb: string): void {
    if (this.frozen !== 0) throw new StarlarkError(`cannot ${verb} frozen list${during(this.frozen)}`);
    if (this.locks > 0) throw new StarlarkError(`cannot ${verb} list during iteration`);
  }

  /** Appends `more` to a list that is mutable. The caller has charged the elements. */
  extend(more: readonly Value[]): void {
    // An array that grows at its end is copied repeatedly, each time with spare capacity.
    const { length } = more;
    if (length > 1000 && length > this.items.length >> 2) this.items = this.items.concat(more);
    // `more` may be the array of this list.
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

/** An immutable tuple. */
export class StarlarkTuple extends SharedObject {
  get type(): "tuple" {
    return "tuple";
  }
  readonly items: readonly Value[];
  /** Its key for dicts, cached at first use. */
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

/** The base of dicts and sets: a table that can be frozen and iterated over. */
abstract class HashContainer extends Container {
  abstract get size(): number;

  override truth(): boolean {
    return this.size > 0;
  }

  /** @throws {StarlarkError} if the table is frozen or iterated over; `verb` is the action, such as `insert into`. */
  checkMutable(verb: string): void {
    if (this.frozen !== 0) throw new StarlarkError(`cannot ${verb} frozen hash table${during(this.frozen)}`);
    if (this.locks > 0) throw new StarlarkError(`cannot ${verb} hash table during iteration`);
  }
}

/** A dict, in insertion order. Call `checkMutable` before you change `entries`. */
export class StarlarkDict extends HashContainer {
  get type(): "dict" {
    return "dict";
  }
  readonly entries: EntryTable;

  /** Creates an empty dict, or a record of `shape`. It takes ownership of `values`. */
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

/** A set, in insertion order. Call `checkMutable` before you change `members`. */
export class StarlarkSet extends HashContainer {
  get type(): "set" {
    return "set";
  }
  readonly members = new Map<Key, Value>();

  get size(): number {
    return this.members.size;
  }

  override freeze(rest: Value[]): void {
    // Members are hashable and hashable values are immutable, so they need no traversal.
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

  /** All three are safe integers, and `step` is not 0. */
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

/** An iterable view of a string or of bytes: `"abc".elems()`, `"abc".codepoint_ords()` and so on. */
export class ElementsView extends SharedObject {
  readonly type: string;
  readonly of: string | StarlarkBytes;
  /** The suffix in `repr`, such as `.elems()`. */
  readonly suffix: string;
  /** Whether the elements are numbers or strings, of code units or of code points. */
  readonly kind: "elems" | "elemOrds" | "codepoints" | "codepointOrds";

  constructor(type: string, of: string | StarlarkBytes, suffix: string, kind: ElementsView["kind"]) {
    super();
    this.type = type;
    this.of = of;
    this.suffix = suffix;
    this.kind = kind;
  }
}

/** An immutable record with named fields, sorted by name: the `struct` of hosts, and the result of `attempt`. */
export class StarlarkStruct extends SharedObject implements HasAttributes {
  get type(): "struct" {
    return "struct";
  }
  /** The text before the parenthesis in `repr`: `"struct"`, or the brand that the host chose. */
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

/** A named collection of values, such as `json` or the result of `load`. */
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
 * An iteration over an iterable. The code that creates an iterator must close it,
 * even before the end: until then, a list or dict cannot change.
 */
export abstract class ValueIterator {
  /** The next value; `undefined` at the end. */
  abstract next(): Value | undefined;
  /** Releases the iterable. Safe to repeat. */
  close(): void {}
  /** The iterable, for the heap walk. */
  abstract readonly subject: Value;
}

function during(frozen: Frozenness): string {
  return frozen === 2 ? " while parallel() runs" : "";
}

/** Pushes those of `values` that are objects, for traversals that ignore all others. */
export function pushObjects(rest: Value[], values: readonly Value[]): void {
  for (let index = 0; index < values.length; index += 1) {
    const value = values[index]!;
    if (typeof value === "object" && value !== null) rest.push(value);
  }
}

function pushAll(rest: Value[], values: readonly Value[]): void {
  for (let index = 0; index < values.length; index += 1) rest.push(values[index]!);
}
