/**
 * A trie of the classes of the plain units of forms. Forms that share a prefix
 * share its nodes, so the work at one place of an input does not grow with their
 * number. A path ends in a leaf at the depth where a single form is left.
 */

import { leadFlags } from "./escape-reader.ts";
import { classOf, highClass } from "./unit-class.ts";

/** A node: 0 if there is none, a form below zero (see `formOf`). */
export type TrieNode = number;

/** Minimum depth of a leaf, so that most positions are rejected without following a form. */
const leafMinDepth = 12;
/** One more than the largest class. */
const classCount = 128;
const minCapacity = 256;

/** Finds forms by the classes of their units. */
export class FormTrie {
  readonly #rows: string[] = [];
  /** A hash table of edges: node and class, or 0; and the node that each leads to. */
  #keys = new Int32Array(minCapacity);
  #children = new Int32Array(minCapacity);
  #shift = 32 - Math.log2(minCapacity);
  #edgeCount = 0;
  #nodeCount = 0;
  readonly #endsByNode: (number[] | undefined)[] = [];
  readonly #leadFormsByNode = new Map<TrieNode, number[]>();

  /** Adds a node without a parent. */
  addRoot(): TrieNode {
    return this.#addNode();
  }

  /** Adds the next form, which is a row of units from `root` on. */
  add(root: TrieNode, row: string): void {
    const form = this.#rows.length;
    this.#rows.push(row);
    let node = root;
    for (let depth = 0; ; depth += 1) {
      const unitClass = this.#edgeClass(node, form, depth);
      if (unitClass === undefined) return;
      let next = this.child(node, unitClass);
      if (next === 0 && unitClass !== highClass && depth + 1 >= leafMinDepth) {
        this.#set(node, unitClass, ~form);
        return;
      }
      if (next <= 0) {
        const other = next;
        next = this.#addNode();
        this.#set(node, unitClass, next);
        if (other < 0) this.#moveDown(next, formOf(other), depth + 1);
      }
      if (unitClass === highClass) {
        addTo(this.#endsByNode, next, form);
        return;
      }
      node = next;
    }
  }

  /** Returns the child of `node` for a class; 0 if there is none. */
  child(node: TrieNode, unitClass: number): TrieNode {
    const key = node * classCount + unitClass;
    const keys = this.#keys;
    const mask = keys.length - 1;
    let at = Math.imul(key, 0x9e3779b1) >>> this.#shift;
    for (;;) {
      const found = keys[at] as number;
      if (found === key) return this.#children[at] as number;
      if (found === 0) return 0;
      at = (at + 1) & mask;
    }
  }

  /** The forms whose row ends at `node`, or continues with a unit above 127. */
  endsAt(node: TrieNode): readonly number[] | undefined {
    return this.#endsByNode[node];
  }

  /** The forms whose row continues with a lead at `node`. */
  leadFormsAt(node: TrieNode): readonly number[] | undefined {
    return this.#leadFormsByNode.size === 0 ? undefined : this.#leadFormsByNode.get(node);
  }

  /** Places a form that was a leaf below `node`. */
  #moveDown(node: TrieNode, form: number, depth: number): void {
    const unitClass = this.#edgeClass(node, form, depth);
    if (unitClass === undefined) return;
    if (unitClass !== highClass) {
      this.#set(node, unitClass, ~form);
      return;
    }
    const next = this.#addNode();
    this.#set(node, unitClass, next);
    addTo(this.#endsByNode, next, form);
  }

  /** The class by which a form continues at `node`. If it ends there or continues with a lead, adds it to the node. */
  #edgeClass(node: TrieNode, form: number, depth: number): number | undefined {
    const row = this.#rows[form] as string;
    if (depth === row.length) {
      addTo(this.#endsByNode, node, form);
      return undefined;
    }
    const unit = row.charCodeAt(depth);
    if (leadFlags[unit] !== 1) return classOf[unit] as number;
    const known = this.#leadFormsByNode.get(node);
    if (known === undefined) this.#leadFormsByNode.set(node, [form]);
    else known.push(form);
    return undefined;
  }

  #addNode(): TrieNode {
    this.#nodeCount += 1;
    this.#endsByNode[this.#nodeCount] = undefined;
    return this.#nodeCount;
  }

  #set(node: TrieNode, unitClass: number, child: TrieNode): void {
    if (this.#edgeCount * 2 >= this.#keys.length) this.#grow();
    const isNew = insert(this.#keys, this.#children, this.#shift, node * classCount + unitClass, child);
    if (isNew) this.#edgeCount += 1;
  }

  #grow(): void {
    const keys = new Int32Array(this.#keys.length * 2);
    const children = new Int32Array(keys.length);
    this.#shift -= 1;
    for (let at = 0; at < this.#keys.length; at += 1) {
      const key = this.#keys[at] as number;
      if (key !== 0) insert(keys, children, this.#shift, key, this.#children[at] as number);
    }
    this.#keys = keys;
    this.#children = children;
  }
}

/** The form of a leaf. */
export function formOf(leaf: TrieNode): number {
  return ~leaf;
}

/** Returns whether the key is new. */
function insert(
  keys: Int32Array,
  children: Int32Array,
  shift: number,
  key: number,
  child: TrieNode,
): boolean {
  const mask = keys.length - 1;
  let at = Math.imul(key, 0x9e3779b1) >>> shift;
  while (keys[at] !== 0 && keys[at] !== key) at = (at + 1) & mask;
  const isNew = keys[at] === 0;
  keys[at] = key;
  children[at] = child;
  return isNew;
}

function addTo(lists: (number[] | undefined)[], index: number, form: number): void {
  const known = lists[index];
  if (known === undefined) lists[index] = [form];
  else known.push(form);
}
