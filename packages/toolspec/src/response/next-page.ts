/**
 * Computes the arguments that request the next page of a list (schemaVersion 2).
 * Follows no URL: of the URL of a next page it uses only the query parameters
 * that the tool declares, and only when the URL has the same host.
 */

import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { findPageParam, type PageParam } from "../spec/page-param.ts";
import type { ParamType, ToolspecPagination, ToolspecParam, ToolspecTool } from "../spec/toolspec.ts";
import type { HttpResponse, SelectJson } from "./map-response.ts";
import { isSameHost } from "./same-host.ts";

/** Input of `nextPage`. */
export interface PageAnswer {
  /** Arguments of the completed call. */
  readonly args: JsonObject;
  /** URL of its request. */
  readonly url: string;
  readonly response: HttpResponse;
}

/** The arguments for the next page, or the reason for not requesting a page that the service names. */
export type NextPage =
  | { readonly kind: "next"; readonly args: JsonObject }
  | { readonly kind: "refused"; readonly reason: string };

/**
 * Returns the arguments of the call for the next page; `undefined` after the last
 * page and for a tool without pages. The URL of a next page can have another
 * path: services give the same list several names.
 */
export function nextPage(tool: ToolspecTool, answer: PageAnswer, select: SelectJson): NextPage | undefined {
  const { pagination } = tool;
  if (pagination === undefined) return undefined;
  const { kind, param, next } = pagination;
  if (kind === "link" && next === undefined) {
    const target = linkOf(answer.response);
    return target === undefined ? undefined : nextOfAddress(tool, answer, target);
  }
  const json = readJson(answer.response.body);
  if (next === undefined || json === undefined) return undefined;
  const found = select(next, json);
  if (kind === "link") {
    const [target] = found;
    return typeof target === "string" && target !== "" ? nextOfAddress(tool, answer, target) : undefined;
  }
  const asked = findPageParam(tool.params ?? [], param ?? "");
  if (asked === undefined) return undefined;
  const given = givenValue(asked, answer.args);
  const value =
    kind === "cursor"
      ? nextCursor(asked, given, found)
      : nextNumber(pagination, given, found, (path) => select(path, json));
  return value === undefined ? undefined : { kind: "next", args: withValue(asked, answer.args, value) };
}

type Asked = PageParam<ToolspecParam>;

function givenValue({ param, field }: Asked, args: JsonObject): JsonValue | undefined {
  const value = args[param.name];
  if (field === undefined) return value;
  return isJsonObject(value) && Object.hasOwn(value, field) ? value[field] : undefined;
}

function withValue({ param, field }: Asked, args: JsonObject, value: JsonValue): JsonObject {
  if (field === undefined) return { ...args, [param.name]: value };
  const object = args[param.name];
  return { ...args, [param.name]: { ...(isJsonObject(object) ? object : {}), [field]: value } };
}

function nextCursor(
  { param, field }: Asked,
  given: JsonValue | undefined,
  [found]: readonly JsonValue[],
): JsonValue | undefined {
  const isCursor = (typeof found === "string" && found !== "") || typeof found === "number";
  if (!isCursor || String(given) === String(found)) return undefined;
  return toType(field === undefined ? param.type : undefined, found);
}

/** Number of the next page, or the number of items before it. */
function nextNumber(
  { kind, first = kind === "page" ? 1 : 0, total }: ToolspecPagination,
  given: JsonValue | undefined,
  found: readonly JsonValue[],
  select: (path: string) => readonly JsonValue[],
): number | undefined {
  const current = Number(given ?? first);
  const count = countOf(found);
  if (count === 0 || !Number.isSafeInteger(current)) return undefined;
  const next = current + (kind === "page" ? 1 : count);
  const [all] = total === undefined ? [] : select(total);
  const isKnown = typeof all === "number" || (typeof all === "string" && /^[0-9]+$/.test(all));
  return isKnown && next - first >= Number(all) ? undefined : next;
}

/** Items of a page: a list when one was selected, or else all selected values. */
function countOf(found: readonly JsonValue[]): number {
  const [one] = found;
  if (found.length === 1 && Array.isArray(one)) return one.length;
  return one === undefined || one === null ? 0 : found.length;
}

function readJson(body: Uint8Array): JsonValue | undefined {
  try {
    return parseJson(new TextDecoder().decode(body));
  } catch {
    // A body that is not JSON has no next page.
    return undefined;
  }
}

/** Returns the URL with `rel="next"` in the `Link` header. */
function linkOf({ headers }: HttpResponse): string | undefined {
  const header = Object.entries(headers).find(([name]) => name.toLowerCase() === "link")?.[1] ?? "";
  return [...header.slice(0, addressMaxLength).matchAll(/<([^<>]*)>((?:\s*;[^,<]*)*)/g)].find(
    ([, , about = ""]) =>
      /;\s*rel\s*=\s*(?:"(?:[^"]* )?next(?: [^"]*)?"|next\b)/i.test(about) &&
      // Sentry always sends a next page, and marks it when it is empty.
      !/;\s*results\s*=\s*"?false\b/i.test(about),
  )?.[1];
}

/** Longest header, and longest URL of a next page, that is parsed. */
const addressMaxLength = 16_384;

function nextOfAddress(tool: ToolspecTool, { args, url }: PageAnswer, target: string): NextPage | undefined {
  const isRead = target.length <= addressMaxLength && URL.canParse(target, url);
  if (!isRead) return { kind: "refused", reason: "the URL of the next page is invalid" };
  const next = new URL(target, url);
  if (!isSameHost(next, url))
    return { kind: "refused", reason: "pages are only requested from the same host" };
  const own = (tool.params ?? []).flatMap(({ name, in: place, type, value: fixed }) => {
    const value = next.searchParams.get(name);
    const isOwn = place === "query" && type !== "array" && type !== "object" && fixed === undefined;
    return isOwn && value !== null ? [[name, type, value] as const] : [];
  });
  if (own.length === 0)
    return { kind: "refused", reason: "the URL of the next page has no parameter of this tool" };
  const changed = own.filter(([name, , value]) => String(args[name]) !== value);
  if (changed.length === 0) return undefined;
  const asked = changed.map(([name, type, value]) => [name, toType(type, value)] as const);
  return {
    kind: "next",
    args: { ...Object.fromEntries(kept(tool, args, next)), ...Object.fromEntries(asked) },
  };
}

/** Returns the arguments without those that the link omits: Shopify refuses a filter together with its cursor. */
function kept(tool: ToolspecTool, args: JsonObject, next: URL): readonly (readonly [string, JsonValue])[] {
  const names = [...next.searchParams.keys()];
  const isInLink = (name: string) => names.some((one) => one === name || one.startsWith(`${name}[`));
  return Object.entries(args).flatMap(([name, value]) => {
    const param = tool.params?.find((one) => one.name === name);
    const isLeftOut = param?.in === "query" && param.required !== true && !isInLink(name);
    return isLeftOut || value === undefined ? [] : [[name, value] as const];
  });
}

/** Converts a cursor to the type of its parameter; clients validate arguments by the input schema. */
function toType(type: ParamType | undefined, found: string | number): string | number {
  if (type === "string") return String(found);
  const isNumber = type === "integer" || type === "number";
  return isNumber && /^(?:0|-?[1-9][0-9]{0,14})$/.test(String(found)) ? Number(found) : found;
}
