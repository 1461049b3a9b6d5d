/**
 * MCP Apps (extension `io.modelcontextprotocol/ui`) behind one endpoint: the URIs of their pages, and tools that only
 * pages call.
 *
 * A page belongs to the server whose tool names it: another server with the same URI must not answer for it. On the
 * endpoint of all servers, `ui://` URIs therefore carry the id of their server, in lists and in `_meta.ui` of tools:
 * `ui://clock/page.html` of the server `tools` is `ui://tools/clock/page.html`. Pure.
 */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { ToolDefinition } from "@toolcrib/tool";

const extension = "io.modelcontextprotocol/ui";
const scheme = "ui://";
/** The member of `_meta` that earlier revisions of the extension use. */
const flatKey = "ui/resourceUri";

/** Returns the URI under which the endpoint of all servers shows a resource of `sourceId`. */
export function toWireUri(sourceId: string, uri: string): string {
  return uri.startsWith(scheme) ? `${scheme}${sourceId}/${uri.slice(scheme.length)}` : uri;
}

/** Returns the source and the own URI that a URI of the endpoint of all servers names; undefined for one that names none. */
export function fromWireUri(uri: string): { readonly sourceId: string; readonly uri: string } | undefined {
  if (!uri.startsWith(scheme)) return undefined;
  const end = uri.indexOf("/", scheme.length);
  if (end === -1) return undefined;
  return { sourceId: uri.slice(scheme.length, end), uri: `${scheme}${uri.slice(end + 1)}` };
}

/** Returns the definition of a tool with the wire URI of its page. */
export function withWirePage(definition: ToolDefinition, sourceId: string): ToolDefinition {
  const meta = metaOf(definition);
  if (meta === undefined) return definition;
  const { ui } = meta;
  const flat = meta[flatKey];
  const page = isJsonObject(ui) ? ui["resourceUri"] : undefined;
  if (typeof page !== "string" && typeof flat !== "string") return definition;
  return {
    ...definition,
    _meta: {
      ...meta,
      ...(isJsonObject(ui) && typeof page === "string"
        ? { ui: { ...ui, resourceUri: toWireUri(sourceId, page) } }
        : undefined),
      ...(typeof flat === "string" ? { [flatKey]: toWireUri(sourceId, flat) } : undefined),
    },
  } as ToolDefinition;
}

/** Returns the result of `resources/read` with the wire URIs of its contents. */
export function withWireContents(result: JsonObject, sourceId: string): JsonObject {
  const { contents } = result;
  if (!Array.isArray(contents)) return result;
  const shown = contents.map((one) => {
    const uri = isJsonObject(one) ? one["uri"] : undefined;
    return typeof uri === "string" ? { ...(one as JsonObject), uri: toWireUri(sourceId, uri) } : one;
  });
  return { ...result, contents: shown };
}

/** Whether only pages call a tool, so that models do not see it (`_meta.ui.visibility`). */
export function isAppOnly(definition: unknown): boolean {
  const ui = metaOf(definition)?.["ui"];
  const visibility = isJsonObject(ui) ? ui["visibility"] : undefined;
  return Array.isArray(visibility) && visibility.length > 0 && !visibility.includes("model");
}

/** Whether a client shows pages. To any other, tools that only pages call are of no use. */
export function showsApps({ extensions }: JsonObject): boolean {
  return isJsonObject(extensions) && extensions[extension] !== undefined;
}

function metaOf(definition: unknown): JsonObject | undefined {
  const meta = (definition as { readonly _meta?: unknown })._meta;
  return isJsonObject(meta) ? meta : undefined;
}
