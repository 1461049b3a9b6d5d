/**
 * The exit of a sandbox with a scoped network: a proxy that serves the listener of
 * that network, with the variables and certificates by which the program in the
 * sandbox finds and trusts it.
 */

import { readRegularFile } from "@toolcrib/files";
import { parseHostPattern } from "@toolcrib/hosts";
import type { AllowedHost, Egress, EgressSource, HandedProxy } from "./egress-types.ts";
import { proxyVariables } from "./proxy/proxy-variables.ts";

/** One exit. Disposing closes it. */
export interface SandboxExit extends AsyncDisposable {
  /** Variables for the program, by their names. */
  readonly variables: { readonly [name: string]: string };
  /** Certificates of the proxy, at the paths that the variables name, and the settings of names. */
  readonly files: ReadonlyMap<string, string>;
  /** Places for names and for programs that ignore the proxy, in addition to that of the proxy. */
  readonly places: HandedProxy["places"];
  readonly takeListener: HandedProxy["takeListener"];
}

/** Certificates in the sandbox. */
const caFile = "/etc/toolcrib/ca.pem";
const caBundleFile = "/etc/toolcrib/ca-bundle.pem";

const caFileMaxBytes = 4 * 1024 * 1024;

/**
 * Opens the exit of one sandbox.
 *
 * @param port the port of 127.0.0.1 at which the program finds it
 * @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`, `EGRESS_CLOSED`
 */
export async function openSandboxExit(
  egress: Egress,
  source: EgressSource,
  port: number,
): Promise<SandboxExit> {
  const proxy = await egress.openHandedProxy(source, port);
  // Node trusts its own roots and this file: certificates that come through unread can be those of the operator.
  const isUnread = source.allow.some(({ tls }) => tls === "passthrough");
  try {
    return {
      variables: proxyVariables({ url: proxy.url, caFile, caBundleFile }),
      files: new Map([
        [caFile, await readText(isUnread ? proxy.caBundleFile : proxy.caFile)],
        [caBundleFile, await readText(proxy.caBundleFile)],
        ["/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:2 attempts:1\n"],
        ["/etc/hosts", "127.0.0.1 localhost\n"],
      ]),
      places: proxy.places,
      takeListener: proxy.takeListener,
      [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
    };
  } catch (error) {
    await proxy[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Reads an entry of an allow list: a host pattern such as `api.example.com` or `*.example.com`, and optionally a port
 * after a colon. Without one, port 443 is meant.
 *
 * @param tls `passthrough` leaves its TLS unread
 * @returns the reason as a text when it is none.
 */
export function parseAllowedHost(entry: string, tls?: "passthrough"): AllowedHost | string {
  const [name = "", port, ...more] = entry.split(":");
  const pattern = parseHostPattern(name.toLowerCase());
  if (pattern.kind === "invalid") return pattern.reason;
  const host = { ...pattern.value, ...(tls === undefined ? {} : { tls }) };
  if (port === undefined) return host;
  const isPort = /^[0-9]{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
  if (!isPort || more.length > 0) return "its port must be a number from 1 to 65535";
  return { ...host, ports: [Number(port)] };
}

async function readText(path: string): Promise<string> {
  return new TextDecoder().decode((await readRegularFile(path, caFileMaxBytes)).bytes);
}
