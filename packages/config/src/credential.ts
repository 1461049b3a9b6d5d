/**
 * What looks like a credential: by the name it stands under, or by itself.
 * Used to refuse secrets in configuration and to keep them out of everything
 * that is shown. Pure; never says what the value is.
 */

import { looksLikeSecret, tokenPattern } from "@toolcrib/document";

const credentialHeader = /^(?:authorization|proxy-authorization|cookie|.*-key|.*-token|.*-secret|api-key)$/i;
const credentialVariable = /key|token|secret|password|credential/i;

/** Whether a header of this name carries a credential. */
export function isCredentialHeader(name: string): boolean {
  return credentialHeader.test(name.trim());
}

/** Whether an environment variable of this name holds a credential. */
export function isCredentialVariable(name: string): boolean {
  return credentialVariable.test(name);
}

/** What a value that is nothing but a credential begins with. */
const leadingToken = /^\s*(?:Bearer\s+\S|(?:sk-|ghp_|gho_|glpat-|xoxb-|xoxp-)\S|AKIA[0-9A-Z])/i;
const leadingCase = /^\s*(?:bearer|sk-|ghp_|gho_|glpat-|xoxb-|xoxp-|AKIA)/i;
/** `sk-SK`, the Slovak locale, begins like a key. */
const slovakLocale = /^\s*sk-SK(?![A-Za-z0-9])/;

/** Whether `value` looks like a credential by itself (`Bearer …`, `sk-…`, `ghp_…`, a JWT, a PEM block, …). */
export function looksLikeCredential(value: string): boolean {
  if (looksLikeSecret(value)) return true;
  if (!leadingCase.test(value) || slovakLocale.test(value)) return false;
  return leadingToken.test(value);
}

/** The stretches of `text` that are credentials by themselves, whatever they stand under. */
export function credentialStretches(text: string): { start: number; end: number }[] {
  const found: { start: number; end: number }[] = [];
  if (!beginning.test(text)) return found;
  for (const pattern of shownAway) {
    for (const match of text.matchAll(pattern)) {
      const value = match.groups?.["value"] ?? match[0];
      const start = match.index + match[0].length - value.length;
      found.push({ start, end: start + value.length });
    }
  }
  return found;
}

/** A piece of text that every pattern of `shownAway` begins with: most texts have none, and need one look. */
const beginning = /sk-|[rs]k_|gh[opsu]_|pat[-_]|xox[bp]-|AKIA|eyJ|-----BEGIN|Bearer|Basic|:\/\/|[?&]/i;

/**
 * Quantifiers are bounded where a failed match could be tried again from the
 * next character: these run over whole files that nobody vetted.
 * Each pattern ends with what is hidden: all of it, or its group `value`.
 */
const shownAway: readonly RegExp[] = [
  new RegExp(tokenPattern, "g"),
  /(?<![A-Za-z0-9])(?:sk-|ghp_|gho_|ghs_|ghu_|github_pat_|glpat-|xoxb-|xoxp-)[A-Za-z0-9_-]{6,}/g,
  /-----BEGIN [A-Z0-9 ]{1,40}-----[\s\S]*?(?:-----END [A-Z0-9 ]{1,40}-----|$)/g,
  /\b(?:Bearer|Basic)[ \t]+(?<value>(?!\$\{)[^\s"',}]+)/gi,
  /:\/\/(?<value>[^\s/@"'?#]+(?=@))/g,
  /[?&][\w.-]{0,40}(?:key|token|secret|password|credential)[\w.-]{0,40}=(?<value>[^&\s"'#]+)/gi,
];

/**
 * The stretches of a text that cannot be parsed which stand behind a name of a
 * credential: to the end of the line, for want of better knowledge.
 */
export function suspectedCredentials(text: string): { start: number; end: number }[] {
  const found = credentialStretches(text);
  const named =
    /(?:key|token|secret|password|credential|authorization|cookie)[\w.-]{0,40}["']?[ \t]{0,8}[:=][ \t]{0,40}(?<value>\S[^\n]*)/gi;
  for (const match of text.matchAll(named)) {
    const value = match.groups?.["value"] ?? "";
    if (/^secret_key_ref/i.test(match[0]) && !looksLikeCredential(value)) continue;
    const start = match.index + match[0].length - value.length;
    found.push({ start, end: start + value.length });
  }
  return found;
}
