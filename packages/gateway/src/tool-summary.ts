/** A tool in a list for people. Pure. */

import type { IndexedTool } from "@toolcrib/inventory";
import type { ToolSummary } from "./gateway.ts";

/** Returns the summary of a tool. */
export function toSummary({ id, listedName, tool, facts, shownDefinition }: IndexedTool): ToolSummary {
  const { namespace, origin, tags } = tool;
  const { title, description } = shownDefinition;
  return { id, wireName: listedName, namespace, origin, isOwn: facts.isOwn, tags, title, description };
}
