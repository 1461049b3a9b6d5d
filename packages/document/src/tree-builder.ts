/**
 * The interface between readers and trees. A reader parses the text and calls a
 * builder, which creates the tree of `DocumentNode`, or a smaller tree of the
 * caller for texts of many megabytes. Types only.
 */

import type { Span } from "@toolcrib/diagnostics";
import type { ScalarValue } from "./document-tree.ts";

/**
 * Builds a tree from the calls of a reader, in the order of the text. Maps and
 * lists are opened, filled and closed. The builder decides about the
 * representation of maps, and about repeated fields.
 */
export interface TreeBuilder<Node, MapNode extends Node = Node, ListNode extends Node = Node> {
  /**
   * @param written the source text without quotes; for a string, its value.
   * @param isPlain whether the scalar has no quotes, so that its form decides its type.
   */
  scalar(value: ScalarValue, written: string, start: number, end: number, isPlain: boolean): Node;
  openMap(start: number): MapNode;
  /** Adds a field; its name is from `start` to `end`, quotes included. */
  addField(map: MapNode, key: string, start: number, end: number, value: Node): void;
  /** Merges the value of the key `<<`, after all fields of `map`. Readers refuse the key if this is missing. */
  merge?(map: MapNode, from: Node): void;
  closeMap(map: MapNode, end: number): Node;
  openList(start: number): ListNode;
  addItem(list: ListNode, item: Node, start: number): void;
  closeList(list: ListNode, end: number): Node;
}

/** Limits of a reader. */
export interface ReadLimits {
  /** Noun for the text in messages, such as `document`. */
  readonly noun: string;
  /** Deepest nesting. */
  readonly maxDepth: number;
  /** Maximum number of values. */
  readonly maxNodes: number;
}

/** The reason why a text cannot be read. */
export interface ReadFault {
  /** Whether the text is wrong, or right and more than the limits allow. */
  readonly kind: "syntax" | "tooComplex";
  readonly message: string;
  readonly hint: string | undefined;
  /** One character of the text. */
  readonly span: Span;
}

/** The result of reading a text. */
export type Reading<Node> =
  | {
      readonly kind: "read";
      /** `undefined` for an empty text. */
      readonly root: Node | undefined;
    }
  | { readonly kind: "unreadable"; readonly fault: ReadFault };
