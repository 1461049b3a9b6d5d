/** Reads YAML text of many megabytes into a tree of the caller. */

import { readFastYaml } from "./read-fast-yaml.ts";
import type { Reading, ReadLimits, TreeBuilder } from "./tree-builder.ts";
import { readingOf } from "./unreadable.ts";

/**
 * Reads `text` leniently, as API descriptions need it. The builder decides about
 * repeated fields.
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
