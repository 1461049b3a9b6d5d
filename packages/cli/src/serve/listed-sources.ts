/**
 * Servers, toolspecs and packages in one list, and their states while a gateway starts: polled, less often after the
 * first seconds.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { Gateway } from "@toolcrib/gateway";
import type { SourceStatus, SourceStatuses } from "@toolcrib/inventory";

/** The status of a server, toolspec or package, as far as lists of all of them show it. */
export type ListedSource = Pick<
  SourceStatus,
  "id" | "transport" | "health" | "tools" | "waitingTools" | "containment"
>;

/** Returns the servers, toolspecs and packages of a gateway, in the order of its configuration. */
export function listedSources({ servers, toolspecs, packages }: SourceStatuses): readonly ListedSource[] {
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
 * Calls `isDone` with the states of all sources until it returns true, the time is over or `signal` aborts.
 *
 * @param options `waitMs`: longest time to wait.
 */
export async function pollSources(
  gateway: Gateway,
  { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  isDone: (sources: readonly ListedSource[]) => boolean,
): Promise<void> {
  for (let waitedMs = 0; ; ) {
    if (isDone(listedSources(gateway.sources())) || waitedMs >= waitMs || signal.aborted) return;
    const ms = waitedMs < shortPollsMs ? pollMs : laterPollMs;
    // An abort ends the delay; the loop checks the signal.
    await delay(ms, undefined, { signal }).catch(() => {});
    waitedMs += ms;
  }
}
