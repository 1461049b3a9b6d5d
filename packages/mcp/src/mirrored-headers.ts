/**
 * HTTP headers that mirror the body of a modern request (revision 2026-07-28,
 * Streamable HTTP, Request Metadata): encoding, decoding and comparison. Used
 * by client and server. No I/O.
 */

import { isUtf8 } from "node:buffer";
import type { JsonObject, JsonValue } from "@toolcrib/json";
import { isJsonObject } from "@toolcrib/json";
import { paramsOf } from "./json-rpc.ts";
import { headerMismatch } from "./mcp-error.ts";

/** Methods whose `Mcp-Name` mirrors this parameter. */
const nameParameter: { readonly [method: string]: string } = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
  "tasks/get": "taskId",
  "tasks/update": "taskId",
  "tasks/cancel": "taskId",
};

/** Returns the `Mcp-Name` of a request; undefined for methods without one. */
export function mirroredName(method: string, params: JsonObject): string | undefined {
  const parameter = nameParameter[method];
  const value = parameter === undefined ? undefined : params[parameter];
  return typeof value === "string" ? value : undefined;
}

/** Encodes a header value: plain if all characters are safe, otherwise in the Base64 form. */
export function encodeHeaderValue(value: string): string {
  const isPlain =
    /^[\x21-\x7e]([\t\x20-\x7e]*[\x21-\x7e])?$/.test(value) && !/^=\?base64\?.*\?=$/.test(value);
  return isPlain ? value : `=?base64?${Buffer.from(value, "utf8").toString("base64")}?=`;
}

/** Decodes a header value; undefined if it contains characters or a Base64 form that are not allowed. */
export function decodeHeaderValue(value: string): string | undefined {
  if (!/^[\t\x20-\x7e]*$/.test(value)) return undefined;
  const match = /^=\?base64\?(.*)\?=$/.exec(value);
  if (match === null) return value;
  const encoded = match[1] as string;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded) || encoded.length % 4 !== 0) return undefined;
  const bytes = Buffer.from(encoded, "base64");
  return isUtf8(bytes) ? bytes.toString("utf8") : undefined;
}

/** A parameter that is mirrored in a header. */
export interface MirroredParameter {
  /** Header name in lower case, `mcp-param-` included. */
  readonly header: string;
  readonly path: readonly string[];
  /** Compares by value, so that `42.0` equals `42`. */
  readonly isInteger: boolean;
}

/** The annotated parameters of a schema, or the reason why its annotations are not allowed. */
export type MirroredParameters =
  | { readonly kind: "parameters"; readonly parameters: readonly MirroredParameter[] }
  | { readonly kind: "invalid"; readonly reason: string };

/** Deepest schema. `parseJson` allows less; this limits schemas that were not parsed from text. */
const maxSchemaDepth = 256;

const known = new WeakMap<JsonObject, MirroredParameters>();

/**
 * Finds the `x-mcp-header` annotations of an input schema and checks their
 * constraints. The result is cached by schema object, which must not change later.
 */
export function mirroredParametersOf(inputSchema: JsonObject): MirroredParameters {
  const cached = known.get(inputSchema);
  if (cached !== undefined) return cached;
  const found = findMirroredParameters(inputSchema);
  known.set(inputSchema, found);
  return found;
}

function findMirroredParameters(inputSchema: JsonObject): MirroredParameters {
  const search = new AnnotationSearch();
  search.visit(inputSchema, [], true, 0);
  const { reason, parameters } = search;
  return reason === undefined ? { kind: "parameters", parameters } : { kind: "invalid", reason };
}

/** Collects the annotations of one schema, up to the first that is not allowed. */
class AnnotationSearch {
  readonly parameters: MirroredParameter[] = [];
  /** The reason why an annotation is not allowed. */
  reason: string | undefined;
  readonly #names = new Set<string>();

  /** @param isReachable whether `properties` alone lead to `schema`. */
  visit(schema: JsonValue | undefined, path: readonly string[], isReachable: boolean, depth: number): void {
    if (this.reason !== undefined) return;
    if (depth > maxSchemaDepth) {
      this.reason = `the schema nests deeper than ${maxSchemaDepth} levels`;
      return;
    }
    if (Array.isArray(schema)) {
      for (const item of schema) this.visit(item, path, false, depth + 1);
      return;
    }
    if (!isJsonObject(schema)) return;
    if (Object.hasOwn(schema, "x-mcp-header")) this.#annotate(schema, path, isReachable);
    for (const [keyword, value] of Object.entries(schema)) {
      if (keyword === "properties" && isJsonObject(value)) {
        for (const [name, property] of Object.entries(value))
          this.visit(property, [...path, name], isReachable, depth + 1);
      } else if (schemaKeywords.has(keyword)) {
        this.visit(value, path, false, depth + 1);
      } else if (schemaMapKeywords.has(keyword) && isJsonObject(value)) {
        for (const one of Object.values(value)) this.visit(one, path, false, depth + 1);
      }
    }
  }

