/** How a list goes on (schemaVersion 2): the arguments that ask for the next page. Follows no URL. */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import { parseJson } from "@toolcrib/json";
import type { ParamType, ToolspecTool } from "../spec/toolspec.ts";
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
 * it leads to the same host; its path may be another name of the same list.
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
    if (!isCursor || String(args[param]) === String(found)) return undefined;
    const type = tool.params?.find(({ name }) => name === param)?.type;
    return { ...args, [param]: toType(type, found) };
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
    ([, , about = ""]) =>
      /;\s*rel\s*=\s*(?:"(?:[^"]* )?next(?: [^"]*)?"|next\b)/i.test(about) &&
      // Sentry names a next page always, and says so where it has nothing.
      !/;\s*results\s*=\s*"?false\b/i.test(about),
  )?.[1];
  if (target === undefined || !URL.canParse(target, url)) return undefined;
  const next = new URL(target, url);
  if (next.origin !== new URL(url).origin) return undefined;
  const changed = (tool.params ?? []).flatMap(({ name, in: place, type, value: fixed }) => {
    const value = next.searchParams.get(name);
    const isOwn = place === "query" && type !== "array" && type !== "object" && fixed === undefined;
    return !isOwn || value === null || String(args[name]) === value
      ? []
      : [[name, toType(type, value)] as const];
  });
  if (changed.length === 0) return undefined;
  return { ...Object.fromEntries(kept(tool, args, next)), ...Object.fromEntries(changed) };
}

/** The arguments without those that the link leaves out: Shopify refuses a filter beside its cursor. */
function kept(tool: ToolspecTool, args: JsonObject, next: URL): readonly (readonly [string, JsonValue])[] {
  const names = [...next.searchParams.keys()];
  const isInLink = (name: string) => names.some((one) => one === name || one.startsWith(`${name}[`));
  return Object.entries(args).flatMap(([name, value]) => {
    const param = tool.params?.find((one) => one.name === name);
    const isLeftOut = param?.in === "query" && param.required !== true && !isInLink(name);
    return isLeftOut || value === undefined ? [] : [[name, value] as const];
  });
}

/** A cursor as its parameter has it; clients hold arguments to the types of the input schema. */
function toType(type: ParamType | undefined, found: string | number): string | number {
  if (type === "string") return String(found);
  const isNumber = type === "integer" || type === "number";
  return isNumber && /^(?:0|-?[1-9][0-9]{0,14})$/.test(String(found)) ? Number(found) : found;
}
