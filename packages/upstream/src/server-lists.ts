/**
 * Reads a list of a server (tools, resources, templates or prompts) with all of
 * its pages, within limits. Tool definitions are checked only as far as needed,
 * so that one malformed definition does not hide the others.
 */

import { cutText } from "@toolcrib/diagnostics";
import {
  estimateValues,
  isJsonObject,
  type JsonObject,
  mayBeIllFormed,
  toWellFormedJson,
} from "@toolcrib/json";
import { type Connection, mirroredParametersOf } from "@toolcrib/mcp";
import { normalizeTags, type Tool, type ToolDefinition, toToolId } from "@toolcrib/tool";
import { withoutOwnMeta } from "./own-meta.ts";
import { UpstreamError } from "./upstream-error.ts";

/** Limits of reading one list. */
export interface ListOptions {
  readonly timeoutMs: number;
  readonly maxItems: number;
  readonly signal: AbortSignal;
}

/** Pages of one list. @limit server */
const maxPages = 1000;
/** Characters of one list, all pages together. @limit server */
const listMaxLength = 16 * 1024 * 1024;
/** Values of one list, all pages together: about that many take a fifth of a second to compare and index. @limit server */
const listMaxValues = 500_000;
/** The time limit of a whole list, as a multiple of that of one page. */
const listTimeoutFactor = 10;

/**
 * Returns all items of a list method, following its cursors.
 *
 * @param key the member of the result that holds the items.
 * @throws {UpstreamError} `UPSTREAM_LIST_ENDLESS`; also what `Connection.request` throws.
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
  let values = 0;
  let params: JsonObject = {};
  try {
    for (let page = 0; page < maxPages; page += 1) {
      const result = await connection.request(method, params, { timeoutMs, signal });
      const text = JSON.stringify(result);
      // One definition with half of a character would be an invalid list for some clients.
      const listed = (mayBeIllFormed(text) ? toWellFormedJson(result) : result)[key];
      for (const item of Array.isArray(listed) ? listed : [])
        if (isJsonObject(item)) items.push(withoutOwnMeta(item));
      if (items.length > maxItems) throw endless(`"${method}" lists more than ${maxItems} items`);
      length += text.length;
      if (length > listMaxLength) throw endless(`"${method}" lists more than ${listMaxLength} characters`);
      values += estimateValues(text);
      if (values > listMaxValues) throw endless(`"${method}" lists more than ${listMaxValues} values`);
      const cursor = result["nextCursor"];
      if (typeof cursor !== "string" || cursor === "") return items;
      if (cursors.has(cursor)) {
        const named =
          cursor.length > 100 ? `a cursor of ${cursor.length} characters` : `the cursor "${cursor}"`;
        throw endless(`"${method}" repeats ${named}`);
      }
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

/** A definition that is left out, and the reason. */
export interface RefusedDefinition {
  readonly name: string;
  readonly reason: string;
}

/** Characters of a tool name. @limit server */
const nameMaxLength = 256;

/** Turns a server's definitions into tools. Definitions without a usable name are left out and returned in `refused`. */
export function toTools(
  definitions: readonly JsonObject[],
  owner: {
    readonly id: string;
    readonly namespace: string;
    readonly tags: readonly string[];
    readonly isModernHttp: boolean;
  },
): { readonly tools: readonly Tool[]; readonly refused: readonly RefusedDefinition[] } {
  const tools = new Map<string, Tool>();
  const refused: RefusedDefinition[] = [];
  for (const definition of definitions) {
    const name = definition["name"];
    const reason = refusalOf(definition, owner.isModernHttp, (known) => tools.has(known));
    if (reason !== undefined) {
      refused.push({ name: typeof name === "string" ? name : "?", reason });
      continue;
    }
    const tool = definition as unknown as ToolDefinition;
    tools.set(tool.name, {
      id: toToolId(owner.namespace, tool.name),
      namespace: owner.namespace,
      tags: normalizeTags(owner.tags),
      origin: "server",
      sourceId: owner.id,
      definition: tool,
    });
  }
  return { tools: [...tools.values()], refused };
}

/** Returns a sentence without secrets about the definitions that are left out; undefined if there are none. */
export function describeRefused(
  refused: readonly RefusedDefinition[],
  scrub: (text: string) => string = (text) => text,
): string | undefined {
  const [first] = refused;
  if (first === undefined) return undefined;
  const named = scrub(`${JSON.stringify(cutText(first.name, 80, scrub).toWellFormed())}: ${first.reason}`);
  if (refused.length === 1) return `1 of its tools is left out: ${named}`;
  return `${refused.length} of its tools are left out, such as ${named}`;
}

function refusalOf(
  definition: JsonObject,
  isModernHttp: boolean,
  isKnown: (name: string) => boolean,
): string | undefined {
  const { name, inputSchema } = definition;
  if (typeof name !== "string" || name === "") return "it has no name";
  if (name.length > nameMaxLength) return `its name is longer than ${nameMaxLength} characters`;
  if (/[\u0000-\u001f\u007f-\u009f]/.test(name)) return "its name contains control characters";
  if (isKnown(name)) return "a tool of this name is already listed";
  // The index checks the other members: it quarantines a malformed tool and reports that.
  if (!isModernHttp || !isJsonObject(inputSchema)) return undefined;
  // Clients over HTTP must leave out such definitions (2026-07-28, Streamable HTTP, Schema Extension).
  const mirrored = mirroredParametersOf(inputSchema);
  return mirrored.kind === "invalid" ? mirrored.reason : undefined;
}
