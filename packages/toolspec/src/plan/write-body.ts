/** Writes the body of a request and its media type. */

import { quote } from "@toolcrib/document";
import { isJsonObject, type JsonValue } from "@toolcrib/json";
import type { BodyEncoding, ToolspecMethod, ToolspecTool } from "../spec/toolspec.ts";
import { ToolspecError } from "../toolspec-error.ts";
import { type Argument, argumentJson, argumentText } from "./arguments.ts";
import { encodeForm } from "./percent.ts";
import { type Pair, pairsOf } from "./write-pairs.ts";

/** A body, ready to be sent. */
export interface WrittenBody {
  readonly contentType: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

const encoder = new TextEncoder();
/** A DELETE has a body only when an argument goes into it. */
const bodyMethods: ReadonlySet<ToolspecMethod> = new Set(["POST", "PUT", "PATCH", "DELETE"]);

/** Returns the body for a call of `tool`; `undefined` when there is none. */
export function writeBody(tool: ToolspecTool, args: readonly Argument[]): WrittenBody | undefined {
  if (!bodyMethods.has(tool.method)) return undefined;
  const own = args.filter(({ param }) => param.in === "body");
  const encoding: BodyEncoding = tool.encoding ?? "json";
  if (tool.method === "DELETE" && own.length === 0) return undefined;
  if (encoding === "json") {
    return { contentType: "application/json", bytes: encoder.encode(jsonBody(own)) };
  }
  if (own.length === 0) return undefined;
  if (encoding === "form") {
    const pairs = own.flatMap(pairsOf);
    const text = pairs.map(([name, value]) => `${encodeForm(name)}=${encodeForm(value)}`).join("&");
    return { contentType: "application/x-www-form-urlencoded", bytes: encoder.encode(text) };
  }
  return encoding === "raw" ? rawBody(own[0] as Argument) : multipartBody(own);
}

/** Returns one object of all body arguments; numbers keep their digits. */
function jsonBody(args: readonly Argument[]): string {
  return `{${args.map((one) => `${JSON.stringify(one.param.name)}:${argumentJson(one)}`).join(",")}}`;
}

function rawBody(argument: Argument): WrittenBody {
  const { param, value } = argument;
  const text = argumentText(argument);
  if (param.contentEncoding === "base64") {
    const bytes = decodeBase64(param.name, text);
    return { contentType: param.contentType ?? "application/octet-stream", bytes };
  }
  const isText = typeof value !== "object";
  const contentType = param.contentType ?? (isText ? "text/plain; charset=utf-8" : "application/json");
  return { contentType, bytes: encoder.encode(text) };
}

/** A part of a multipart body (RFC 7578). */
interface Part {
  readonly head: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

function multipartBody(args: readonly Argument[]): WrittenBody {
  const parts = args.flatMap(partsOf);
  const boundary = freeBoundary(parts);
  const lines = parts.flatMap(({ head, bytes }) => [
    encoder.encode(`--${boundary}\r\n${head}\r\n\r\n`),
    bytes,
    encoder.encode("\r\n"),
  ]);
  const bytes = concatenate([...lines, encoder.encode(`--${boundary}--\r\n`)]);
  return { contentType: `multipart/form-data; boundary=${boundary}`, bytes };
}

function partsOf(argument: Argument): readonly Part[] {
  const { param, value } = argument;
  if (param.contentEncoding === "base64") {
    const type = param.contentType ?? "application/octet-stream";
    return [
      {
        head: headOf(param.name, type, param.filename ?? "file"),
        bytes: decodeBase64(param.name, argumentText(argument)),
      },
    ];
  }
  const type = param.contentType ?? (isJsonObject(value) ? "application/json" : undefined);
  return pairsOf(argument).map(([name, text]: Pair) => ({
    head: headOf(name, type, param.filename),
    bytes: encoder.encode(text),
  }));
}

function headOf(name: string, type: string | undefined, filename: string | undefined): string {
  const file = filename === undefined ? "" : `; filename="${quoted(filename)}"`;
  const line = `Content-Disposition: form-data; name="${quoted(name)}"${file}`;
  return type === undefined ? line : `${line}\r\nContent-Type: ${type}`;
}

/** Encodes names as browsers do (WHATWG HTML, multipart/form-data). */
function quoted(text: string): string {
  return text.replace(/\r/g, "%0D").replace(/\n/g, "%0A").replace(/"/g, "%22");
}

/** Returns a boundary that no part contains; equal parts give an equal boundary. */
function freeBoundary(parts: readonly Part[]): string {
  // Bytes as characters, so that a boundary in binary content is found too.
  const decoder = new TextDecoder("latin1");
  const texts = parts.map(({ head, bytes }) => `${head}\n${decoder.decode(bytes)}`);
  for (let count = 0; ; count += 1) {
    const boundary = `toolcrib-boundary-${count}`;
    if (texts.every((text) => !text.includes(boundary))) return boundary;
  }
}

function concatenate(pieces: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

function decodeBase64(name: string, text: string): Uint8Array<ArrayBuffer> {
  const plain = text
    .replace(/[\r\n]+/g, "")
    .replaceAll("-", "+")
    .replaceAll("_", "/");
  try {
    return Uint8Array.from(atob(plain), (character) => character.charCodeAt(0));
  } catch {
    const message = `Parameter ${quote(name)} must be binary content in base64`;
    throw new ToolspecError("TOOLSPEC_ARGUMENT_INVALID", message);
  }
}

/** Returns the JSON value of a body for comparison; `undefined` when it is not JSON. */
export function readJsonBody(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return undefined;
  }
}
