/** The digest that identifies the content of a definition. */

import { hash } from "node:crypto";
import { jsonDigest } from "./json-digest.ts";

const digests = new WeakMap<object, string>();

/** The start of the digests of definitions without a canonical form. No stored digest starts with it. */
const noFormStart = "none:";

/**
 * Returns `sha256:` and the hexadecimal SHA-256 of the canonical JSON (RFC 8785) of the whole definition: every member
 * that a model can see is part of it. It is computed once for each object. Definitions without a canonical form have
 * a digest that starts otherwise, and that different definitions can share.
 */
export function digestOf(definition: object): string {
  let digest = digests.get(definition);
  if (digest === undefined) {
    digest = computeDigest(definition);
    digests.set(definition, digest);
  }
  return digest;
}

/**
 * Whether the digest of a definition identifies it. JSON text can have numbers such as `1e400`, which no number of
 * JavaScript holds: definitions that differ in them, and others that an embedding program makes, have no canonical form.
 */
export function hasCanonicalForm(definition: object): boolean {
  return !digestOf(definition).startsWith(noFormStart);
}

function computeDigest(definition: object): string {
  try {
    return jsonDigest(definition);
  } catch {
    return `${noFormStart}${hash("sha256", textOf(definition), "hex")}`;
  }
}

/** Returns a text that differs for most definitions. */
function textOf(definition: object): string {
  try {
    return JSON.stringify(definition) ?? "";
  } catch {
    return "";
  }
}
