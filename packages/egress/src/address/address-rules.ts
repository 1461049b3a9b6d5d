/**
 * Decides which addresses a connection may use: public unicast addresses, and
 * the ranges that the operator listed. All others are refused: private,
 * loopback, link-local, carrier-grade NAT, documentation, benchmarking,
 * multicast, and IPv6 addresses that embed an IPv4 address (mapped, NAT64, 6to4,
 * Teredo). Checks text; never resolves or connects.
 */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";
import { EgressError } from "../egress-error.ts";

/** An address that a connection may use. */
export interface DialAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/** The result of checking an address. */
export type AddressVerdict =
  | { readonly kind: "allowed"; readonly value: DialAddress }
  | {
      readonly kind: "denied";
      /** The range of the address, such as `private` or `loopback`. */
      readonly range: string;
    };

/** Whether two texts are the same address, in any valid spelling. */
export function isSameAddress(one: string, other: string): boolean {
  if (isIP(one) === 0 || isIP(other) === 0) return false;
  return ipaddr.parse(one).toNormalizedString() === ipaddr.parse(other).toNormalizedString();
}

/** Whether an address can be that of the metadata service of a cloud, which gives its readers the rights of the machine. */
export function isMetadataAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes("%")) return true;
  const address = ipaddr.process(text);
  return address.range() === "linkLocal" || metadataAddresses.has(address.toString());
}

type Range = readonly [ipaddr.IPv4 | ipaddr.IPv6, number];

/** Addresses outside of the link-local ranges that are services of a cloud provider for its own machines: Azure, AWS. */
const metadataAddresses: ReadonlySet<string> = new Set(["168.63.129.16", "fd00:ec2::254"]);

/** The range that is allocated for public unicast in IPv6. */
const globalUnicast: Range = ipaddr.parseCIDR("2000::/3");

/** Checks addresses. */
export class AddressRules {
  readonly #internal: readonly Range[];

  /**
   * @param internalRanges ranges that are allowed in addition to public addresses.
   * @throws {EgressError} `EGRESS_SETTINGS_INVALID` for an invalid range.
   */
  constructor(internalRanges: readonly string[]) {
    this.#internal = internalRanges.map(parseRange);
  }

  /** Checks an address as DNS returns it. Denies any text other than four decimal numbers or an IPv6 address without a zone. */
  check(text: string): AddressVerdict {
    const family = isIP(text);
    if (family === 0 || text.includes("%")) return { kind: "denied", range: "no address" };
    const address = ipaddr.parse(text);
    const value: DialAddress = { address: text, family: family === 4 ? 4 : 6 };
    if (this.#internal.some((range) => isWithin(address, range))) return { kind: "allowed", value };
    const range = rangeOf(address);
    return range === undefined ? { kind: "allowed", value } : { kind: "denied", range };
  }
}

/** Returns the range that forbids `address`; `undefined` if it is public. */
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
