/** How a list goes on (schemaVersion 2): the arguments that ask for the next page. Follows no URL. */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import { parseJson } from "@toolcrib/json";
import type { ToolspecTool } from "../spec/toolspec.ts";
import type { HttpResponse, SelectJson } from "./map-response.ts";

/** What `nextPage` looks at. */
export interface PageAnswer {
  /** Arguments of the call that was answered. */
  readonly args: JsonObject;
  /** URL of its request. */
  readonly url: string;
  readonly response: HttpResponse;
}

/**
 * The arguments of the call for the page after the one that was answered;
 * `undefined` after the last one, and for a tool without pages. Of a `Link`
 * header only the query parameters that the tool has are taken, and only where
 * it leads to the same address.
 */
export function nextPage(
  tool: ToolspecTool,
  { args, url, response }: PageAnswer,
  select: SelectJson,
): JsonObject | undefined {
  const { pagination } = tool;
  if (pagination === undefined) return undefined;
  if (pagination.kind === "link") return nextOfLink(tool, args, url, response);
  const { param, next } = pagination;
  const json = readJson(response.body);
  if (param === undefined || next === undefined || json === undefined) return undefined;
  const [found] = select(next, json);
  if (pagination.kind === "cursor") {
    const isCursor = (typeof found === "string" && found !== "") || typeof found === "number";
    return isCursor && args[param] !== found ? { ...args, [param]: found } : undefined;
  }
  const isMore = Array.isArray(found) ? found.length > 0 : found !== undefined && found !== null;
  const page = args[param] ?? 1;
  return isMore && Number.isSafeInteger(Number(page)) ? { ...args, [param]: Number(page) + 1 } : undefined;
}

function readJson(body: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(new TextDecoder().decode(body));
  } catch {
    // No JSON, no further page.
    return undefined;
  }
}

function nextOfLink(
  tool: ToolspecTool,
  args: JsonObject,
  url: string,
  { headers }: HttpResponse,
): JsonObject | undefined {
  const header = Object.entries(headers).find(([name]) => name.toLowerCase() === "link")?.[1] ?? "";
  const target = [...header.slice(0, 16_384).matchAll(/<([^<>]*)>((?:\s*;[^,<]*)*)/g)].find(
    ([, , about = ""]) => /;\s*rel\s*=\s*(?:"(?:[^"]* )?next(?: [^"]*)?"|next\b)/i.test(about),
  )?.[1];
  if (target === undefined || !URL.canParse(target, url)) return undefined;
  const next = new URL(target, url);
  const own = new URL(url);
  if (next.origin !== own.origin || next.pathname !== own.pathname) return undefined;
  const names = (tool.params ?? []).flatMap((param) =>
    param.in === "query" && param.type !== "array" && param.type !== "object" ? [param.name] : [],
  );
  const changed = names.flatMap((name) => {
    const value = next.searchParams.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const isSame = changed.every(([name, value]) => String(args[name]) === value);
  return isSame ? undefined : { ...args, ...Object.fromEntries(changed) };
}
