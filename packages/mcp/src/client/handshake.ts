/**
 * The handshake of a connection: `initialize` in the legacy era,
 * `server/discover` in the modern one. The remembered era is tried first, then
 * the other one if the answer allows it. The owner decides in which era it uses a server of both.
 */

import { cutText } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { ClientInfo, Era } from "@toolcrib/tool";
import { metaOf } from "../json-rpc.ts";
import { McpError } from "../mcp-error.ts";
import type { MessageRouter } from "../message-router.ts";
import {
  eraOf,
  latestLegacyVersion,
  latestModernVersion,
  metaKeys,
  modernVersions,
  rpcCodes,
} from "../protocol.ts";
import type { ClientTransport } from "./transport.ts";

/** The client's part of a handshake. */
export interface HandshakeOptions {
  readonly clientInfo: ClientInfo;
  /** MCP `ClientCapabilities` to declare. @default {} */
  readonly capabilities?: JsonObject;
  /** The era of an earlier connection, which is tried first. @default "legacy" */
  readonly era?: Era | undefined;
  /** Whether no other era than `era` is tried. @default false */
  readonly isPinned?: boolean;
  /** Removes secrets from what the server says about itself and in its errors before that is cut. @default it has none */
  readonly scrub?: ((text: string) => string) | undefined;
}

/** The result of a handshake. */
export interface Agreement {
  readonly era: Era;
  readonly protocolVersion: string;
  /** MCP `ServerCapabilities`. */
  readonly capabilities: JsonObject;
  readonly serverInfo: JsonObject | undefined;
  readonly instructions: string | undefined;
  /** Whether the server has listed all of its versions, and none of them is of the legacy era. */
  readonly isModernOnly: boolean;
}

/** The two ends that a handshake runs over. */
interface Channel {
  readonly router: MessageRouter;
  readonly transport: ClientTransport;
}

/** Milliseconds for the answer to `server/discover` of a server that may be of the legacy era. @limit server */
const discoverTimeoutMs = 10_000;

/** Finds the server's era and protocol version. @throws {McpError} of the first attempt. */
export async function negotiate(
  channel: Channel,
  options: HandshakeOptions,
  signal: AbortSignal,
): Promise<Agreement> {
  const { transport } = channel;
  const isModernFirst = options.era === "modern" && transport.kind !== "sse";
  const [first, second] = isModernFirst ? [discover, initialize] : [initialize, discover];
  try {
    return await first(channel, options, signal);
  } catch (error) {
    const mayBeOther =
      options.isPinned !== true &&
      transport.kind !== "sse" &&
      error instanceof McpError &&
      isRefusal(error, isModernFirst);
    if (!mayBeOther) throw error;
    try {
      return await second(channel, options, signal);
    } catch (other) {
      // A refusal of `server/discover` says only that the server is not modern. Otherwise the first error is more
      // specific, unless the second attempt found the server's era.
      const isFound = other instanceof McpError && other.code === "MCP_UNSUPPORTED_VERSION";
      throw isModernFirst || isFound ? other : error;
    }
  }
}

/**
 * Whether a failed handshake may come from a server of the other era. Such a
 * server answers with any JSON-RPC error, or with certain HTTP statuses. A
 * modern server that lists its versions belongs to the other era only if a
 * legacy version is among them.
 */
function isRefusal(error: McpError, isModern: boolean): boolean {
  if (error.code === "MCP_UNSUPPORTED_VERSION") {
    const supported = error.data?.["supported"];
    if (!Array.isArray(supported)) return false;
    // A server that answers every request with some result knows nothing of the modern era.
    if (isModern) return supported.length === 0 || supported.some((one) => isLegacyVersion(String(one)));
    return supported.some((one) => isNewerVersion(String(one)));
  }
  if (error.code === "MCP_REMOTE_ERROR") return true;
  // Some older servers never answer a method that they do not know.
  if (error.code === "MCP_TIMEOUT") return isModern;
  const status = error.code === "MCP_HTTP_ERROR" ? error.data?.["status"] : undefined;
  // Legacy servers differ in the 4xx status with which they answer a modern request.
  return status === 400 || (isModern && (status === 404 || status === 405 || status === 406));
}

function isLegacyVersion(version: string): boolean {
  return eraOf(version) === "legacy";
}

/** Whether a server that answers `initialize` with `version` belongs to a later era. */
function isNewerVersion(version: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(version) && version > latestLegacyVersion;
}

