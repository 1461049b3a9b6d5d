/** Whether an address that a service names leads to where it was asked. The one rule for redirects and next pages. */

/**
 * Whether `target` has the scheme, host and port of `url`, and no user
 * information. The origin does not tell: that of `blob:https://a.example/x` is
 * `https://a.example`.
 */
export function isSameHost(target: URL, url: string): boolean {
  const { protocol, host } = new URL(url);
  const isBare = target.username === "" && target.password === "";
  return isBare && target.protocol === protocol && target.host === host;
}
