/** The contract by which the sources of one kind change with the configuration. Types only. */

/** The sources of another configuration. Either `commit` or `abandon` is called, once. */
export interface PreparedSources {
  /** Puts them in the place of the present ones, at once. Those that stay are untouched. */
  commit(): void;
  /** Starts those that are new, after `commit`. Resolves when each made first contact. Never rejects. */
  start(): Promise<unknown>;
  abandon(): Promise<void>;
}
