/**
 * Everything that a server lists: all pages of its tools, resources, templates
 * and prompts, bounded, and checked just enough that one bad definition does
 * not hide the good ones.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { type Connection, mirroredParametersOf } from "@toolcrib/mcp";
import { normalizeTags, type Tool, type ToolDefinition, toToolId } from "@toolcrib/tool";
import { UpstreamError } from "./upstream-error.ts";

/** Limits of reading one list. */
export interface ListOptions {
  readonly timeoutMs: number;
  readonly maxItems: number;
  readonly signal: AbortSignal;
}

const maxPages = 1000;
/** Most characters of one list, all pages together. */
const listMaxLength = 64 * 1024 * 1024;
/** A whole list may take this many times as long as one page. */
const listTimeoutFactor = 10;

/**
 * All items of a list method, following its cursors.
 *
 * @throws {UpstreamError} `UPSTREAM_LIST_ENDLESS`; what `Connection.request` throws.
 */
export async function listAll(
  connection: Connection,
  method: string,
  key: string,
  options: ListOptions,
): Promise<readonly JsonObject[]> {
  const { timeoutMs, maxItems } = options;
  const late = new AbortController();
  const wholeTimer = setTimeout(() => {
    late.abort(endless(`"${method}" was not read to its end within ${timeoutMs * listTimeoutFactor} ms`));
  }, timeoutMs * listTimeoutFactor);
  const signal = AbortSignal.any([options.signal, late.signal]);
  const items: JsonObject[] = [];
  const cursors = new Set<string>();
  let length = 0;
  let params: JsonObject = {};
  try {
    for (let page = 0; page < maxPages; page += 1) {
      const result = await connection.request(method, params, { timeoutMs, signal });
      const listed = result[key];
      for (const item of Array.isArray(listed) ? listed : []) if (isJsonObject(item)) items.push(item);
      if (items.length > maxItems) throw endless(`"${method}" lists more than ${maxItems} items`);
      const cursor = result["nextCursor"];
      if (typeof cursor !== "string" || cursor === "") return items;
      if (cursors.has(cursor)) throw endless(`"${method}" repeats the cursor "${cursor.slice(0, 100)}"`);
      // A list of one page is bounded by the size of a message.
      length += JSON.stringify(result).length;
      if (length > listMaxLength) throw endless(`"${method}" lists more than ${listMaxLength} characters`);
      cursors.add(cursor);
      params = { cursor };
    }
    throw endless(`"${method}" has more than ${maxPages} pages`);
  } finally {
    clearTimeout(wholeTimer);
  }
}

function endless(message: string): UpstreamError {
  return new UpstreamError("UPSTREAM_LIST_ENDLESS", message);
}

/** A definition that cannot be offered, and why. */
export interface RefusedDefinition {
  readonly name: string;
  readonly reason: string;
}

/** Longest name of a tool or prompt that is accepted from a server. */
const nameMaxLength = 256;

/** A server's tool definitions as tools; what is malformed is left out and told. */
export function toTools(
  definitions: readonly JsonObject[],
  owner: { readonly id: string; readonly tags: readonly string[]; readonly isModernHttp: boolean },
): { readonly tools: readonly Tool[]; readonly refused: readonly RefusedDefinition[] } {
  const tools = new Map<string, Tool>();
  const refused: RefusedDefinition[] = [];
  for (const definition of definitions) {
    const name = definition["name"];
    const reason = refusalOf(definition, owner.isModernHttp, (known) => tools.has(known));
    if (reason !== undefined) {
      refused.push({ name: typeof name === "string" ? name.slice(0, nameMaxLength) : "?", reason });
      continue;
    }
    const tool = definition as unknown as ToolDefinition;
    tools.set(tool.name, {
      id: toToolId(owner.id, tool.name),
      namespace: owner.id,
      tags: normalizeTags(owner.tags),
      origin: "server",
      sourceId: owner.id,
      definition: tool,
    });
  }
  return { tools: [...tools.values()], refused };
}

function refusalOf(
  definition: JsonObject,
  isModernHttp: boolean,
  isKnown: (name: string) => boolean,
): string | undefined {
  const { name, inputSchema } = definition;
  if (typeof name !== "string" || name === "") return "it has no name";
  if (name.length > nameMaxLength) return `its name is longer than ${nameMaxLength} characters`;
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) return "its name holds control characters";
  if (isKnown(name)) return "a tool of this name is already listed";
  // Other malformed members are for the index, which quarantines the tool and says so.
  if (!isModernHttp || !isJsonObject(inputSchema)) return undefined;
  // Clients over HTTP must leave out such definitions (2026-07-28, Streamable HTTP, Schema Extension).
  const mirrored = mirroredParametersOf(inputSchema);
  return mirrored.kind === "invalid" ? mirrored.reason : undefined;
}
