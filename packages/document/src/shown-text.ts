/** What of a document may be shown: texts in quotes, without secrets, harmless to a terminal. Pure. */

import type { Source, Span } from "@toolcrib/diagnostics";
import type { DocumentNode } from "./document-tree.ts";

/**
 * Tokens that are recognised wherever they stand in a text, as the source of a
 * regular expression. `sk-` and the like need a run of letters behind them,
 * because `task-list` is no key.
 */
export const tokenPattern: string =
  /(?<![A-Za-z0-9_-])(?:(?:sk-|sk_live_|sk_test_|rk_live_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xoxb-|xoxp-|shpat_|pat-)[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{12,}|eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*)|-----BEGIN [A-Z0-9 ]{1,40}-----/
    .source;

const token = new RegExp(tokenPattern);

/** Whether a token that is known by its look (`ghp_…`, `sk-…`, a JWT, a PEM block) stands in `text`. */
export function looksLikeSecret(text: string): boolean {
  return token.test(text);
}

/** `text` in quotes, harmless to a terminal and cut to a line; never what looks like a secret. */
export function quote(text: string): string {
  if (looksLikeSecret(text)) return "(what looks like a secret)";
  const cut = text.length > 80 ? `${text.slice(0, 77)}…` : text;
  return JSON.stringify(cut).replace(
    /[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** `a, b or c`. */
export function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** The place of `part` within the value of `node`; the whole value where it is written in another way. */
export function spanWithin(node: DocumentNode, part: string, source: Source): Span {
  const { start, end } = node.span;
  const index = source.text.slice(start, end).indexOf(part);
  return index === -1 || part === "" ? node.span : { start: start + index, end: start + index + part.length };
}

/** `text` of the same length with stars for every stretch of `hidden`; line breaks stay, so that places keep their meaning. */
export function starOut(text: string, hidden: readonly Span[]): string {
  if (hidden.length === 0) return text;
  const sorted = [...hidden].sort((a, b) => a.start - b.start);
  const pieces: string[] = [];
  let at = 0;
  for (const span of sorted) {
    if (span.end <= at) continue;
    const start = Math.max(span.start, at);
    pieces.push(text.slice(at, start), text.slice(start, span.end).replace(/[^\r\n]/g, "*"));
    at = span.end;
  }
  pieces.push(text.slice(at));
  return pieces.join("");
}

/** The stretches of `text` that are tokens. */
export function secretSpans(text: string): Span[] {
  return Array.from(text.matchAll(new RegExp(tokenPattern, "g")), (found) => {
    return { start: found.index, end: found.index + found[0].length };
  });
}
