/** Removes credentials from the places of values, which contain names that a client chose. Pure. */

import { credentialRanges, redactRanges } from "./credential.ts";
import type { TextScrubber } from "./hidden-value.ts";

/**
 * Returns `places`, which are JSON pointers one a line, with `[redacted]` in place of known secrets and of what has the
 * form of a credential.
 */
export function cleanPlaces(scrubber: Pick<TextScrubber, "text">, places: string): string {
  const scrubbed = scrubber.text(places);
  // A recognizable credential is longer than most names.
  if (!/[^/\n]{16}/.test(scrubbed)) return scrubbed;
  return redactRanges(scrubbed, credentialRanges(scrubbed));
}
