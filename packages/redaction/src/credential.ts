/**
 * Detects credentials in texts, by their form or by the name before them. Used to
 * refuse secrets in a configuration and to keep them out of every message. Pure;
 * never returns a value in a message.
 */

import { looksLikeSecret, tokenPattern } from "@toolcrib/document";
import { isSecretParameter } from "./secret-name.ts";
import { webhookPattern } from "./webhooks.ts";

/** Prefixes of values that are credentials as a whole. */
const leadingToken = /^\s*(?:Bearer\s+\S|(?:sk-|ghp_|gho_|glpat-|xoxb-|xoxp-)\S|AKIA[0-9A-Z])/i;
const leadingCase = /^\s*(?:bearer|sk-|ghp_|gho_|glpat-|xoxb-|xoxp-|AKIA)/i;
/** `sk-SK`, the Slovak locale, begins like a key. */
const slovakLocale = /^\s*sk-SK(?![A-Za-z0-9])/;

/** Whether the form of `value` is that of a credential (`Bearer …`, `sk-…`, `ghp_…`, a JWT, a PEM block, …). */
export function looksLikeCredential(value: string): boolean {
  if (looksLikeSecret(value)) return true;
  if (!leadingCase.test(value) || slovakLocale.test(value)) return false;
  return leadingToken.test(value);
}

/** Returns the ranges of `text` that have the form of a credential, under any field name. */
export function credentialRanges(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  if (!beginning.test(text)) return found;
  for (const pattern of credentialPatterns) {
    for (const match of text.matchAll(pattern)) {
      const value = match.groups?.["value"] ?? match[0];
      const start = match.index + match[0].length - value.length;
      found.push({ start, end: start + value.length });
    }
  }
  const known = new Set(found.map(({ start }) => start));
  for (const { index, groups } of text.matchAll(urlParameter)) {
    const { mark = "", name = "", value = "" } = groups ?? {};
    const start = index + mark.length;
    if (!known.has(start) && isSecretParameter(decoded(name), decoded(value)))
      found.push({ start, end: start + value.length });
  }
  return found;
}

/** Returns `text` with a space in place of each part that has the form of a credential. */
export function omitCredentials(text: string): string {
  let kept = "";
  let at = 0;
  for (const { start, end } of credentialRanges(text).toSorted((a, b) => a.start - b.start)) {
    if (start > at) kept += `${text.slice(at, start)} `;
    at = Math.max(at, end);
  }
  return kept + text.slice(at);
}

/** A parameter of a URL, up to its value. What its name says is decided as for URLs in a configuration. */
const urlParameter = /(?<mark>[?&](?<name>[^\s?&=#"']{1,80})=)(?<value>[^&\s"'#]{1,4096})/g;

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A prefilter: every match of `credentialPatterns` contains one of these. Most texts have none. */
const beginning =
  /sk-|[rs]k_|gh[oprsu]_|pat[-_]|xox[a-z]-|xapp-|A[KS]IA|AIza|ya29|sh(?:pat|pca|ppa|pss)_|npm_|pypi-|hf_|whsec_|SG\.|gsk_|xai-|r8_|pplx-|tvly-|dop_v1_|lin_api_|ntn_|figd_|sbp_|sntry|glsa_|ATATT|dapi|hvs\.|tcb_|lsv2_|PMAK-|NRAK-|key-|fc-|apify_|:AA|\dQ~|[MNO][\w-]{22,28}\.|eyJ|-----BEGIN|Bearer|Basic|:\/\/|[?&]|hook|\.com\//i;

/**
 * Quantifiers are bounded where a failed match is retried from the next
 * character: these patterns run over whole untrusted files. Each pattern ends
 * with the part that is hidden: the whole match, or its group `value`.
 */
const credentialPatterns: readonly RegExp[] = [
  new RegExp(tokenPattern, "g"),
  /(?<![A-Za-z0-9])(?:sk-|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xoxb-|xoxp-)[A-Za-z0-9_-]{6,}/g,
  /-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|$)/g,
  /\b(?:Bearer|Basic)[ \t]+(?<value>(?!\$\{)[^\s"',}]+)/gi,
  /:\/\/(?<value>[^\s/@"'?#]+(?=@))/g,
  /[?&][\w.-]{0,40}(?:key|token|secret|password|credential)[\w.-]{0,40}=(?<value>[^&\s"'#]+)/gi,
  /[?&](?:sig|signature)=(?<value>[^&\s"'#]{16,})/gi,
  new RegExp(webhookPattern, "gi"),
];

/**
 * Returns the ranges that follow the name of a credential in a text that cannot
 * be parsed, each to the end of its line: without a syntax tree, the end of the
 * value is unknown.
 */
export function suspectedCredentials(text: string): { start: number; end: number }[] {
  const found = credentialRanges(text);
  const named =
    /(?:key|token|secret|passw(?:or)?d|passphrase|passcode|credential|bearer|authorization|cookie)[\w.-]{0,40}["']?[ \t]{0,8}[:=][ \t]{0,40}(?<value>\S[^\n]*)/gi;
  for (const match of text.matchAll(named)) {
    const value = match.groups?.["value"] ?? "";
    if (/^secret_key_ref/i.test(match[0]) && !looksLikeCredential(value)) continue;
    const start = match.index + match[0].length - value.length;
    found.push({ start, end: start + value.length });
  }
  return found;
}
