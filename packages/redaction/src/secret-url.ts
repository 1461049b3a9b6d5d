/**
 * Recognizes URLs that are credentials by themselves: webhooks, and those with a user, a secret parameter or a random
 * part. Pure.
 */

import { looksLikeCredential } from "./credential.ts";
import { hasHighEntropy } from "./random-text.ts";
import { secretParameters } from "./url-parameters.ts";
import { webhookPattern } from "./webhooks.ts";

/** Segments after which a document, a commit or a folder is named. Its identifier is random, and no secret. */
const identifiedThings: ReadonlySet<string> = new Set(
  "d spreadsheets document folders file files blob commit commits tree blobs sha256".split(" "),
);
/** Segments after which a UUID is what lets somebody in. */
const enteringSegment = /^(?:s|k|t|u|mcp|sse|key|token|secret|shared?|connect|sessions?)$/i;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
/** A commit, which says what is fetched from a repository of Git. */
const gitCommit = /[@#][0-9a-f]{7,64}$/i;
const hookSegment = /^(?:web-?)?hooks?$/i;
const webhook = new RegExp(webhookPattern, "i");

/** Whether a text contains the URL of a webhook of a known service. */
export function isWebhook(value: string): boolean {
  return webhook.test(value);
}

/**
 * Whether a URL is a secret as a whole or in a part.
 *
 * @param name of the variable that has it: that of a webhook makes each path one
 */
export function isSecretUrl(value: string, name = ""): boolean {
  if (value.length > 4096) return /^[a-z][a-z0-9+.-]*:\/\//i.test(value);
  const [, scheme = "", authority = "", rest = ""] =
    /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)(.*)$/is.exec(withoutCommit(value.trim())) ?? [];
  if (scheme === "") return false;
  if (/^https?$/i.test(scheme) && isSecretUser(authority)) return true;
  if (secretParameters(`://${rest}`, "named").length > 0) return true;
  const [path = ""] = rest.split(/[?#]/, 1);
  const segments = path.split("/").filter((part) => part !== "");
  if (/web_?hook/i.test(name) && segments.length > 0) return true;
  if (segments.some((part, at) => hookSegment.test(part) && isHookCode(segments.slice(at + 1)))) return true;
  if (segments.some((part, at) => uuid.test(part) && enteringSegment.test(segments[at - 1] ?? "")))
    return true;
  return (
    segments.some((part, at) => isRandomPart(part) && !identifiedThings.has(segments[at - 1] ?? "")) ||
    rest
      .slice(path.length)
      .split(/[?&=#]/)
      .some(isRandomPart)
  );
}

/** The URL without the commit at its end, where it is one of a repository. */
function withoutCommit(value: string): string {
  return /^git\+|^git:/i.test(value) || /\.git[@#]/.test(value) ? value.replace(gitCommit, "") : value;
}

function isRandomPart(part: string): boolean {
  return hasHighEntropy(part) || looksLikeCredential(part);
}

/** A user without a password, as that of `https://KEY@host`, where it is no word. */
function isSecretUser(authority: string): boolean {
  const [, user = ""] = /^([^:@]*)(?::[^@]*)?@/.exec(authority) ?? [];
  return user.length >= 12 && /\d/.test(user) && !user.includes("$");
}

/** Whether what follows `hooks` in a path is a code, such as a UUID. */
function isHookCode(segments: readonly string[]): boolean {
  return segments.some((part) => part.length >= 8 && /\d/.test(part) && !/^v\d+$/i.test(part));
}
