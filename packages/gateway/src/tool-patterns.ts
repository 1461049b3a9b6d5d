/**
 * Tool patterns (globs over `namespace:name` and `namespace__name`). `*` is any
 * text, `?` one character, everything else itself; case matters. Pure.
 *
 * Matching costs at most pattern times text: the text may come from a client (a
 * resource's URI), so no regular expression is made of a pattern.
 */

import type { ToolId } from "@toolcrib/tool";

/** A list of patterns. */
export interface ToolPatterns {
  /** Position and text of the first pattern that matches either name. */
  find(id: ToolId, wireName: string): { readonly at: number; readonly text: string } | undefined;
}

/** Prepare `patterns`. */
export function createToolPatterns(patterns: readonly string[]): ToolPatterns {
  return {
    find(id, wireName) {
      const at = patterns.findIndex((text) => matchesGlob(text, id) || matchesGlob(text, wireName));
      return at === -1 ? undefined : { at, text: patterns[at] as string };
    },
  };
}

const star = 0x2a;
const question = 0x3f;

/** Whether all of `text` is what `pattern` says. */
export function matchesGlob(pattern: string, text: string): boolean {
  let inPattern = 0;
  let inText = 0;
  // Where the last `*` stands, and how much of the text it has taken.
  let starAt = -1;
  let takenTo = 0;
  while (inText < text.length) {
    const wanted = inPattern < pattern.length ? pattern.charCodeAt(inPattern) : -1;
    if (wanted === star) {
      starAt = inPattern;
      takenTo = inText;
      inPattern += 1;
    } else if (wanted === question || wanted === text.charCodeAt(inText)) {
      inPattern += 1;
      inText += 1;
    } else if (starAt === -1) {
      return false;
    } else {
      takenTo += 1;
      inText = takenTo;
      inPattern = starAt + 1;
    }
  }
  while (pattern.charCodeAt(inPattern) === star) inPattern += 1;
  return inPattern === pattern.length;
}
