/**
 * A digest of the configuration, so that the audit shows whether two runs had the
 * same one. It ignores places and notation, leaves out credentials, and includes
 * the files of toolspecs by their own digests. Pure.
 */

import { hash } from "node:crypto";
import type { GatewayConfig } from "@toolcrib/config";
import { canonicalJson } from "@toolcrib/json";

/** Fields about the place of a declaration, and fields that are derived from others. */
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
  // Of a credential, only its presence is part of the digest.
  return "isSecret" in value && value.isSecret === true ? { kind: essence["kind"], isSecret: true } : essence;
}
