/** The id of a target in records and messages. */

import type { TextScrubber } from "@toolcrib/redaction";
import type { CallTarget } from "./call-target.ts";

/** Longest id in a record. */
const idMaxLength = 500;

/** Returns the id of `target` without secrets, and shortened. The id of a resource contains a URI, which can be long and can contain a secret. */
export function shownId(
  { scrubber }: { readonly scrubber: Pick<TextScrubber, "text"> },
  { id }: Pick<CallTarget, "id">,
): string {
  const shown = scrubber.text(id);
  return shown.length <= idMaxLength ? shown : `${shown.slice(0, idMaxLength)}…`;
}
