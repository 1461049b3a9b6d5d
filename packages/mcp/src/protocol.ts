/**
 * Constants of the Model Context Protocol: revisions, reserved `_meta` keys,
 * error codes and log levels. A test pins the names on the wire.
 */

import type { Era } from "@toolcrib/tool";

/** Revisions with an `initialize` handshake, newest first. */
export const legacyVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** Revisions without a handshake, whose requests are self-contained, newest first. */
export const modernVersions = ["2026-07-28"] as const;

/** The revision offered in `initialize`. */
export const latestLegacyVersion = legacyVersions[0];

/** The revision that modern requests carry. */
export const latestModernVersion = modernVersions[0];

/** The oldest revision of the modern era that is spoken here. */
export const oldestModernVersion: string = modernVersions[modernVersions.length - 1] ?? latestModernVersion;

/** Returns the era of `version`; undefined for a revision that this package does not support. */
export function eraOf(version: string): Era | undefined {
  if ((legacyVersions as readonly string[]).includes(version)) return "legacy";
  return (modernVersions as readonly string[]).includes(version) ? "modern" : undefined;
}

/** Reserved `_meta` keys of revision 2026-07-28 (basic, section `_meta`). */
export const metaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  logLevel: "io.modelcontextprotocol/logLevel",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
} as const;

/** Error codes of JSON-RPC 2.0 and of the MCP revisions. */
export const rpcCodes = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  /** Revisions up to 2025-11-25; later ones use `invalidParams`. */
  RESOURCE_NOT_FOUND: -32002,
  /** HTTP: the session is unknown (SDK custom, -32001). */
  sessionNotFound: -32001,
  headerMismatch: -32020,
  missingClientCapability: -32021,
  unsupportedVersion: -32022,
} as const;

/** RFC 5424 severities in the order of MCP, lowest first. */
export const logLevels = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

/** Whether a message of `level` reaches a client's threshold; an unknown level does. */
export function passesLogLevel(level: unknown, threshold: string): boolean {
  const rank = (logLevels as readonly unknown[]).indexOf(level);
  return rank === -1 || rank >= (logLevels as readonly string[]).indexOf(threshold);
}
