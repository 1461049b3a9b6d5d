/** The states of the sources of a gateway, as commands print them, and how long commands wait for them. */

import type { Gateway, GatewayStatus } from "@toolcrib/gateway";
import type { SourceStatus } from "@toolcrib/inventory";
import { reasonOrStep } from "../serve/starting-text.ts";
import type { ServerState } from "./tool-access.ts";

/** Longest time that a command waits for its servers, in milliseconds. */
export const serversWaitMs = 30_000;

/**
 * Waits until the gateway contacted each of its sources, successfully or not, and at most `serversWaitMs`.
 *
 * @throws the reason of `signal`
 */
export async function untilContacted(gateway: Gateway, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, serversWaitMs);
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort);
  try {
    await Promise.race([gateway.ready(), promise]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** The names of what is still starting. */
export function startingIn(gateway: Gateway): string {
  const { servers, toolspecs, packages } = gateway.sources();
  const starting = [...servers, ...toolspecs, ...packages].filter(
    ({ health }) => health.state === "starting",
  );
  return starting.map(({ id }) => id).join(", ");
}

/** Returns the states of servers, toolspecs and packages. A gateway of an earlier version has no packages. */
export function statesOf({
  servers,
  toolspecs,
  packages = [],
}: Pick<GatewayStatus, "servers" | "toolspecs"> & Partial<Pick<GatewayStatus, "packages">>): ServerState[] {
  const stateOf = (
    kind: ServerState["kind"],
    { id, health, waitingTools }: Pick<SourceStatus, "id" | "health" | "waitingTools">,
  ) => ({
    id,
    kind,
    state: health.state,
    reason: reasonOrStep(health),
    waitingTools,
  });
  return [
    ...servers.map((server) => stateOf("server", server)),
    ...toolspecs.map((toolspec) => stateOf("toolspec", toolspec)),
    ...packages.map((one) => stateOf("package", one)),
  ];
}
