/** Restores what a session of an earlier run had, with a few attempts: the servers of a gateway may still be starting. */

import { setTimeout as delay } from "node:timers/promises";

/** Items that are restored at a time. */
const restoredTogether = 16;
/** Pauses before what failed is tried again, in milliseconds. */
const pausesMs = [1000, 5000, 30_000];

/**
 * Restores `items`; those that fail are tried again, three times within a minute. Never rejects.
 *
 * @param closed ends the attempts
 * @param restore resolves to whether it succeeded; never rejects
 */
export async function restoreEach(
  items: readonly string[],
  closed: AbortSignal,
  restore: (item: string) => Promise<boolean>,
): Promise<void> {
  let open = items;
  for (const pauseMs of [0, ...pausesMs]) {
    if (open.length === 0 || closed.aborted) return;
    // The signal would be an error of the pause.
    if (pauseMs > 0) await delay(pauseMs, undefined, { signal: closed, ref: false }).catch(() => {});
    const failed: string[] = [];
    for (let at = 0; at < open.length; at += restoredTogether) {
      const some = open.slice(at, at + restoredTogether);
      const isDone = await Promise.all(some.map((item) => restore(item)));
      failed.push(...some.filter((_item, index) => !isDone[index]));
    }
    open = failed;
  }
}
