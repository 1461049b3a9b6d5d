/**
 * Which addresses may be dialled: public unicast ones, and those of the ranges
 * that the operator listed. Everything else is refused: private, loopback,
 * link-local, carrier-grade NAT, documentation, benchmarking, multicast, and
 * every form in which an IPv6 address carries an IPv4 one (mapped, NAT64,
 * 6to4, Teredo). Judges text; resolves and dials nothing.
 */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { EgressError } from "../egress-error.ts";

/** An address that may be dialled. */
export interface DialAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** What judging an address came to. */
export type AddressVerdict =
  | { readonly kind: "allowed"; readonly value: DialAddress }
  | {
      readonly kind: "denied";
      /** The range that it is in, such as `private` or `loopback`. */
      readonly range: string;
    };

/** Judges addresses. */
export interface AddressRules {
  /** Judge an address as DNS gives it. Anything but four decimal numbers or an IPv6 address without zone is denied. */
  judge(text: string): AddressVerdict;
}

/** Whether two texts, as DNS, people and sockets write them, are the same address. */
export function isSameAddress(one: string, other: string): boolean {
  if (isIP(one) === 0 || isIP(other) === 0) return false;
  return ipaddr.parse(one).toNormalizedString() === ipaddr.parse(other).toNormalizedString();
}

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Public by their range, but only ever a service of the machine's own cloud: the agent endpoint of Azure. */
const metadataAddresses: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** All that is given out as public unicast in IPv6. */
const globalUnicast: Range = ipaddr.parseCIDR("2000::/3");

/**
 * Rules that allow `internalRanges` besides public addresses.
 *
 * @throws {EgressError} `EGRESS_SETTINGS_INVALID` for a range that is none.
 */
export function createAddressRules(internalRanges: readonly string[]): AddressRules {
  const internal = internalRanges.map(parseRange);
  return {
    judge(text) {
      const family = isIP(text);
      if (family === 0 || text.includes("%")) return { kind: "denied", range: "no address" };
      const address = ipaddr.parse(text);
      const value: DialAddress = { address: text, family: family === 4 ? 4 : 6 };
      if (internal.some((range) => isWithin(address, range))) return { kind: "allowed", value };
      const range = rangeOf(address);
      return range === undefined ? { kind: "allowed", value } : { kind: "denied", range };
    },
  };
}

/** The range that keeps `address` from being dialled. */
function rangeOf(address: ipaddr.IPv4 | ipaddr.IPv6): string | undefined {
  const range = address.range();
  if (range !== "unicast") return range;
  if (metadataAddresses.has(address.toString())) return "cloud metadata";
  if (address.kind() === "ipv6" && !isWithin(address, globalUnicast)) return "reserved";
  return undefined;
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, [first, bits]: Range): boolean {
  return address.kind() === first.kind() && address.match(first, bits);
}

function parseRange(text: string): Range {
  const [address, bits, ...rest] = text.split("/");
  const family = isIP(address ?? "");
  const isRange =
    family !== 0 &&
    !text.includes("%") &&
    rest.length === 0 &&
    /^(?:0|[1-9][0-9]{0,2})$/.test(bits ?? "") &&
    Number(bits) <= (family === 4 ? 32 : 128);
  if (!isRange) {
    throw new EgressError("EGRESS_SETTINGS_INVALID", `Cannot read internal range ${JSON.stringify(text)}`, {
      hint: "write an address and a number of bits, such as 10.0.0.0/8 or fd00::/8",
    });
  }
  return ipaddr.parseCIDR(text);
}
