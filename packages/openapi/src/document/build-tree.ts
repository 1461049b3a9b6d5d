/** Builds the tree of `Node`s, whatever language a document is written in. */

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

/** Of a field that is given twice the last one counts, as `JSON.parse` has it. */
export const nodeBuilder: TreeBuilder<Node, OpenMap, OpenList> = {
  scalar: (value) => value,
  openMap: () => ({ kind: "map", fields: new Map(), starts: [] }),
  addField({ fields, starts }, key, start, end, value) {
    // A name in quotes is longer than what it says, and begins behind the first of them.
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

/** Fields that `map` has itself stay. */
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
