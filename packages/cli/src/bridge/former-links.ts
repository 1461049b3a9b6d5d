/**
 * Connections of a bridge to gateways that it left: no request is sent on them any more. A gateway that ends still
 * answers the calls that it has, so each stays open until it has none.
 */

import type { GatewayLink } from "./gateway-link.ts";

/** The connections that one bridge left. Disposing closes all of them. */
export class FormerLinks implements AsyncDisposable {
  readonly #links = new Set<GatewayLink>();
  readonly #closing = new Set<Promise<void>>();

  add(link: GatewayLink): void {
    this.#links.add(link);
  }

  /** Closes those of which `isInUse` says that nothing is awaited on them. */
  closeIdle(isInUse: (link: GatewayLink) => boolean): void {
    for (const link of this.#links) if (!isInUse(link)) this.#close(link);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.closeIdle(() => false);
    await Promise.all(this.#closing);
  }

  #close(link: GatewayLink): void {
    this.#links.delete(link);
    const closed = disposeQuietly(link).finally(() => this.#closing.delete(closed));
    this.#closing.add(closed);
  }
}

/** Its gateway is gone or ends: there is nothing to do about a failure. */
async function disposeQuietly(link: GatewayLink): Promise<void> {
  await link[Symbol.asyncDispose]().then(undefined, () => {});
}
