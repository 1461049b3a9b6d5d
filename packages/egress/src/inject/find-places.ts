/**
 * Finds the credentials of a source in the head of a request, and placeholders
 * outside their places. A credential is in its place if its format with its
 * placeholder is the complete value of its header or query parameter, or the
 * beginning of the path; once for each credential. Pure.
 */

import type { EgressCredential } from "../egress-types.ts";
import { findPlaceholder, type Misplaced } from "../scan/find-placeholder.ts";
import { frame } from "./credential-frame.ts";
import type { HeaderField, RequestHead } from "./request-head.ts";

/** The credentials in a head. */
export interface FoundPlaces {
  /** The credentials that are in their place. */
  readonly used: readonly EgressCredential[];
  /** A placeholder outside its place. */
  readonly misplaced: Misplaced | undefined;
}

/** Finds `credentials` in `head`. */
export function findPlaces(head: RequestHead, credentials: readonly EgressCredential[]): FoundPlaces {
  const used = new Set<EgressCredential>();
  const take = (matches: (credential: EgressCredential) => boolean): boolean => {
    const credential = credentials.find((one) => !used.has(one) && matches(one));
    if (credential !== undefined) used.add(credential);
    return credential !== undefined;
  };
  const misplaced =
    findPlaceholder("method", head.method) ??
    findInTarget(head.target.path, take) ??
    findInHeaders(head.headers, take);
  return { used: [...used], misplaced };
}

type Take = (matches: (credential: EgressCredential) => boolean) => boolean;

function findInTarget(target: string, take: Take): Misplaced | undefined {
  const { path, query } = splitTarget(target);
  let rest = path;
  take((credential) => {
    if (credential.place.kind !== "pathPrefix" || !hasPrefix(path, credential)) return false;
    rest = path.slice(frame(credential, credential.placeholder).length);
    return true;
  });
  const others = query.filter(
    (pair) => !take((credential) => credential.place.kind === "query" && isPairOf(pair, credential)),
  );
  return findPlaceholder("url", rest) ?? findPlaceholder("url", others.join("&"));
}

function findInHeaders(headers: readonly HeaderField[], take: Take): Misplaced | undefined {
  for (const [name, value] of headers) {
    if (take((credential) => isHeaderOf(name, value, credential))) continue;
    const where = `header:${name.toLowerCase()}`;
    // The name can contain the placeholder, so the event does not show it.
    const found = findPlaceholder("header", name) ?? findPlaceholder(where, value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a header is the place of `credential` and contains its placeholder. */
export function isHeaderOf(name: string, value: string, credential: EgressCredential): boolean {
  const { place } = credential;
  return (
    place.kind === "header" &&
    name.toLowerCase() === place.name.toLowerCase() &&
    value === frame(credential, credential.placeholder)
  );
}

/** Whether `name=value` of a query is the place of `credential` and contains its placeholder. */
export function isPairOf(pair: string, credential: EgressCredential): boolean {
  const { place } = credential;
  return (
    place.kind === "query" &&
    queryName(pair) === place.name &&
    decode(pair.slice(pair.indexOf("=") + 1)) === frame(credential, credential.placeholder)
  );
}

/** Whether `path` begins with the place of `credential` and contains its placeholder. */
export function hasPrefix(path: string, credential: EgressCredential): boolean {
  const prefix = frame(credential, credential.placeholder);
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** Splits a target into its path and the unparsed pairs of its query. */
export function splitTarget(target: string): { path: string; query: readonly string[] } {
  const at = target.indexOf("?");
  if (at === -1) return { path: target, query: [] };
  return { path: target.slice(0, at), query: target.slice(at + 1).split("&") };
}

function queryName(pair: string): string | undefined {
  const at = pair.indexOf("=");
  return at === -1 ? undefined : decode(pair.slice(0, at));
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    // Only decodeURIComponent throws here: the text is not UTF-8.
    return undefined;
  }
}
