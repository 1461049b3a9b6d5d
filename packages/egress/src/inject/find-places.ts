/**
 * Finds where the credentials of a source stand in the head of a request, and
 * whether a placeholder stands anywhere else. A credential is in its place when
 * the whole value of its header or query parameter is its format around its
 * placeholder, or the path begins so; once for each credential. Pure.
 */

import type { EgressCredential } from "../egress-types.ts";
import { findPlaceholder, type Misplaced } from "../scan/find-placeholder.ts";
import { frame } from "./credential-frame.ts";
import type { HeaderField, RequestHead } from "./request-head.ts";

/** What a head holds of credentials. */
export interface FoundPlaces {
  /** The credentials that are in their place. */
  readonly used: readonly EgressCredential[];
  /** Where a placeholder stands that is not in its place. */
  readonly misplaced: Misplaced | undefined;
}

/** Find the places of `credentials` in `head`. */
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
    // The name of a header may be its placeholder, which is no name for an event.
    const found = findPlaceholder("header", name) ?? findPlaceholder(where, value);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether a header is the place of `credential`, with its placeholder. */
export function isHeaderOf(name: string, value: string, credential: EgressCredential): boolean {
  const { place } = credential;
  return (
    place.kind === "header" &&
    name.toLowerCase() === place.name.toLowerCase() &&
    value === frame(credential, credential.placeholder)
  );
}

/** Whether `name=value` of a query is the place of `credential`, with its placeholder. */
export function isPairOf(pair: string, credential: EgressCredential): boolean {
  const { place } = credential;
  return (
    place.kind === "query" &&
    queryName(pair) === place.name &&
    decode(pair.slice(pair.indexOf("=") + 1)) === frame(credential, credential.placeholder)
  );
}

/** Whether `path` begins with the place of `credential`, with its placeholder. */
export function hasPrefix(path: string, credential: EgressCredential): boolean {
  const prefix = frame(credential, credential.placeholder);
  return path === prefix || path.startsWith(`${prefix}/`);
}

/** Path and query, the query by its pairs as they are written. */
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
    // Only decodeURIComponent throws here: the text is no UTF-8.
    return undefined;
  }
}
