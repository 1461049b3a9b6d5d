/** The contract by which the sources of one kind change with the configuration. Types only. */

import type { TakeStep } from "./commit-steps.ts";

/** The sources of another configuration. Either `commit` or `abandon` is called, once. */
export interface PreparedSources {
  /**
   * Puts them in the place of the present ones, at once. Those that stay are untouched.
   *
   * @param take takes each step for itself, so that one which fails does not leave the others undone
   */
  commit(take: TakeStep): void;
  /** Starts those that are new, after `commit`. Resolves when each made first contact. Never rejects. */
  start(): Promise<unknown>;
  abandon(): Promise<void>;
}
