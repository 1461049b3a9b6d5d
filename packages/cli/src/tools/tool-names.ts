/** Parses tool names from the command line, and suggests similar names. Pure. */

import { nearestName } from "@toolcrib/diagnostics";
import type { ToolSummary } from "@toolcrib/gateway";

/** Returns the server of `name` (`server:tool` or `server__tool`), if it is one of `ids`. */
export function serverOfName(name: string, ids: readonly string[]): string | undefined {
  return ids.find((id) => name.startsWith(`${id}:`) || name.startsWith(`${id}__`));
}

/** Returns the name of the tool without its server. */
export function ownNameOf(name: string): string {
  return name.replace(/^.*?(?::|__)/, "");
}

/** The names of a tool. */
export type NamedTool = Pick<ToolSummary, "id" | "wireName" | "namespace">;

/** Maximum number of suggestions. */
const suggestionsMaxCount = 3;

/** Returns names of `tools` that are similar to `name`, most similar first. */
export function suggestTools(
  name: string,
  tools: readonly NamedTool[],
  searched: readonly string[],
): readonly string[] {
  // Use the notation of the requested name.
  const nameOf = (tool: NamedTool) => (name.includes(":") ? tool.id : tool.wireName);
  const suggestions = new Set<string>();
  const near = nearestName(name, tools.map(nameOf));
  if (near !== undefined) suggestions.add(near);
  // The same or a similar name, without a server or with another one.
  const own = ownNameOf(name).toLowerCase();
  for (const tool of tools) {
    const ownName = tool.id.slice(tool.namespace.length + 1).toLowerCase();
    if (ownName === own || nearestName(own, [ownName]) !== undefined) suggestions.add(nameOf(tool));
  }
  // Suggest search results only if no name is similar.
  if (suggestions.size === 0) for (const one of searched) suggestions.add(one);
  return [...suggestions].slice(0, suggestionsMaxCount);
}

/** Returns the hint about names of tools; undefined without any. */
export function didYouMeanTool(suggestions: readonly string[]): string | undefined {
  const others = suggestions.slice(0, -1).join(", ");
  if (suggestions.length === 0) return undefined;
  return `did you mean ${others === "" ? "" : `${others} or `}${suggestions.at(-1)}?`;
}
