/** The digest that identifies the content of a definition. */

import { hash } from "node:crypto";
import { canonicalJson } from "@toolcrib/json";

const digests = new WeakMap<object, string>();

/**
 * Returns `sha256:` and the hexadecimal SHA-256 of the canonical JSON (RFC 8785) of the whole definition: every member
 * that a model can see is part of it. It is computed once for each object.
 */
export function digestOf(definition: object): string {
  let digest = digests.get(definition);
  if (digest === undefined) {
    digest = `sha256:${hash("sha256", toText(definition), "hex")}`;
    digests.set(definition, digest);
  }
  return digest;
}

function toText(definition: object): string {
  try {
    return canonicalJson(definition);
  } catch {
    // A function of an embedding program can have a definition without a JSON form.
    return "";
  }
}
