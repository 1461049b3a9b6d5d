/**
 * The frame of a credential: the text around its placeholder, and later around
 * its secret.
 */

import type { EgressCredential } from "../egress-types.ts";
import { isPlaceholder } from "../scan/placeholder.ts";

const token = "{token}";

/** Returns `value` in the frame of `credential`. */
export function frame({ place: { format } }: EgressCredential, value: string): string {
  const [before, after] = format.split(token) as [string, string];
  return `${before}${value}${after}`;
}

/** Asserts that a credential is valid, which the creator of the source ensures. */
export function assertCredential({ id, place, placeholder }: EgressCredential): void {
  const assert: typeof import("node:assert") = process.getBuiltinModule("node:assert");
  assert(isPlaceholder(placeholder), `credential "${id}" has a placeholder of createPlaceholder`);
  assert(place.format.split(token).length === 2, `the format of credential "${id}" has ${token} once`);
  assert(place.kind !== "pathPrefix" || place.format.startsWith("/"), `the path of "${id}" begins with "/"`);
}
