/** The locks of a home directory, with the store's own error. */

import { errnoOf, reasonOf, tryLock } from "@toolcrib/files";
import type { HomeLayout } from "./home-layout.ts";
import { StoreError } from "./store-error.ts";

/** The remedy when the file system refuses a change in the home. */
export const homeHint =
  "free disk space, make the file system of the home directory writable, or use another home with --home";

/**
 * Takes the lock `name` of the home without waiting.
 *
 * @returns the lock, held until disposed; `undefined` while another holder excludes it.
 * @throws {StoreError} `STORE_HOME_UNUSABLE`
 */
export function lockHome(
  layout: HomeLayout,
  name: string,
  mode: "exclusive" | "shared",
): Disposable | undefined {
  try {
    return tryLock(layout.lockDirectory, name, mode);
  } catch (error) {
    const { message, cause } = error as Error;
    const isRefused = errnoOf(cause) !== undefined;
    throw new StoreError("STORE_HOME_UNUSABLE", isRefused ? `${message}: ${reasonOf(cause)}` : message, {
      cause,
      hint: isRefused
        ? homeHint
        : "the file system must support file locks, and the user who runs toolcrib must own the home directory",
    });
  }
}
