/**
 * Addresses of a sandbox's own network that stand for hosts: each allowed host that
 * a program looks up gets one, and a connection to it is a connection to that host.
 * No host outside has such an address (RFC 2544: 198.18.0.0/15).
 */

/** Hosts with an address at a time; the one that was looked up longest ago loses its own. @limit program */
const hostsMaxCount = 4096;
const addressesCount = 1 << 17;

/** The addresses of one sandbox. */
export class OwnAddresses {
  readonly #byHost = new Map<string, number>();
  readonly #byAddress = new Map<number, string>();
  #next = 1;

  /** Returns the four numbers of the address of `host`. */
  of(host: string): readonly number[] {
    const index = this.#byHost.get(host) ?? this.#newIndex();
    // The order of the map is that of the last lookups.
    this.#byHost.delete(host);
    this.#byHost.set(host, index);
    this.#byAddress.set(index, host);
    return [198, 18 + (index >> 16), (index >> 8) & 255, index & 255];
  }

  /** Returns the host of an address as text. */
  hostAt(address: string): string | undefined {
    const [, second = 0, third = 0, fourth = 0] =
      /^(?:::ffff:)?198\.(1[89])\.(\d+)\.(\d+)$/i.exec(address) ?? [];
    return this.#byAddress.get(((Number(second) - 18) << 16) | (Number(third) << 8) | Number(fourth));
  }

  #newIndex(): number {
    const [oldest] = this.#byHost;
    if (oldest !== undefined && this.#byHost.size >= hostsMaxCount) {
      this.#byHost.delete(oldest[0]);
      this.#byAddress.delete(oldest[1]);
    }
    // An address is used again only after all others: a program may remember one that its host has lost.
    const index = this.#next;
    this.#next = (this.#next % (addressesCount - 2)) + 1;
    const before = this.#byAddress.get(index);
    if (before !== undefined) this.#byHost.delete(before);
    return index;
  }
}