async function initialize(
  { router, transport }: Channel,
  options: HandshakeOptions,
  signal: AbortSignal,
): Promise<Agreement> {
  const result = await router.request(
    "initialize",
    {
      protocolVersion: latestLegacyVersion,
      capabilities: options.capabilities ?? {},
      clientInfo: options.clientInfo as unknown as JsonObject,
    },
    { signal },
  );
  const version = result["protocolVersion"];
  if (typeof version !== "string" || eraOf(version) !== "legacy") throw unsupported([version], options);
  transport.negotiated?.(version);
  router.notify("notifications/initialized", {});
  // A question of the server that belongs to no request would be lost before its stream is open.
  await transport.settled?.();
  return {
    ...describe(result),
    era: "legacy",
    isModernOnly: false,
    protocolVersion: version,
    serverInfo: implementationOf(result["serverInfo"], options),
  };
}

async function discover(
  { router, transport }: Channel,
  options: HandshakeOptions,
  signal: AbortSignal,
): Promise<Agreement> {
  const ask = (asked: string, limit: { readonly timeoutMs?: number }) =>
    router.request("server/discover", { _meta: modernMeta(asked, options) }, { signal, ...limit });
  let isModernOnly = false;
  let result: JsonObject;
  try {
    result = await ask(
      latestModernVersion,
      options.isPinned === true ? {} : { timeoutMs: discoverTimeoutMs },
    );
  } catch (error) {
    const listed = refusedVersions(error);
    const common = modernVersions.find((one) => listed?.includes(one));
    if (listed === undefined) throw error;
    if (common === undefined) throw unsupported(listed, options);
    // The server is of the modern era and lists what it supports: the request is repeated with a version of both, once.
    result = await ask(common, {}).catch((other: unknown) => {
      const still = refusedVersions(other);
      throw still === undefined ? other : unsupported(still, options);
    });
    isModernOnly = !listed.some(isLegacyVersion);
  }
  const offered = result["supportedVersions"];
  const version = modernVersions.find((one) => Array.isArray(offered) && offered.includes(one));
  if (version === undefined) throw unsupported(offered, options);
  transport.negotiated?.(version);
  return {
    ...describe(result),
    era: "modern",
    isModernOnly,
    protocolVersion: version,
    serverInfo: implementationOf(metaOf(result)?.[metaKeys.serverInfo], options),
  };
}

/** Returns the `_meta` members that every modern request carries. */
export function modernMeta(version: string, options: HandshakeOptions): JsonObject {
  return {
    [metaKeys.protocolVersion]: version,
    [metaKeys.clientInfo]: options.clientInfo as unknown as JsonObject,
    [metaKeys.clientCapabilities]: options.capabilities ?? {},
  };
}

/** Returns the versions that the server lists when it refuses the one of a request; undefined for another error. */
function refusedVersions(error: unknown): readonly string[] | undefined {
  if (!(error instanceof McpError) || error.rpcCode !== rpcCodes.unsupportedVersion) return undefined;
  const supported = versionsIn(error.rpcData);
  return Array.isArray(supported) ? supported.map(String) : [];
}

function describe(result: JsonObject): Pick<Agreement, "capabilities" | "instructions"> {
  const instructions = result["instructions"];
  return {
    capabilities: objectAt(result, "capabilities") ?? {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  };
}

/** Returns the texts of an `Implementation` of MCP, cut: a server chooses their length. */
function implementationOf(
  value: unknown,
  { scrub }: Pick<HandshakeOptions, "scrub">,
): JsonObject | undefined {
  if (!isJsonObject(value)) return undefined;
  const texts = ["name", "title", "version", "description", "websiteUrl"].flatMap((name) => {
    const text = value[name];
    return typeof text === "string" ? [[name, shortened(text, infoMaxLength, scrub)] as const] : [];
  });
  return Object.fromEntries(texts);
}

/** Characters that are kept of each text of the information about a server. */
const infoMaxLength = 300;
/** Versions that a server offers, and the characters of each, that an error names. */
const versionsMaxCount = 20;
const versionMaxLength = 40;

function shortened(text: string, maxLength: number, scrub: HandshakeOptions["scrub"]): string {
  return text.length > maxLength ? `${cutText(text, maxLength, scrub)}…` : text;
}

function objectAt(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  return isJsonObject(value) ? value : undefined;
}

function versionsIn(data: unknown): unknown {
  return typeof data === "object" && data !== null && "supported" in data ? data.supported : undefined;
}

function unsupported(offered: unknown, { scrub }: Pick<HandshakeOptions, "scrub">): McpError {
  const all: readonly unknown[] = Array.isArray(offered) ? offered : [];
  const supported = all
    .slice(0, versionsMaxCount)
    .map((one) => shortened(String(one), versionMaxLength, scrub));
  return new McpError(
    "MCP_UNSUPPORTED_VERSION",
    `The server speaks none of our protocol versions; it offers ${supported.join(", ") || "none"}`,
    { rpcCode: rpcCodes.unsupportedVersion, data: { supported } },
  );
}
