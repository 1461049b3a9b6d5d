/**
 * The setting `connectTo`, by which the operator replaces the address of a host.
 * Only the address and the port of the connection change: policy, SNI,
 * certificate and `Host` remain those of the host, and the address is checked.
 */

import { isIP } from "node:net";
import { parseHostName } from "@toolcrib/hosts";
import { EgressError } from "../egress-error.ts";

/** An address and a port. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/**
 * Parses `connectTo`.
 *
 * @throws {EgressError} `EGRESS_SETTINGS_INVALID`
 */
export function parseConnectTo(connectTo: {
  readonly [host: string]: string;
}): ReadonlyMap<string, Endpoint> {
  return new Map(
    Object.entries(connectTo).map(([host, text]) => [parseHost(host), parseEndpoint(host, text)]),
  );
}

function parseHost(host: string): string {
  const verdict = parseHostName(host);
  if (verdict.kind === "valid") return verdict.value;
  const message = `Cannot connect ${JSON.stringify(host)} elsewhere: ${verdict.reason}`;
  throw new EgressError("EGRESS_SETTINGS_INVALID", message);
}

function parseEndpoint(host: string, text: string): Endpoint {
  const match = /^(?:\[([^\]]+)\]|([0-9.]+)):([1-9][0-9]{0,4})$/.exec(text);
  const address = match?.[1] ?? match?.[2] ?? "";
  const port = Number(match?.[3]);
  const family = match?.[1] === undefined ? 4 : 6;
  if (match === null || isIP(address) !== family || address.includes("%") || port > 65_535) {
    const message = `Cannot connect "${host}" to ${JSON.stringify(text)}: it is not an address with a port`;
    const hint = "write an address and a port, such as 10.1.2.3:8443 or [fd00::1]:8443";
    throw new EgressError("EGRESS_SETTINGS_INVALID", message, { hint });
  }
  return { address, port };
}
