/** Words for servers that make first contact. */

import type { Health } from "@toolcrib/tool";

/** Returns what a server that starts does, for people. */
export function startingText({ phase, fetchedBytes }: Pick<Health, "phase" | "fetchedBytes">): string {
  if (phase !== "fetching") return "starting";
  if (fetchedBytes === undefined) return "waits until other packages are fetched";
  if (fetchedBytes < 50_000) return "fetching its package";
  return `fetching its package, ${(fetchedBytes / 1_000_000).toFixed(1)} MB`;
}

/** Returns the reason of a state; of a server whose package is fetched, how far that is. */
export function reasonOrStep(health: Health): string | undefined {
  return health.state === "starting" && health.phase === "fetching" ? startingText(health) : health.reason;
}
