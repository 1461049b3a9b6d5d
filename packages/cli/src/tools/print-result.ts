/**
 * Formats a tool's result for people: text unchanged, other content as one line,
 * structured content as JSON if there is no text, because a text is another form of it.
 */

import { canonicalJson, isJsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import type { ContentBlock, ToolResult } from "@toolcrib/tool";
import { safeLine } from "../output/output.ts";

/** Returns the lines of a result. */
export function resultLines({ content, structuredContent }: ToolResult): string[] {
  const lines = content.map(blockText);
  if (structuredContent === undefined || content.some(isText)) return lines;
  return [...lines, JSON.stringify(structuredContent, undefined, 2)];
}

/** Whether a result has structured content that its lines do not contain. */
export function hasHiddenContent({ content, structuredContent }: ToolResult): boolean {
  return (
    structuredContent !== undefined &&
    content.some(isText) &&
    !content.some((block) => isText(block) && isSameContent(block["text"], structuredContent))
  );
}

function isText({ type, text }: ContentBlock): boolean {
  return type === "text" && typeof text === "string" && text !== "";
}

/** Whether `text` is `value` as JSON, or the only text in `value`. */
function isSameContent(text: JsonValue | undefined, value: JsonValue): boolean {
  if (typeof text !== "string") return false;
  if (isJsonObject(value) && Object.keys(value).length === 1 && Object.values(value)[0] === text) return true;
  try {
    return canonicalJson(parseJson(text)) === canonicalJson(value);
  } catch {
    return false;
  }
}

function blockText(block: ContentBlock): string {
  const { type } = block;
  if (type === "text" && typeof block["text"] === "string") return block["text"];
  if (type === "image" || type === "audio")
    return `[${type} ${detail(block["mimeType"])}${sizeOf(block["data"])}]`;
  if (type === "resource_link")
    return `[resource ${detail(block["uri"])}${named(block["title"] ?? block["name"])}]`;
  const resource = block["resource"];
  if (type === "resource" && isJsonObject(resource)) {
    if (typeof resource["text"] === "string") return resource["text"];
    return `[resource ${detail(resource["uri"])} ${detail(resource["mimeType"])}${sizeOf(resource["blob"])}]`;
  }
  return `[${safeLine(type)}]`;
}

function detail(value: JsonValue | undefined): string {
  return typeof value === "string" ? safeLine(value).slice(0, 500) : "of unknown type";
}

function named(value: JsonValue | undefined): string {
  return typeof value === "string" && value !== "" ? ` ${JSON.stringify(safeLine(value).slice(0, 200))}` : "";
}

/** Returns the size of base64 data. */
function sizeOf(data: JsonValue | undefined): string {
  if (typeof data !== "string") return "";
  const bytes = Math.floor((data.replace(/=+$/, "").length * 3) / 4);
  return `, ${bytes.toLocaleString("en")} bytes; shown with --json`;
}
