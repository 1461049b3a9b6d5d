/**
 * The `Host` and `Origin` headers that are accepted. Both keep web pages out: a
 * page of another site that was made to resolve to this machine (DNS rebinding)
 * sends its own name as Host; a page that calls across sites sends its Origin.
 *
 * Loopback names and addresses are always accepted, because no other site can
 * send them. Names are not resolved: the address of a name proves nothing.
 */

/** Decides about a `Host`. @param localAddress returns the local address of its connection */
export type HostCheck = (value: string | undefined, localAddress: () => string | undefined) => boolean;

/** Decides about an `Origin`. */
export type OriginCheck = (value: string | undefined) => boolean;

/** Maximum number of accepted values that are remembered. */
const rememberedMaxCount = 256;

const loopbackHosts: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
const wildcardHosts: ReadonlySet<string> = new Set(["0.0.0.0", "[::]"]);

/**
 * Accepts a `Host` that is loopback, the listening address, or allowed.
 *
 * The local address of a connection is a listening address, also if the server
 * listens on a wildcard.
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
    // Not remembered: it is valid for this connection only.
    const address = localAddress();
    return address !== undefined && name === bracketed(unmapped(address));
  };
}

/** Accepts an `Origin` that is absent, loopback over http or https, or allowed. `null` is never accepted. */
export function createOriginCheck(allowedOrigins: readonly string[]): OriginCheck {
  const allowed = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  return (value) => {
    if (value === undefined) return true;
    const origin = value.toLowerCase();
    if (allowed.has(origin)) return true;
    return /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::[0-9]{1,5})?$/.test(origin);
  };
}

/** An address in the form of a Host header or a URL. */
export function bracketed(host: string): string {
  return host.includes(":") && !host.startsWith("[") ? `[${host}]` : host;
}

/** An IPv4 address that a dual-stack socket shows as IPv6. */
function unmapped(address: string): string {
  return address.startsWith("::ffff:") ? address.slice("::ffff:".length) : address;
}
