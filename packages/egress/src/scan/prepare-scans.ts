/** Prepares in advance what the first request needs to scan for placeholders and secrets. */

import { ByteScrubber } from "@toolcrib/redaction";
import { placeholderMatcher } from "./placeholder.ts";

/** Not a secret: it has the characters of most secrets, and its base64 has most characters of base64. */
const sample = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

let isPrepared = false;

/** Creates the tables that all secrets share: some tens of milliseconds of work, once in a process. */
export function prepareScans(): void {
  if (isPrepared) return;
  isPrepared = true;
  placeholderMatcher();
  // Fills the tables, which the next scrubbers use.
  new ByteScrubber<undefined>([]).add({ owner: undefined, texts: [sample], replacement: "" });
}