  #annotate(schema: JsonObject, path: readonly string[], isReachable: boolean): void {
    const name = schema["x-mcp-header"];
    const place = path.length === 0 ? "(root)" : path.join(".");
    if (typeof name !== "string" || !/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) {
      this.reason = `x-mcp-header of "${place}" is not a header name`;
    } else if (!isReachable || path.length === 0) {
      this.reason = `x-mcp-header of "${place}" is not reachable by "properties" alone`;
    } else if (!["string", "integer", "boolean"].includes(schema["type"] as string)) {
      this.reason = `x-mcp-header of "${place}" needs type string, integer or boolean`;
    } else if (this.#names.has(name.toLowerCase())) {
      this.reason = `x-mcp-header "${name}" is used twice`;
    } else {
      this.#names.add(name.toLowerCase());
      const isInteger = schema["type"] === "integer";
      this.parameters.push({ header: `mcp-param-${name.toLowerCase()}`, path, isInteger });
    }
  }
}

/** Keywords with a schema, or an array of schemas, that is not reachable by `properties` alone. */
const schemaKeywords: ReadonlySet<string> = new Set([
  "items",
  "prefixItems",
  "additionalItems",
  "unevaluatedItems",
  "contains",
  "additionalProperties",
  "unevaluatedProperties",
  "propertyNames",
  "contentSchema",
  "oneOf",
  "anyOf",
  "allOf",
  "not",
  "if",
  "then",
  "else",
]);

/** Keywords with an object of such schemas by name. */
const schemaMapKeywords: ReadonlySet<string> = new Set([
  "$defs",
  "definitions",
  "dependencies",
  "dependentSchemas",
  "patternProperties",
]);

/** Returns the header text of a parameter's value in `args`; undefined if it has none. */
export function mirroredValue(args: JsonObject, path: readonly string[]): string | undefined {
  let value: JsonValue | undefined = args;
  for (const name of path)
    value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  if (typeof value === "string") return value;
  return typeof value === "boolean" || typeof value === "number" ? String(value) : undefined;
}

/** Returns the headers that mirror the arguments of a call; none where the annotations of the schema are not allowed. */
export function parameterHeaders(
  inputSchema: JsonObject | undefined,
  params: JsonObject,
): { readonly [header: string]: string } {
  const headers: Record<string, string> = {};
  const args = params["arguments"];
  if (inputSchema === undefined || !isJsonObject(args)) return headers;
  const mirrored = mirroredParametersOf(inputSchema);
  if (mirrored.kind === "invalid") return headers;
  for (const { header, path } of mirrored.parameters) {
    const value = mirroredValue(args, path);
    if (value !== undefined) headers[header] = encodeHeaderValue(value);
  }
  return headers;
}

/**
 * Checks that the headers of a modern POST match its body.
 *
 * @param inputSchema the schema of the called tool, if it is known.
 * @throws {McpError} -32020 with status 400 on the first difference.
 */
export function checkMirroredHeaders(
  headers: { readonly [name: string]: string | readonly string[] | undefined },
  message: { readonly method: string; readonly params?: JsonObject },
  version: string,
  inputSchema: JsonObject | undefined,
): void {
  const params = paramsOf(message);
  checkOne(headers, "mcp-protocol-version", version, false);
  checkOne(headers, "mcp-method", message.method, false);
  const name = mirroredName(message.method, params);
  if (name !== undefined) checkOne(headers, "mcp-name", name, true);
  if (inputSchema === undefined || message.method !== "tools/call") return;
  const mirrored = mirroredParametersOf(inputSchema);
  if (mirrored.kind === "invalid") return;
  const args = isJsonObject(params["arguments"]) ? params["arguments"] : {};
  for (const { header, path, isInteger } of mirrored.parameters) {
    const value = mirroredValue(args, path);
    if (value !== undefined) checkOne(headers, header, value, true, isInteger);
    // A proxy that routes by the header would use a value that the call does not have.
    else if (headers[header] !== undefined)
      throw headerMismatch(`the header "${header}" mirrors an argument that is not in the body`);
  }
}

function checkOne(
  headers: { readonly [name: string]: string | readonly string[] | undefined },
  header: string,
  expected: string,
  isEncoded: boolean,
  isInteger = false,
): void {
  const raw = headers[header];
  if (typeof raw !== "string") throw headerMismatch(`the header "${header}" is missing`);
  const given = isEncoded ? decodeHeaderValue(raw) : raw;
  if (given === undefined) throw headerMismatch(`the value of the header "${header}" is malformed`);
  const isSameNumber = isInteger && decimal.test(given) && Number(given) === Number(expected);
  if (given !== expected && !isSameNumber) {
    throw headerMismatch(`the header "${header}" says "${given}", the body says "${expected}"`);
  }
}

const decimal = /^-?\d+(\.\d+)?$/;
