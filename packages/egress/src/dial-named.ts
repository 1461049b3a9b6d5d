/**
 * Connects to origins that settings of the operator name, directly or through the
 * HTTP proxy of these settings. Their addresses are not limited to public ones: a
 * registry is often a machine of the own network. Those at which a cloud serves
 * the credentials of the machine are refused all the same.
 */

import { isIP, type Socket } from "node:net";
import { abortable } from "@toolcrib/lifecycle";
import { isMetadataAddress } from "./address/address-rules.ts";
import { dialTcp, openTunnel } from "./dial-tcp.ts";
import { EgressError } from "./egress-error.ts";
import type { EgressSource, NamedOrigin, ResolveHost } from "./egress-types.ts";
import { authorityOf } from "./passthrough/named-origins.ts";
import type { Pipeline } from "./pipeline.ts";

/** A connection on the way to an origin. */
export interface NamedConnection {
  readonly socket: Socket;
  /** The proxy at its other end; undefined where that is the origin. */
  readonly proxy: { readonly authorization: string | undefined } | undefined;
}

/** Settings of the connection. */
export interface NamedDialOptions {
  readonly resolve: ResolveHost;
  readonly signal: AbortSignal;
}

/**
 * Connects to `origin`, or to the proxy of `source` that leads to it.
 *
 * @throws {EgressError} `EGRESS_UNREACHABLE`, `EGRESS_ADDRESS_DENIED`; the reason of `signal`.
 */
export async function dialNamed(
  source: EgressSource,
  origin: NamedOrigin,
  options: NamedDialOptions,
): Promise<NamedConnection> {
  const text = source.via?.(origin);
  if (text === undefined) return { socket: await dial(origin, options), proxy: undefined };
  const { host, port, authorization } = parseProxy(text);
  return { socket: await dial({ host, port }, options), proxy: { authorization } };
}

/** Connects to an origin whose TLS the client speaks itself. @throws {EgressError} as `dialNamed` */
export async function openNamedTunnel(
  pipeline: Pipeline,
  source: EgressSource,
  origin: NamedOrigin,
  signal: AbortSignal,
): Promise<Socket> {
  const { socket, proxy } = await pipeline.connectNamed(source, origin, signal);
  if (proxy === undefined) return socket;
  return await openTunnel(socket, { authority: authorityOf(origin), ...proxy }, signal);
}

async function dial(
  { host, port }: Pick<NamedOrigin, "host" | "port">,
  { resolve, signal }: NamedDialOptions,
): Promise<Socket> {
  const found = isIP(host) === 0 ? await lookup(host, resolve, signal) : [host];
  if (found.some(isMetadataAddress)) {
    throw new EgressError("EGRESS_ADDRESS_DENIED", `Cannot reach "${host}": it has a link-local address`, {
      hint: "such addresses serve the credentials of a machine; correct the setting that names the host",
    });
  }
  const addresses = found.map((address) => ({
    address,
    family: isIP(address) === 6 ? (6 as const) : (4 as const),
  }));
  return await dialTcp(host, { addresses, port }, signal);
}

async function lookup(host: string, resolve: ResolveHost, signal: AbortSignal): Promise<readonly string[]> {
  let found: readonly string[] = [];
  let cause: unknown;
  try {
    found = await abortable(resolve(host, signal), signal);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    cause = error;
  }
  if (found.length > 0) return found;
  throw new EgressError("EGRESS_UNREACHABLE", `Cannot reach "${host}": its addresses cannot be found`, {
    cause,
  });
}

/** @throws {EgressError} `EGRESS_UNREACHABLE` for a URL that cannot be used; the message has no password. */
function parseProxy(text: string): { host: string; port: number; authorization: string | undefined } {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:") {
    throw new EgressError("EGRESS_UNREACHABLE", "Cannot use the configured proxy: it is no http:// URL", {
      hint: "write https_proxy as http://HOST:PORT; SOCKS and HTTPS proxies are not supported",
    });
  }
  const user = userOf(url);
  return {
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: url.port === "" ? 80 : Number(url.port),
    authorization: user === ":" ? undefined : `Basic ${Buffer.from(user).toString("base64")}`,
  };
}

/** Returns the decoded user and password, `:` without both. @throws {EgressError} as `parseProxy` */
function userOf({ username, password }: URL): string {
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  } catch {
    throw new EgressError(
      "EGRESS_UNREACHABLE",
      "Cannot use the configured proxy: its user or password has a percent sign that encodes no character",
      { hint: "write a percent sign in the user or password of https_proxy as %25" },
    );
  }
}
