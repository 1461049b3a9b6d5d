/**
 * The wire format changes of 2026-07-28 that the echo server needs: the metadata of
 * every request, the headers that mirror it, and the fields of every result. No
 * I/O.
 */

import { isJsonObject, type JsonObject, type JsonRpcMessage, RpcFailure } from "./json-rpc.ts";

/** The first version without `initialize` and sessions. */
export const modernVersion = "2026-07-28";

/** The versions with `initialize`, oldest first. */
export const legacyVersions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] as const;

const prefix = "io.modelcontextprotocol/";

export const metaKeys = {
  protocolVersion: `${prefix}protocolVersion`,
  clientCapabilities: `${prefix}clientCapabilities`,
  logLevel: `${prefix}logLevel`,
  serverInfo: `${prefix}serverInfo`,
  subscriptionId: `${prefix}subscriptionId`,
} as const;

export function metaOf(message: JsonRpcMessage): JsonObject {
  const meta = message.params?.["_meta"];
  return isJsonObject(meta) ? meta : {};
}

/** Whether `message` declares a version without sessions. */
export function isModernMessage(message: JsonRpcMessage): boolean {
  return message.method === "server/discover" || metaOf(message)[metaKeys.protocolVersion] !== undefined;
}

/**
 * Checks the metadata that every request must have.
 *
 * @throws {RpcFailure} -32602 if a field is missing, -32022 for a version that is not in `supported`.
 */
export function checkRequestMeta(message: JsonRpcMessage, supported: readonly string[]): void {
  const meta = metaOf(message);
  const requested = meta[metaKeys.protocolVersion];
  if (typeof requested !== "string")
    throw new RpcFailure(-32602, `Missing _meta "${metaKeys.protocolVersion}"`);
  if (!isJsonObject(meta[metaKeys.clientCapabilities])) {
    throw new RpcFailure(-32602, `Missing _meta "${metaKeys.clientCapabilities}"`);
  }
  if (!supported.includes(requested)) {
    throw new RpcFailure(-32022, `Unsupported protocol version: ${requested}`, { supported, requested });
  }
}

/**
 * Checks that the HTTP headers match the body.
 *
 * @param inputSchema the schema of the tool that is called, for its mirrored arguments.
 * @throws {RpcFailure} -32020 with the name of the first header that does not match.
 */
export function checkHeaders(
  message: JsonRpcMessage,
  headers: { readonly [name: string]: string | string[] | undefined },
  inputSchema: JsonObject | undefined,
): void {
  const params = message.params ?? {};
  const expected: [header: string, value: unknown][] = [
    ["mcp-protocol-version", metaOf(message)[metaKeys.protocolVersion]],
    ["mcp-method", message.method],
  ];
  if (message.method === "tools/call" || message.method === "prompts/get")
    expected.push(["mcp-name", params["name"]]);
  if (message.method === "resources/read") expected.push(["mcp-name", params["uri"]]);
  if (inputSchema !== undefined && isJsonObject(params["arguments"])) {
    expected.push(...mirroredArguments(inputSchema, params["arguments"]));
  }
  for (const [header, value] of expected) {
    const found = headers[header];
    if (value !== undefined && decodeHeader(found) !== String(value)) {
      throw new RpcFailure(-32020, `Header ${header} is "${found}" and the body says "${value}"`);
    }
  }
}

/** Returns the headers for the annotated properties of `schema`, which are reached through `properties` only. */
function* mirroredArguments(schema: JsonObject, given: JsonObject): Generator<[string, unknown]> {
  if (!isJsonObject(schema["properties"])) return;
  for (const [name, property] of Object.entries(schema["properties"])) {
    const value = given[name];
    if (!isJsonObject(property)) continue;
    const header = property["x-mcp-header"];
    if (typeof header === "string") yield [`mcp-param-${header.toLowerCase()}`, value];
    if (isJsonObject(value)) yield* mirroredArguments(property, value);
  }
}

/** Decodes the value of a header; `=?base64?…?=` contains text that is not plain ASCII. */
function decodeHeader(value: string | string[] | undefined): string | undefined {
  if (typeof value !== "string") return undefined;
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  return encoded === undefined ? value : Buffer.from(encoded, "base64").toString("utf8");
}

const cacheableMethods = new Set([
  "server/discover",
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "resources/read",
]);

/** Adds the fields of 2026-07-28 to `result`: its type, the server, and how long it can be cached. */
export function toModernResult(method: string, result: JsonObject, serverInfo: JsonObject): JsonObject {
  const meta = isJsonObject(result["_meta"]) ? result["_meta"] : {};
  return {
    resultType: "complete",
    ...result,
    ...(cacheableMethods.has(method)
      ? { ttlMs: 60_000, cacheScope: method === "resources/read" ? "private" : "public" }
      : {}),
    _meta: { ...meta, [metaKeys.serverInfo]: serverInfo },
  };
}
