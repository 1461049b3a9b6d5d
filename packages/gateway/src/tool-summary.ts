/** A tool as people and clients are shown it. Pure. */

import type { IndexedTool } from "@toolcrib/inventory";
import type { ToolDefinition } from "@toolcrib/tool";
import type { ToolSummary } from "./gateway.ts";

/** Returns the summary of a tool. */
export function toSummary({ id, listedName, tool, facts, shownDefinition }: IndexedTool): ToolSummary {
  const { namespace, origin, tags } = tool;
  const { title, description } = shownDefinition;
  return { id, wireName: listedName, namespace, origin, isOwn: facts.isOwn, tags, title, description };
}

/** Returns `shown`; where the gateway treats the tool otherwise than its server declares, with the declaration in `_meta`. */
export function withDeclared(shown: ToolDefinition, { tool, facts }: IndexedTool): ToolDefinition {
  const { annotations } = tool.definition;
  if (facts.trust === undefined || shown.annotations === annotations) return shown;
  const { trustState, mutabilityClass } = facts.trust;
  const declared = { annotations: { ...annotations }, trustState, mutabilityClass };
  return { ...shown, _meta: { ...shown._meta, "toolcrib/declared": declared } };
}
