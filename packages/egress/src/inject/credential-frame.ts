/**
 * The frame of a credential: what stands around its placeholder, and later
 * around its secret. The whole value is the frame with the one or the other.
 */

import assert from "node:assert";
import type { EgressCredential } from "../egress-types.ts";
import { isPlaceholder } from "../scan/placeholder.ts";

const token = "{token}";

/** `value` in the frame of `credential`. */
export function frame({ place: { format } }: EgressCredential, value: string): string {
  const [before, after] = format.split(token) as [string, string];
  return `${before}${value}${after}`;
}

/** Hold a credential to its form: who made the source made sure of it. */
export function assertCredential({ id, place, placeholder }: EgressCredential): void {
  assert(isPlaceholder(placeholder), `credential "${id}" has a placeholder of createPlaceholder`);
  assert(place.format.split(token).length === 2, `the format of credential "${id}" has ${token} once`);
  assert(place.kind !== "pathPrefix" || place.format.startsWith("/"), `the path of "${id}" begins with "/"`);
}
