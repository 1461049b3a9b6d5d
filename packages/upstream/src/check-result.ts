/**
 * Checks the result of a tool that a server sent, before it reaches clients: an
 * invalid one makes the official clients reject the answer of the gateway. Checks
 * the members that every client reads, and not their sizes or meanings.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { Era } from "@toolcrib/tool";
import { UpstreamError } from "./upstream-error.ts";

/**
 * Returns what is wrong with a `CallToolResult`, with the path of the member; undefined if it is valid.
 *
 * Source: MCP 2025-11-25 and 2026-07-28, schema, `CallToolResult` and `ContentBlock`.
 */
export function problemOfResult(result: JsonObject, era: Era): string | undefined {
  const { content, structuredContent, isError, _meta } = result;
  if (content !== undefined) {
    if (!Array.isArray(content)) return "content is not a list";
    for (let index = 0; index < content.length; index += 1) {
      const problem = problemOfContent(content[index]);
      if (problem !== undefined) return `content[${index}]${problem}`;
    }
  }
  if (isError !== undefined && typeof isError !== "boolean") return "isError is neither true nor false";
  // Since 2026-07-28 it can be any value.
  if (structuredContent !== undefined && era === "legacy" && !isJsonObject(structuredContent)) {
    return "structuredContent is not an object";
  }
  if (_meta !== undefined && !isJsonObject(_meta)) return "_meta is not an object";
  return undefined;
}

/**
 * Returns the received result of a call in the form that every client accepts: with the `content` that results of old servers
 * can lack.
 *
 * @throws {UpstreamError} `UPSTREAM_RESULT_INVALID`, which names the server, the tool and the member.
 */
export function checkedResult(
  result: JsonObject,
  server: string,
  { tool, era }: { readonly tool: JsonValue | undefined; readonly era: Era },
): JsonObject {
  const problem = problemOfResult(result, era);
  if (problem !== undefined) {
    throw new UpstreamError(
      "UPSTREAM_RESULT_INVALID",
      `The server "${server}" answered a call of its tool "${String(tool)}" with an invalid result: ${problem}. The call may have had an effect`,
      { hint: "report it to the maintainers of the server", data: { server } },
    );
  }
  return result["content"] === undefined ? { ...result, content: [] } : result;
}

function problemOfContent(item: JsonValue | undefined): string | undefined {
  if (!isJsonObject(item)) return " is not an object";
  const { type } = item;
  switch (type) {
    case "text":
      return typeof item["text"] === "string" ? undefined : ".text is not a string";
    case "image":
    case "audio":
      if (typeof item["data"] !== "string") return ".data is not a string";
      return typeof item["mimeType"] === "string" ? undefined : ".mimeType is not a string";
    case "resource_link":
      if (typeof item["uri"] !== "string") return ".uri is not a string";
      return typeof item["name"] === "string" ? undefined : ".name is not a string";
    case "resource":
      return problemOfResource(item["resource"]);
    default:
      if (typeof type !== "string") return ".type is not a string";
      // Servers use a revision that both sides know, and clients refuse results with other types.
      return `.type is not a type of content in MCP: ${type.length > 100 ? `a text of ${type.length} characters` : JSON.stringify(type)}`;
  }
}

function problemOfResource(resource: JsonValue | undefined): string | undefined {
  if (!isJsonObject(resource)) return ".resource is not an object";
  if (typeof resource["uri"] !== "string") return ".resource.uri is not a string";
  const hasContent = typeof resource["text"] === "string" || typeof resource["blob"] === "string";
  return hasContent ? undefined : ".resource has neither text nor blob";
}
