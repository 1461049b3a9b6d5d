/**
 * From a host to what is dialled: `connectTo` or DNS is asked once, every
 * address is judged, and these addresses are what the connection gets. A host
 * with one address that is not allowed is refused whole: a name that leads to
 * the public and to the inside at once is no mistake worth guessing about.
 */

import { lookup } from "node:dns/promises";
import type { Authority } from "../authority.ts";
import { EgressError } from "../egress-error.ts";
import type { ResolveHost } from "../egress-types.ts";
import { untilAborted } from "../until-aborted.ts";
import type { AddressRules, DialAddress } from "./address-rules.ts";
import type { Endpoint } from "./connect-to.ts";

/** What is dialled for a host. */
export interface DialPlan {
  /** One or more, in the order in which they are tried. */
  readonly addresses: readonly DialAddress[];
  readonly port: number;
}

/** How hosts become addresses. */
export interface AddressBook {
  readonly rules: AddressRules;
  readonly connectTo: ReadonlyMap<string, Endpoint>;
  readonly resolve: ResolveHost;
}

const maxAddresses = 64;

/**
 * Find what to dial for `authority`.
 *
 * @throws {EgressError} `EGRESS_UNREACHABLE`, `EGRESS_ADDRESS_DENIED`; the reason of `signal`.
 */
export async function findAddresses(
  { host, port }: Authority,
  { rules, connectTo, resolve }: AddressBook,
  signal: AbortSignal,
): Promise<DialPlan> {
  const endpoint = connectTo.get(host);
  const found = endpoint === undefined ? await resolveHost(host, resolve, signal) : [endpoint.address];
  if (found.length === 0)
    throw new EgressError("EGRESS_UNREACHABLE", `Cannot reach "${host}": it has no address`);
  if (found.length > maxAddresses) {
    throw new EgressError(
      "EGRESS_UNREACHABLE",
      `Cannot reach "${host}": it has more than ${maxAddresses} addresses`,
    );
  }
  const addresses = found.map((text) => {
    const verdict = rules.judge(text);
    if (verdict.kind === "allowed") return verdict.value;
    // Which address it was stays here: what DNS says of an inner network is nobody's business outside.
    throw new EgressError(
      "EGRESS_ADDRESS_DENIED",
      `Cannot reach "${host}": it has an address that is not public (${verdict.range})`,
      { hint: "list the range under egress.internal_ranges, if it is meant to be reached" },
    );
  });
  return { addresses, port: endpoint?.port ?? port };
}

async function resolveHost(
  host: string,
  resolve: ResolveHost,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    return await untilAborted(resolve(host, signal), signal);
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new EgressError("EGRESS_UNREACHABLE", `Cannot reach "${host}": its addresses cannot be found`, {
      cause,
    });
  }
}

/** The addresses that the operating system knows for `host`, in its order. */
export async function lookupHost(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
}
