/**
 * The store of a home directory: what Toolcrib must remember. Only the audit
 * trail lives here so far.
 */

import { type AuditOptions, resolveAuditOptions } from "./audit-options.ts";
import { type AuditTrail, openAuditTrail } from "./audit-trail.ts";
import { createHome, toHomeLayout } from "./home-layout.ts";
import type { StoreError } from "./store-error.ts";

/** Where the store is and how it behaves. */
export interface StoreOptions {
  /** Path of the home directory; created with mode 0700 when it is missing. */
  readonly home: string;
  readonly audit?: AuditOptions;
}

/** What the store needs of the world. */
export interface StoreDeps {
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  /**
   * Told what went wrong where nobody waits for an answer: writing began to
   * fail, records were discarded, a segment or the index was found damaged.
   * For the log. @default nobody
   */
  readonly onProblem?: (problem: StoreError) => void;
}

/** An open store. Disposing writes what waits and rejects with `AUDIT_UNWRITABLE` when that is impossible. */
export interface Store extends AsyncDisposable {
  readonly audit: AuditTrail;
}

/**
 * Open the store of a home directory for writing. Several processes may do so at
 * the same time: each writes segments of its own.
 *
 * @throws {StoreError} `STORE_HOME_UNUSABLE`, `STORE_WRITERS_EXHAUSTED`.
 */
export async function openStore(options: StoreOptions, deps: StoreDeps): Promise<Store> {
  const layout = toHomeLayout(options.home);
  const auditOptions = resolveAuditOptions(options.audit);
  await createHome(layout);
  const audit = openAuditTrail(
    { layout, clock: deps.clock, onProblem: deps.onProblem ?? (() => undefined) },
    auditOptions,
  );
  return { audit, [Symbol.asyncDispose]: () => audit[Symbol.asyncDispose]() };
}
