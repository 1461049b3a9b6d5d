/** Names of tools as people type them: which server they belong to, and what they may have meant. Pure. */

import { nearestName } from "@toolcrib/diagnostics";
import type { ToolSummary } from "@toolcrib/gateway";

/** The server that `name` (`server:tool` or `server__tool`) belongs to, if it is one of `ids`. */
export function serverOfName(name: string, ids: readonly string[]): string | undefined {
  return ids.find((id) => name.startsWith(`${id}:`) || name.startsWith(`${id}__`));
}

/** The tool's own name, without its server. */
export function ownNameOf(name: string): string {
  return name.replace(/^.*?(?::|__)/, "");
}

/** Most suggestions. */
const suggestionsMaxCount = 3;

/** Names of `tools` that `name` may have been meant to be, the nearest first. */
export function suggestTools(
  name: string,
  tools: readonly ToolSummary[],
  searched: readonly string[],
): readonly string[] {
  // In the form in which it was asked for.
  const nameOf = (tool: ToolSummary) => (name.includes(":") ? tool.id : tool.wireName);
  const suggestions = new Set<string>();
  const near = nearestName(name, tools.map(nameOf));
  if (near !== undefined) suggestions.add(near);
  // The same or nearly the same name, without a server or of another one.
  const own = ownNameOf(name).toLowerCase();
  for (const tool of tools) {
    const ownName = tool.id.slice(tool.namespace.length + 1).toLowerCase();
    if (ownName === own || nearestName(own, [ownName]) !== undefined) suggestions.add(nameOf(tool));
  }
  // What only means something like it is proposed where nothing is written like it.
  if (suggestions.size === 0) for (const one of searched) suggestions.add(one);
  return [...suggestions].slice(0, suggestionsMaxCount);
}
