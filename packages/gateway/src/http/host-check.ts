/**
 * Which `Host` and `Origin` headers are answered. Both keep web pages out: a
 * page of another site that was made to resolve to this machine (DNS rebinding)
 * sends its own name as Host; a page that calls across sites sends its Origin.
 *
 * Loopback names and addresses are always right, because no other site can
 * send them. No look-ups: what a name resolves to proves nothing.
 */

/** Decide about a `Host`. @param localAddress tells the address that its connection came in on */
export type HostCheck = (value: string | undefined, localAddress: () => string | undefined) => boolean;

/** Decide about an `Origin`. */
export type OriginCheck = (value: string | undefined) => boolean;

/** Most values that were found right and are remembered as such. */
const rememberedMaxCount = 256;

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const wildcardHosts: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

/**
 * Check `Host`: loopback, the address that is listened on, or allowed.
 *
 * The address that a connection came in on is one that is listened on, also
 * where that is said with a wildcard.
 *
 * @param listenHost name or address.
 * @param allowedHosts `host` with any port, or `host:port`.
 */
export function createHostCheck(listenHost: string, allowedHosts: readonly string[]): HostCheck {
  const listen = bracketed(listenHost.toLowerCase());
  const allowed = new Set([...loopbackHosts, ...allowedHosts.map((host) => host.toLowerCase())]);
  if (!wildcardHosts.has(listen)) allowed.add(listen);
  const remembered = new Set<string>();
  return (value, localAddress) => {
    if (value === undefined) return false;
    if (remembered.has(value)) return true;
    const host = value.toLowerCase();
    const name = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::[0-9]{1,5})?$/.exec(host)?.[1];
    if (name === undefined) return false;
    if (allowed.has(name) || allowed.has(host)) {
      if (remembered.size < rememberedMaxCount) remembered.add(value);
      return true;
    }
    // Not remembered: it is right for this connection only.
    const address = localAddress();
    return address !== undefined && name === bracketed(unmapped(address));
  };
}

/** Check `Origin`: absent, loopback over http or https, or allowed. `null` is never right. */
export function createOriginCheck(allowedOrigins: readonly string[]): OriginCheck {
  const allowed = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  return (value) => {
    if (value === undefined) return true;
    const origin = value.toLowerCase();
    if (allowed.has(origin)) return true;
    return /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/.test(origin);
  };
}

/** An address as it stands in a Host header or a URL. */
export function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

/** An IPv4 address that a dual-stack socket shows as IPv6. */
function unmapped(address: string): string {
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}
