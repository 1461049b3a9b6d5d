/** The text of `describe_language`: the language of programs, and the available tools as functions. Pure. */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { Catalog, CatalogTool } from "../run/catalog.ts";
import { languagePrimer } from "../run/language-primer.ts";
import { callNames, displayName, toToolDirectory } from "../run/tool-directory.ts";

/** Maximum number of listed tools. */
const maxTools = 200;
const summaryMaxLength = 160;

/** Returns the text. @param part lists only tools whose name contains it; all tools when absent */
export function describeLanguage(catalog: Catalog, part: string | undefined): string {
  const wanted = part?.toLowerCase() ?? "";
  const tools = catalog.tools.filter((tool) => displayName(tool).toLowerCase().includes(wanted));
  const names = callNames(toToolDirectory(catalog.tools));
  const lines = tools
    .slice(0, maxTools)
    .map((tool) => describeTool(tool, names.get(tool.id) ?? displayName(tool)));
  const more = tools.length - lines.length;
  const title = part === undefined ? "Tools" : `Tools with "${part}" in their names`;
  return [
    languagePrimer,
    `\n## ${title}\n`,
    ...(lines.length === 0 ? ["(none)"] : lines),
    ...(more > 0 ? [`… and ${more} more: name a part of their names to see them`] : []),
  ].join("\n");
}

function describeTool(tool: CatalogTool, name: string): string {
  const summary = (tool.description ?? "").trim().split("\n", 1)[0] as string;
  const short = summary.length > summaryMaxLength ? `${summary.slice(0, summaryMaxLength)}…` : summary;
  return `${name}(${parametersOf(tool.inputSchema)})${short === "" ? "" : `  # ${short}`}`;
}

/** `query: string, limit?: integer` */
function parametersOf({ properties, required }: JsonObject): string {
  if (!isJsonObject(properties)) return "";
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return Object.entries(properties)
    .map(([name, schema]) => `${name}${isRequired(name) ? "" : "?"}${typeOf(schema)}`)
    .join(", ");
}

function typeOf(schema: unknown): string {
  const type = isJsonObject(schema) ? schema["type"] : undefined;
  return typeof type === "string" ? `: ${type}` : "";
}
