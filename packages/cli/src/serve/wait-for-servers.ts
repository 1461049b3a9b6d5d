/**
 * Waits for servers and toolspecs and tells of each as soon as it is known how its first
 * contact went. Looks at the gateway's status, which costs next to nothing.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { Gateway, GatewayStatus } from "@toolcrib/gateway";
import type { Health } from "@toolcrib/tool";

/** A server or toolspec as it is told of. */
export interface SourceStatus {
  readonly id: string;
  /** How it is reached; `toolspec` for a toolspec. */
  readonly transport: string;
  readonly health: Health;
  readonly tools: number;
}

/** The servers and toolspecs of a gateway, in the order of its configuration. */
export function sourcesOf({ servers, toolspecs }: GatewayStatus): readonly SourceStatus[] {
  return [...servers, ...toolspecs.map((toolspec) => ({ ...toolspec, transport: "toolspec" }))];
}

/** Milliseconds between two looks. */
const lookMs = 25;

/**
 * Tell `onSettled` of each server once, when it is ready or has failed.
 *
 * @param waitMs at most so long.
 * @returns the servers that still start.
 */
export async function watchServers(
  gateway: Gateway,
  options: { readonly waitMs: number; readonly signal: AbortSignal },
  onSettled: (server: SourceStatus) => void,
): Promise<readonly SourceStatus[]> {
  const told = new Set<string>();
  const { signal } = options;
  const looks = Math.ceil(options.waitMs / lookMs);
  for (let look = 0; ; look += 1) {
    const servers = sourcesOf(gateway.status());
    for (const server of servers) {
      if (server.health.state === "starting" || told.has(server.id)) continue;
      told.add(server.id);
      onSettled(server);
    }
    const starting = servers.filter(({ id }) => !told.has(id));
    if (starting.length === 0 || look >= looks || signal.aborted) return starting;
    // An abort ends the pause; the loop sees it.
    await delay(lookMs, undefined, { signal }).catch(() => {});
  }
}
