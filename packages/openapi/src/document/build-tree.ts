/** Builds the tree of `Node`s, independent of the language of the document. */

import type { TreeBuilder } from "@toolcrib/document";
import { isList, isMap, type Node } from "./node.ts";

interface OpenMap {
  readonly kind: "map";
  readonly fields: Map<string, Node>;
  readonly starts: number[];
}

interface OpenList {
  readonly kind: "list";
  readonly items: Node[];
  readonly starts: number[];
}

/** When a field occurs twice, the last one counts, as in `JSON.parse`. */
export const nodeBuilder: TreeBuilder<Node, OpenMap, OpenList> = {
  scalar: (value) => value,
  openMap: () => ({ kind: "map", fields: new Map(), starts: [] }),
  addField({ fields, starts }, key, start, end, value) {
    // A quoted name is longer than its value, and its text starts after the first quote.
    if (!fields.has(key)) starts.push(end - start > key.length ? start + 1 : start);
    fields.set(key, value);
  },
  merge(map, from) {
    for (const one of isList(from) ? from.items : [from]) if (isMap(one)) mergeInto(map, one);
  },
  closeMap: (map) => map,
  openList: () => ({ kind: "list", items: [], starts: [] }),
  addItem({ items, starts }, item, start) {
    starts.push(start);
    items.push(item);
  },
  closeList: (list) => list,
};

/** Fields of `map` itself take precedence. */
function mergeInto({ fields, starts }: OpenMap, from: Extract<Node, { readonly kind: "map" }>): void {
  let index = 0;
  for (const [key, value] of from.fields) {
    if (!fields.has(key)) {
      fields.set(key, value);
      starts.push(from.starts[index] ?? 0);
    }
    index += 1;
  }
}
