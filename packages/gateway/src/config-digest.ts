/**
 * A digest of what the gateway is told, so that the audit shows whether two
 * runs had the same configuration. Where it stands and how it is written does
 * not count; credentials are left out, and the files of toolspecs take part by
 * their own digest. Pure.
 */

import { hash } from "node:crypto";
import type { GatewayConfig } from "@toolcrib/config";
import { canonicalJson } from "@toolcrib/json";

/** Fields that say where something was declared, or what was found out about it. */
const placeFields: ReadonlySet<string> = new Set([
  "source",
  "span",
  "enforced",
  "notEnforced",
  "problems",
  "pair",
]);

/** The digest of `config`, such as `sha256:…`. */
export function digestConfig(config: GatewayConfig): string {
  return `sha256:${hash("sha256", canonicalJson(essenceOf(config)), "hex")}`;
}

function essenceOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(essenceOf);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value)
    .filter(([name]) => !placeFields.has(name))
    .map(([name, member]) => [name, essenceOf(member)]);
  const essence = Object.fromEntries(members);
  // A literal or template that is a credential tells only that it is there.
  return "isSecret" in value && value.isSecret === true ? { kind: essence["kind"], isSecret: true } : essence;
}
