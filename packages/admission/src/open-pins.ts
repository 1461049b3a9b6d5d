/** Opens the pins of a home, and finds those that cannot be read. */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { createPinStore, type PinMemory, type PinStore } from "@toolcrib/store";

/** Dependencies of `openPins`. */
export interface OpenPinsDeps {
  /** Home folder. */
  readonly home: string;
  readonly logger: Logger;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/**
 * Opens the pins of a home, with those that can be read. The others are never replaced, and the tools of their servers
 * are held back.
 *
 * @param ids ids of the configured servers.
 */
export async function openPins(
  ids: readonly string[],
  { home, logger, randomBytes }: OpenPinsDeps,
  opening: AsyncDisposableStack,
): Promise<PinMemory> {
  const store = opening.use(createPinStore(home, { randomBytes }));
  try {
    const { sources, problems } = await store.list();
    for (const { message, hint } of problems)
      logger.warn({ reason: message, hint }, "pins could not be read");
    const unreadable = problems.length === 0 ? [] : await unreadablePins(store, ids);
    return { store, remembered: sources, unreadable: new Set(unreadable) };
  } catch (error) {
    logger.warn({ reason: messageOf(error) }, "pins could not be read");
    return { store, remembered: [], unreadable: new Set(ids) };
  }
}

/** Returns the ids of the servers whose pins cannot be read: that is not the same as a server without pins. */
async function unreadablePins(store: PinStore, ids: readonly string[]): Promise<readonly string[]> {
  const unreadable: string[] = [];
  for (const id of ids) await store.get(id).catch(() => unreadable.push(id));
  return unreadable;
}
