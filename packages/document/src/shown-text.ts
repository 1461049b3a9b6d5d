/** Prepares texts of a document for display: quoted, without secrets, harmless to a terminal. Pure. */

import type { Source, Span } from "@toolcrib/diagnostics";
import type { DocumentNode } from "./document-tree.ts";

/**
 * Source of a regular expression that recognizes tokens anywhere in a text. A
 * prefix such as `sk-` must be followed by a run of letters or digits, because
 * `task-list` is not a key.
 */
export const tokenPattern: string = `(?<![A-Za-z0-9_-])(?:${[
  // OpenAI, Anthropic and others, Stripe, GitHub, GitLab, Slack, Shopify, webhooks of Stripe.
  "(?:sk-|[rs]k_live_|[rs]k_test_|gh[oprsu]_|github_pat_|gl(?:pat|ptt|dt|rt|soat)-|xox[abcdeprs]-|xapp-|shp(?:at|ca|pa|ss)_|pat-|whsec_|tcb_)[A-Za-z0-9_-]{16,}",
  // Amazon, Google, JSON Web Tokens.
  "A[KS]IA[0-9A-Z]{12,}",
  "AIza[A-Za-z0-9_-]{30,}",
  "ya29\\.[A-Za-z0-9_-]{16,}",
  "eyJ[A-Za-z0-9_-]{5,}\\.[A-Za-z0-9_-]{2,}\\.[A-Za-z0-9_-]*",
  // Registries, hosts of models, search, mail, issues, monitoring, databases, secrets.
  "(?:npm_|hf_|r8_|gsk_|xai-|pplx-|ntn_|lin_api_|apify_api_|pscale_tkn_)[A-Za-z0-9]{30,}",
  "pypi-AgE[A-Za-z0-9_-]{16,}",
  "(?:tvly-|figd_|glsa_|dckr_pat_|sntry[su]_|lsv2_(?:pt|sk)_|PMAK-|hvs\\.|ATATT3)[A-Za-z0-9_=-]{16,}",
  "(?:dop_v1_|sbp_|dapi|key-|fc-)[0-9a-f]{32,}",
  "NRAK-[A-Z0-9]{27}",
  "SG\\.[A-Za-z0-9_-]{16,}\\.[A-Za-z0-9_-]{16,}",
  // Bots of Telegram.
  "[0-9]{8,10}:AA[A-Za-z0-9_-]{33}",
  // Bots of Discord, and applications of Azure.
  "[MNO][A-Za-z0-9_-]{22,28}\\.[A-Za-z0-9_-]{6}\\.[A-Za-z0-9_-]{27,64}",
  "[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
].join("|")})|-----BEGIN (?!(?:[A-Z0-9]{1,20} )?PUBLIC KEY-)[A-Z0-9 ]{1,40}-----`;

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
