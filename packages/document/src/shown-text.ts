/** Prepares texts of a document for display: quoted, without secrets, harmless to a terminal. Pure. */

import type { Source, Span } from "@toolcrib/diagnostics";
import type { DocumentNode } from "./document-tree.ts";

/**
 * Source of a regular expression that recognizes tokens anywhere in a text. A
 * prefix such as `sk-` must be followed by a run of letters or digits, because
 * `task-list` is not a key.
 */
export const tokenPattern: string =
  /(?<![A-Za-z0-9_-])(?:(?:sk-|sk_live_|sk_test_|rk_live_|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xoxb-|xoxp-|shpat_|pat-)[A-Za-z0-9_-]{16,}|AKIA[0-9A-Z]{12,}|eyJ[A-Za-z0-9_-]{5,}\.[A-Za-z0-9_-]{2,}\.[A-Za-z0-9_-]*)|-----BEGIN [A-Z0-9 ]{1,40}-----/
    .source;

const token = new RegExp(tokenPattern);

/** Whether `text` contains a token of a known format (`ghp_…`, `sk-…`, a JWT, a PEM block). */
export function looksLikeSecret(text: string): boolean {
  return token.test(text);
}

/** Returns `text` in quotes, harmless to a terminal and truncated to a line; a placeholder for a possible secret. */
export function quote(text: string): string {
  if (looksLikeSecret(text)) return "(possible secret)";
  const cut = text.length > 80 ? `${text.slice(0, 77)}…` : text;
  return JSON.stringify(cut).replace(
    /[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Returns a list such as `a, b or c`. */
export function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} or ${names.at(-1)}`;
}

/** Returns the span of `part` within the value of `node`; the whole value if the text writes `part` differently. */
export function spanWithin(node: DocumentNode, part: string, source: Source): Span {
  const { start, end } = node.span;
  const index = source.text.slice(start, end).indexOf(part);
  return index === -1 || part === "" ? node.span : { start: start + index, end: start + index + part.length };
}

/** Replaces the spans `hidden` of `text` by stars. Keeps its length and line breaks, so that places stay valid. */
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

/** Returns the spans of the tokens in `text`. */
export function secretSpans(text: string): Span[] {
  return Array.from(text.matchAll(new RegExp(tokenPattern, "g")), (found) => {
    return { start: found.index, end: found.index + found[0].length };
  });
}
