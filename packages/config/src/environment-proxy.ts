/**
 * The proxy that the environment names for a URL: `HTTPS_PROXY`, `HTTP_PROXY`
 * and `NO_PROXY`, in lower or upper case. This machine is never reached through
 * a proxy. Pure: the caller passes the variables.
 */

/** Returns the URL of the proxy for `url`, or undefined for a direct connection. */
export function environmentProxy(
  url: string,
  variable: (name: string) => string | undefined,
): string | undefined {
  const { protocol, hostname, port } = new URL(url);
  const read = (name: string) => {
    const value = variable(name.toLowerCase()) ?? variable(name);
    return value === undefined || value.trim() === "" ? undefined : value.trim();
  };
  const host = hostname.toLowerCase().replace(/^\[(.*)\]$/, "$1");
  if (isThisMachine(host)) return undefined;
  const hostPort = `${host}:${port === "" ? (protocol === "https:" ? "443" : "80") : port}`;
  const excluded = (read("NO_PROXY") ?? "").split(",").map((entry) => entry.trim().toLowerCase());
  if (excluded.some((entry) => isExcluded(entry, host, hostPort))) return undefined;
  const proxy = read(protocol === "https:" ? "HTTPS_PROXY" : "HTTP_PROXY");
  if (proxy === undefined) return undefined;
  return proxy.includes("://") ? proxy : `http://${proxy}`;
}

function isExcluded(entry: string, host: string, hostPort: string): boolean {
  if (entry === "") return false;
  if (entry === "*" || entry === hostPort) return true;
  const domain = entry.replace(/^\*?\./, "");
  return host === domain || host.endsWith(`.${domain}`);
}

function isThisMachine(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || /^127\./.test(host) || host === "::1";
}
