/** Names of tools on the MCP wire, and the folded forms by which two names collide. Pure. */

import { hash } from "node:crypto";
import { foldName, ownNamespace, savedNamespace, type ToolId } from "@toolcrib/tool";

/** Longest name on the wire, as many hosts allow. @limit client */
export const wireNameMaxLength = 64;

/** Between namespace and name. A server id never contains it. */
const separator = "__";

/** The prefix of the namespace's tools on the wire; empty for Toolcrib's own tools and saved tools. */
export function wirePrefixOf(namespace: string): string {
  return namespace === ownNamespace || namespace === savedNamespace ? "" : namespace;
}

/** Whether `namespace` belongs to Toolcrib's own tools or to saved tools, in any case. */
export function isReservedNamespace(namespace: string): boolean {
  return namespace !== "" && wirePrefixOf(namespace.toLowerCase()) === "";
}

/**
 * The name of a tool on the wire: `namespace__name` in the characters that
 * hosts accept. A longer name is cut and ends in eight digits of its digest, so
 * that it depends on nothing but namespace and name.
 */
export function toWireName(namespace: string, name: string): string {
  const whole = toWholeName(namespace, name);
  const safe = whole.replace(/[^A-Za-z0-9_.-]/g, "_");
  if (safe.length <= wireNameMaxLength) return safe;
  return `${safe.slice(0, wireNameMaxLength - 9)}_${hash("sha256", whole, "hex").slice(0, 8)}`;
}

/**
 * The name on the wire of the tool with this id, wherever it is: for a tool that may not exist here. A namespace with
 * dots whose last part is the name of the tool is taken for a package.
 */
export function wireNameOfId(id: ToolId): string {
  const [namespace = "", name = "", version] = id.includes(":") ? id.split(":") : ["", id];
  const isPackage = namespace.includes(".") && namespace.endsWith(`.${name}`);
  if (isPackage) return toWireName("", namespace);
  return toWireName(wirePrefixOf(namespace), version === undefined ? name : `${name}-${version}`);
}

function toWholeName(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}${separator}${name}`;
}

/**
 * The folded forms of a tool's name, as its source spells it and on the wire.
 * Two tools that share a form are too easy to confuse.
 */
export function foldsOf(namespace: string, name: string, wireName: string): readonly string[] {
  const written = foldName(toWholeName(namespace, name));
  const wired = foldName(wireName);
  return written === wired ? [written] : [written, wired];
}
