/**
 * Decides whether to follow a redirect. Credentials are only for the hosts of
 * the manifest, so only redirects to the same origin are followed, and only for
 * GET requests. Pure; sends nothing.
 */

import { type FilledCredential, type HttpResponse, isSameHost, writeCredential } from "@toolcrib/toolspec";

/** Maximum number of redirects in a row. @limit server */
export const redirectsMaxCount = 5;

/** The decision about a response: it is not a redirect, it is followed to `url`, or it is not followed because of `reason`. */
export type RedirectDecision =
  | { readonly kind: "none" }
  | { readonly kind: "follow"; readonly url: string }
  | { readonly kind: "refuse"; readonly reason: string };

const statuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const urlMaxLength = 16_384;

/** Decides about `response` to a request with `method` for `url`, after `count` redirects. */
export function decideRedirect(
  request: { readonly method: string; readonly url: string },
  response: HttpResponse,
  credentials: readonly FilledCredential[],
  count: number,
): RedirectDecision {
  const location = Object.entries(response.headers).find(([name]) => name.toLowerCase() === "location")?.[1];
  if (!statuses.has(response.status) || location === undefined) return { kind: "none" };
  if (request.method !== "GET")
    return { kind: "refuse", reason: `only GET is redirected, not ${request.method}` };
  const target = URL.canParse(location, request.url) ? new URL(location, request.url) : undefined;
  if (target === undefined || !isSameHost(target, request.url))
    return { kind: "refuse", reason: "redirects are followed on the same host only" };
  if (count >= redirectsMaxCount)
    return { kind: "refuse", reason: `there were ${redirectsMaxCount} redirects before it` };
  target.hash = "";
  const url = withCredentials(target, credentials);
  if (url.length > urlMaxLength)
    return { kind: "refuse", reason: `its URL is longer than ${urlMaxLength} characters` };
  return { kind: "follow", url };
}

/** Returns the URL with the credentials of its query, which services omit in redirects. */
function withCredentials(target: URL, credentials: readonly FilledCredential[]): string {
  const missing = credentials.flatMap((one) =>
    one.place.kind === "query" && !target.searchParams.has(one.place.name)
      ? [`${encodeURIComponent(one.place.name)}=${writeCredential(one)}`]
      : [],
  );
  if (missing.length === 0) return target.href;
  return `${target.href}${target.search === "" ? (target.href.endsWith("?") ? "" : "?") : "&"}${missing.join("&")}`;
}
