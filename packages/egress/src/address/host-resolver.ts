/**
 * Resolves a host to the addresses of a connection: asks `connectTo` or DNS
 * once, checks every address, and returns those addresses. Refuses a host if
 * one of its addresses is not allowed: a name that resolves to public and to
 * internal addresses at the same time is an attack or a misconfiguration.
 */

import { abortable } from "@toolcrib/lifecycle";
import type { Authority } from "../authority.ts";
import { EgressError } from "../egress-error.ts";
import type { ResolveHost } from "../egress-types.ts";
import type { AddressRules, DialAddress } from "./address-rules.ts";
import type { Endpoint } from "./connect-to.ts";

/** The addresses to connect to. */
export interface DialPlan {
  /** One or more, in the order of the attempts. */
  readonly addresses: readonly DialAddress[];
  readonly port: number;
}

/** The inputs of a resolver. */
export interface ResolverSettings {
  readonly rules: AddressRules;
  readonly connectTo: ReadonlyMap<string, Endpoint>;
  readonly resolve: ResolveHost;
}

/** Addresses of one host that are checked and tried. @limit server */
const maxAddresses = 64;

/** Resolves hosts to allowed addresses. */
export class HostResolver {
  readonly #settings: ResolverSettings;

  constructor(settings: ResolverSettings) {
    this.#settings = settings;
  }

  /**
   * Returns the addresses for `authority`.
   *
   * @throws {EgressError} `EGRESS_UNREACHABLE`, `EGRESS_ADDRESS_DENIED`; the reason of `signal`.
   */
  async resolve({ host, port }: Authority, signal: AbortSignal): Promise<DialPlan> {
    const endpoint = this.#settings.connectTo.get(host);
    const found = endpoint === undefined ? await this.#lookup(host, signal) : [endpoint.address];
    if (found.length === 0) throw unreachable(host, "it has no address");
    if (found.length > maxAddresses) throw unreachable(host, `it has more than ${maxAddresses} addresses`);
    const addresses = found.map((text) => this.#check(host, text));
    return { addresses, port: endpoint?.port ?? port };
  }

  #check(host: string, address: string): DialAddress {
    const verdict = this.#settings.rules.check(address);
    if (verdict.kind === "allowed") return verdict.value;
    // The message omits the address: the records of an internal network are not for the source.
    const message = `Cannot reach "${host}": it has an address that is not public (${verdict.range})`;
    const hint = "check the name of the host; for a host in your own network, see egress.internal_ranges";
    throw new EgressError("EGRESS_ADDRESS_DENIED", message, { hint });
  }

  async #lookup(host: string, signal: AbortSignal): Promise<readonly string[]> {
    try {
      return await abortable(this.#settings.resolve(host, signal), signal);
    } catch (cause) {
      if (signal.aborted) throw signal.reason;
      throw unreachable(host, "its addresses cannot be found", cause);
    }
  }
}

function unreachable(host: string, state: string, cause?: unknown): EgressError {
  return new EgressError("EGRESS_UNREACHABLE", `Cannot reach "${host}": ${state}`, { cause });
}

/** Returns the addresses of `host` that the operating system knows, in its order. */
export async function lookupHost(host: string): Promise<readonly string[]> {
  const { lookup } = process.getBuiltinModule("node:dns/promises");
  const found = await lookup(host, { all: true, order: "verbatim" });
  return found.map(({ address }) => address);
}
