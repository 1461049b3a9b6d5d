/** Decides whether a URL from a service has the host of the request. The same rule applies to redirects and next pages. */

/**
 * Whether `target` has the scheme, host and port of `url` and no user
 * information. Comparing origins is not enough: the origin of
 * `blob:https://a.example/x` is `https://a.example`.
 */
export function isSameHost(target: URL, url: string): boolean {
  const { protocol, host } = new URL(url);
  const isBare = target.username === "" && target.password === "";
  return isBare && target.protocol === protocol && target.host === host;
}
