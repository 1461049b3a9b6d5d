/**
 * Redirects that are followed: those within the origin, because headers may hold
 * credentials, and only where the request stays what it is.
 */

import type { Dispatcher } from "undici";

const statuses: readonly number[] = [301, 302, 303, 307, 308];

/** Returns the URL to repeat a request to, or undefined when `response` is to be used as it is. */
export function redirectTarget(
  { statusCode, headers }: Pick<Dispatcher.ResponseData, "statusCode" | "headers">,
  method: string,
  from: URL,
): URL | undefined {
  if (!statuses.includes(statusCode)) return undefined;
  // 301, 302 and 303 turn a POST into a GET.
  if (method !== "GET" && statusCode !== 307 && statusCode !== 308) return undefined;
  const { location } = headers;
  if (typeof location !== "string" || !URL.canParse(location, from)) return undefined;
  const target = new URL(location, from);
  const hasNewUser =
    (target.username !== "" || target.password !== "") &&
    (target.username !== from.username || target.password !== from.password);
  return !hasNewUser && isWithinOrigin(from, target) ? target : undefined;
}

/** Whether `to` has the origin of `from`, or is its https form with both on their default ports. */
function isWithinOrigin(from: URL, to: URL): boolean {
  if (from.origin === to.origin) return true;
  const isUpgrade = from.protocol === "http:" && to.protocol === "https:";
  return isUpgrade && from.hostname === to.hostname && from.port === "" && to.port === "";
}
