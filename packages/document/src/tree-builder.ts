/**
 * What a reader builds. The readers know the text; what becomes of it is the
 * builder's: the tree of `DocumentNode`, or a leaner one of the caller for
 * texts of many megabytes. Types only.
 */

import type { Span } from "@toolcrib/diagnostics";
import type { ScalarValue } from "./document-tree.ts";

/**
 * Makes a tree out of what a reader finds, in the order of the text. Maps and
 * lists are opened, filled and closed; a builder may make of a map what it
 * likes, and of a field that is given twice too.
 */
export interface TreeBuilder<Node, MapNode extends Node = Node, ListNode extends Node = Node> {
  /**
   * @param written as it is written, without quotes: for a string its value.
   * @param isPlain whether it stands without quotes, so that its look decides its type.
   */
  scalar(value: ScalarValue, written: string, start: number, end: number, isPlain: boolean): Node;
  openMap(start: number): MapNode;
  /** The field's name stands from `start` to `end`, quotes included. */
  addField(map: MapNode, key: string, start: number, end: number, value: Node): void;
  /** What stands under the key `<<` of `map`, after all fields of `map` itself. Without it such a key is refused. */
  merge?(map: MapNode, from: Node): void;
  closeMap(map: MapNode, end: number): Node;
  openList(start: number): ListNode;
  addItem(list: ListNode, item: Node, start: number): void;
  closeList(list: ListNode, end: number): Node;
}

/** How much a reader reads. */
export interface ReadLimits {
  /** What the text is called where it is too much: `the document` and so on. */
  readonly noun: string;
  /** Deepest nesting. */
  readonly maxDepth: number;
  /** Most values. */
  readonly maxNodes: number;
}

/** What keeps a text from being read. */
export interface ReadFault {
  /** Whether the text is wrong, or right and more than the limits allow. */
  readonly kind: "syntax" | "tooComplex";
  readonly message: string;
  readonly hint: string | undefined;
  /** One character of the text. */
  readonly span: Span;
}

/** What reading a text came to. */
export type Reading<Node> =
  | {
      readonly kind: "read";
      /** `undefined` for an empty text. */
      readonly root: Node | undefined;
    }
  | { readonly kind: "unreadable"; readonly fault: ReadFault };
