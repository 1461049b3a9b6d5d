/**
 * Waits for servers, toolspecs and packages, and reports each when it is ready or has failed.
 * Polls the gateway's status, less often after the first seconds: the status takes time where there are many rules.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { Gateway, GatewayStatus } from "@toolcrib/gateway";
import type { Health } from "@toolcrib/tool";

/** The reported state of a server or toolspec. */
export interface SourceStatus {
  readonly id: string;
  /** Kind of the transport; `toolspec` for a toolspec. */
  readonly transport: string;
  readonly health: Health;
  readonly tools: number;
  /** Tools that wait for the operator's approval. @default 0 */
  readonly waitingTools?: number;
  readonly containment?: GatewayStatus["servers"][number]["containment"];
}

/** Returns the servers, toolspecs and packages of a gateway, in the order of its configuration. */
export function sourcesOf({ servers, toolspecs, packages }: GatewayStatus): readonly SourceStatus[] {
  return [
    ...servers,
    ...toolspecs.map((toolspec) => ({ ...toolspec, transport: "toolspec" })),
    ...packages.map((one) => ({ ...one, transport: "package" })),
  ];
}

/** Interval between polls, in milliseconds: short at first, when most servers get ready. */
const pollMs = 25;
const laterPollMs = 100;
const shortPollsMs = 2000;

/**
 * Calls `onSettled` once for each server, when it is ready or has failed.
 *
 * @param options `waitMs`: longest time to wait.
 * @returns the servers that are still starting.
 */
export async function waitForServers(
  gateway: Gateway,
  options: { readonly waitMs: number; readonly signal: AbortSignal },
  onSettled: (server: SourceStatus) => void,
): Promise<readonly SourceStatus[]> {
  const settled = new Set<string>();
  await pollServers(gateway, options, (servers) => {
    for (const server of servers) {
      if (server.health.state === "starting" || settled.has(server.id)) continue;
      settled.add(server.id);
      onSettled(server);
    }
    return servers.every(({ id }) => settled.has(id));
  });
  return sourcesOf(gateway.status()).filter(({ id }) => !settled.has(id));
}

/**
 * Calls `isDone` with the states of all servers until it returns true, the time is over or `signal` aborts.
 *
 * @param options `waitMs`: longest time to wait.
 */
export async function pollServers(
  gateway: Gateway,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  isDone: (servers: readonly SourceStatus[]) => boolean,
): Promise<void> {
  for (let waitedMs = 0; ; ) {
    if (isDone(sourcesOf(gateway.status())) || waitedMs >= waitMs || signal.aborted) return;
    const ms = waitedMs < shortPollsMs ? pollMs : laterPollMs;
    // An abort ends the delay; the loop checks the signal.
    await delay(ms, undefined, { signal }).catch(() => {});
    waitedMs += ms;
  }
}
