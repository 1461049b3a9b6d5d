/** Names of tools on the MCP wire, and the forms in which two of them may not be the same. Pure. */

import { hash } from "node:crypto";
import { foldName } from "@toolcrib/tool";

/** Longest name on the wire, as many hosts allow. */
export const wireNameMaxLength = 64;

/** Between namespace and name. A server id never holds it. */
const separator = "__";

/** The namespace of Toolcrib's own tools; their names on the wire have no prefix. */
export const ownNamespace = "toolcrib";

/** The namespace of saved tools; their names on the wire have no prefix either. */
export const savedNamespace = "saved";

/** What stands before a tool's name on the wire. */
export function wirePrefixOf(namespace: string): string {
  return namespace === ownNamespace || namespace === savedNamespace ? "" : namespace;
}

/**
 * The name of a tool on the wire: `namespace__name` in the characters that
 * hosts accept. A longer one is cut and ends in eight digits of its digest, so
 * that it stays the same wherever and whenever it is made.
 */
export function toWireName(namespace: string, name: string): string {
  const whole = toWholeName(namespace, name);
  const safe = whole.replace(/[^A-Za-z0-9_.-]/g, "_");
  if (safe.length <= wireNameMaxLength) return safe;
  return `${safe.slice(0, wireNameMaxLength - 9)}_${hash("sha256", whole, "hex").slice(0, 8)}`;
}

function toWholeName(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}${separator}${name}`;
}

/**
 * The folded forms of a tool's name: as its source writes it, and as it is on
 * the wire. Two tools that share one of them cannot be told apart.
 */
export function foldsOf(namespace: string, name: string, wireName: string): readonly string[] {
  const written = foldName(toWholeName(namespace, name));
  const wired = foldName(wireName);
  return written === wired ? [written] : [written, wired];
}
