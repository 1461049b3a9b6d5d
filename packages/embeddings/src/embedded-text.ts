/**
 * The texts that are sent to the endpoint, and to nothing else: those of definitions and of queries, without known
 * secrets and without what has the form of a credential. Pure.
 */

import { omitCredentials } from "@toolcrib/redaction";
import type { ToolDefinition } from "@toolcrib/tool";
import { requestLimits } from "./limits.ts";

/** Parameters that are read from an input schema. */
const parametersMaxCount = 50;

/** Removes known secrets from a text. */
export type Scrub = (text: string) => string;

/** Returns the text of a definition: name, title, description, and its parameters with their descriptions. */
export function textOfDefinition(
  { name, title, description, inputSchema }: ToolDefinition,
  scrub: Scrub,
): string {
  const properties = inputSchema["properties"];
  const parameters =
    typeof properties === "object" && properties !== null
      ? Object.entries(properties).slice(0, parametersMaxCount).map(parameterLine)
      : [];
  const lines = [name.replaceAll("_", " "), title ?? "", description ?? "", ...parameters];
  const text = lines.filter((line) => line !== "").join("\n");
  return omitCredentials(scrub(text)).slice(0, requestLimits.definitionMaxChars);
}

/** Returns the text of a query; empty where nothing is left of it. */
export function textOfQuery(query: string, scrub: Scrub): string {
  return omitCredentials(scrub(query)).trim().slice(0, requestLimits.queryMaxChars);
}

function parameterLine([name, schema]: [string, unknown]): string {
  const description =
    typeof schema === "object" && schema !== null && "description" in schema ? schema.description : undefined;
  return typeof description === "string" ? `${name}: ${description}` : name;
}
