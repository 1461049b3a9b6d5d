/**
 * Detects credentials in texts, by their form or by the name before them. Used to
 * refuse secrets in a configuration and to keep them out of every message. Pure;
 * never returns a value in a message.
 */

import { looksLikeSecret, tokenPattern } from "@toolcrib/document";
import { secretParameters } from "./url-parameters.ts";
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

/**
 * Returns the ranges of `text` that have the form of a credential, under any field name, or are the value of a
 * parameter of a URL.
 *
 * @param parameters which parameters: `certain`, those whose name contains `key`, `token`, `secret`, `password` or
 *   `credential`, and long signatures; `named`, those and all others with the name of a secret. @default "named"
 */
export function credentialRanges(
  text: string,
  parameters: "named" | "certain" = "named",
): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  if (!beginning.test(text)) return found;
  for (const pattern of credentialPatterns) {
    for (const match of text.matchAll(pattern)) {
      const value = match.groups?.["value"] ?? match[0];
      const start = match.index + match[0].length - value.length;
      found.push({ start, end: start + value.length });
    }
  }
  addParameters(found, secretParameters(text, parameters));
  return found;
}

/** Adds the values of parameters. One that begins with a known token is hidden to its end. */
function addParameters(
  found: { start: number; end: number }[],
  values: ReturnType<typeof secretParameters>,
): void {
  const byStart = new Map(found.map((range) => [range.start, range]));
  for (const { start, end } of values) {
    const range = byStart.get(start);
    if (range === undefined) found.push({ start, end });
    else range.end = Math.max(range.end, end);
  }
}

/** Returns `text` with `[redacted]` in place of each of `ranges`, which may overlap. */
export function redactRanges(
  text: string,
  ranges: readonly { readonly start: number; readonly end: number }[],
): string {
  let clean = "";
  let at = 0;
  for (const { start, end } of ranges.toSorted((a, b) => a.start - b.start)) {
    if (end <= at) continue;
    clean += `${text.slice(at, Math.max(at, start))}[redacted]`;
    at = end;
  }
  return at === 0 ? text : clean + text.slice(at);
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

/** A prefilter: every match of `credentialPatterns` contains one of these. Most texts have none. */
const beginning =
  /sk-|[rs]k_|gh[oprsu]_|pat[-_]|xox[a-z]-|xapp-|A[KS]IA|AIza|ya29|sh(?:pat|pca|ppa|pss)_|npm_|pypi-|hf_|whsec_|SG\.|gsk_|xai-|r8_|pplx-|tvly-|dop_v1_|lin_api_|ntn_|figd_|sbp_|sntry|glsa_|ATATT|dapi|hvs\.|tcb_|lsv2_|PMAK-|NRAK-|key-|fc-|apify_|:AA|\dQ~|[MNO][\w-]{22,28}\.|eyJ|-----BEGIN|Bearer|Basic|:(?:\\{0,3}\/){2}|[?&]|%2[356]|%3[FB]|\\u00(?:26|3F)|hook|\.com\//i;

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
  /:(?:\\{0,3}\/){2}(?<value>[^\s/@"'?#]+(?=@))/g,
  // A password with ? or #, which should be encoded. A port, also an empty one, is none: that would hide a host.
  /:(?:\\{0,3}\/){2}(?<value>[^\s/@"'?#:]{0,512}:(?!\d{1,5}(?:[/,;?#&|]|$))[^\s/@"'?#]{1,256}[?#][^\s/@"']{0,256}(?=@))/g,
  /[?&][\w.-]{0,40}(?:key|token|secret|password|credential)[\w.-]{0,40}=(?<value>(?:(?!\\u002[36])[^&\s"'#])+)/gi,
  /[?&](?:sig|signature)=(?<value>(?:(?!\\u002[36])[^&\s"'#]){16,})/gi,
  new RegExp(webhookPattern, "gi"),
];

/**
 * Returns the ranges that follow the name of a credential in a text that cannot
 * be parsed, each to the end of its line: without a syntax tree, the end of the
 * value is unknown.
 *
 * @param parameters as for `credentialRanges`
 */
export function suspectedCredentials(
  text: string,
  parameters: "named" | "certain" = "named",
): { start: number; end: number }[] {
  const found = credentialRanges(text, parameters);
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
