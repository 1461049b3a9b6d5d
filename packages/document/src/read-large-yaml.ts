/** YAML text of many megabytes to the tree of the caller. */

import { readFastYaml } from "./read-fast-yaml.ts";
import type { Reading, ReadLimits, TreeBuilder } from "./tree-builder.ts";
import { readingOf } from "./unreadable.ts";

/**
 * Read `text`, as API descriptions are written. What becomes of a field that is
 * given twice is up to the builder.
 *
 * @param text its lines end in line feeds.
 */
export function readLargeYaml<Node, MapNode extends Node, ListNode extends Node>(
  text: string,
  builder: TreeBuilder<Node, MapNode, ListNode>,
  limits: ReadLimits,
): Reading<Node> {
  return readingOf(text, () => readFastYaml(text, builder, { ...limits, isExact: false }));
}
