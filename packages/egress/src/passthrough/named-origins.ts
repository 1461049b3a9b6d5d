/** Finds the origins that settings of the operator name, in the spellings of a proxy's clients. Pure. */

import type { EgressSource, NamedOrigin } from "../egress-types.ts";

const defaultPorts = { http: 80, https: 443 } as const;

/**
 * Returns the origin of `source` that a client asks for.
 *
 * @param authority `host:port`; for plain HTTP the port can be missing
 */
export function findOrigin(
  { origins = [] }: Pick<EgressSource, "origins">,
  scheme: NamedOrigin["scheme"],
  authority: string,
): NamedOrigin | undefined {
  if (origins.length === 0) return undefined;
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::([1-9][0-9]{0,4}))?$/i.exec(authority);
  const host = (match?.[1] ?? match?.[2])?.toLowerCase();
  const port = match?.[3] === undefined ? defaultPorts[scheme] : Number(match[3]);
  return origins.find((one) => one.scheme === scheme && one.host === host && one.port === port);
}

/** Returns the authority of a URL in plain HTTP, as a client of a proxy sends it. */
export function originTextOf(url: string): string {
  return /^http:\/\/([^/?#@]*)(?:[/?]|$)/i.exec(url)?.[1] ?? "";
}

/** Returns `host:port` of an origin. */
export function authorityOf({ host, port }: NamedOrigin): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}
