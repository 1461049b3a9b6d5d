/** Removes credentials from the places of values, which contain names that a client chose. Pure. */

import type { TextScrubber } from "@toolcrib/redaction";
import { credentialRanges } from "@toolcrib/redaction";

/** Returns `places` without known secrets and without what looks like a credential. */
export function cleanPlaces(scrubber: Pick<TextScrubber, "text">, places: string): string {
  const scrubbed = scrubber.text(places);
  // A recognizable credential is longer than most names.
  if (!/[^/\n]{16}/.test(scrubbed)) return scrubbed;
  let clean = "";
  let at = 0;
  for (const { start, end } of credentialRanges(scrubbed).sort((a, b) => a.start - b.start)) {
    if (end <= at) continue;
    clean += `${scrubbed.slice(at, Math.max(at, start))}[redacted]`;
    at = end;
  }
  return clean + scrubbed.slice(at);
}
