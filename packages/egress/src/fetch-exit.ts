/**
 * The exit of a sandbox that fetches a package: a proxy that reaches the origins of
 * its registries, unread, and nothing else.
 */

import type { Egress, HandedProxy, NamedOrigin } from "./egress-types.ts";

/** What may be reached through an exit. */
export interface FetchExitSource {
  /** For events. Each exit needs its own. */
  readonly id: string;
  readonly origins: readonly NamedOrigin[];
  /** Returns the URL of the HTTP proxy that leads to an origin. */
  readonly via: (origin: NamedOrigin) => string | undefined;
}

/**
 * Opens the exit of one step of a fetch.
 *
 * @param port the port of 127.0.0.1 at which the step finds it
 * @throws {EgressError} `EGRESS_AUTHORITY_UNUSABLE`, `EGRESS_CLOSED`
 */
export function openFetchExit(egress: Egress, source: FetchExitSource, port: number): Promise<HandedProxy> {
  return egress.openHandedProxy({ ...source, allow: [], credentials: [] }, port);
}
