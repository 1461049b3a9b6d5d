/** The store of a home directory: the state that Toolcrib keeps on disk. It contains the audit trail. */

import { type AuditOptions, resolveAuditOptions } from "./audit-options.ts";
import type { AuditStore } from "./audit-store.ts";
import { FileAuditStore } from "./file-audit-store.ts";
import { createHome, toHomeLayout } from "./home-layout.ts";
import type { StoreError } from "./store-error.ts";

/** Location and behaviour of the store. */
export interface StoreOptions {
  /** Path of the home directory; created with mode 0700 when it is missing. */
  readonly home: string;
  readonly audit?: AuditOptions;
}

/** Dependencies of the store. */
export interface StoreDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. @default the trail is not signed, which `verifyTrail` reports */
  readonly randomBytes?: ((count: number) => Uint8Array) | undefined;
  /**
   * Called with failures that no caller waits for: writing began to fail, records
   * were discarded, or a segment or the index is damaged. For the log.
   * @default no call
   */
  readonly onProblem?: (problem: StoreError) => void;
  /**
   * Called with each signed end of the trail, as one line of JSON with its line feed: once a minute while records are
   * written, and at disposal. A copy outside the home is an anchor, which `verifyTrail` compares with the trail.
   * @default no call
   */
  readonly onHead?: ((line: string) => void) | undefined;
  /**
   * Called with the lines of records when they are in the trail, each with its line feed, in order. Must not throw.
   * @default no call
   */
  readonly onLines?: ((text: string) => void) | undefined;
  /** Ids of calls that were in flight when a gateway was killed and go on: they get no completion here. @default none */
  readonly openCalls?: ReadonlySet<string> | undefined;
}

/** An open store. Disposing writes pending records, and rejects with `AUDIT_UNWRITABLE` when that is impossible. */
export interface Store extends AsyncDisposable {
  readonly audit: AuditStore;
}

/**
 * Opens the store of a home directory for writing. Several processes can open it at
 * the same time: each writes its own segments.
 *
 * A signed trail is compared with its signed end first; a difference is recorded and reported (`AUDIT_DAMAGED`).
 *
 * @throws {StoreError} `STORE_HOME_UNUSABLE`, `STORE_WRITERS_EXHAUSTED`; `STORE_UNREADABLE` for a key that cannot be read,
 *   `AUDIT_UNWRITABLE` when the first record cannot be written and signed.
 */
export async function openStore(options: StoreOptions, deps: StoreDeps): Promise<Store> {
  const layout = toHomeLayout(options.home);
  const auditOptions = resolveAuditOptions(options.audit);
  await createHome(layout);
  const {
    now,
    randomBytes,
    onProblem = () => undefined,
    onHead = () => undefined,
    onLines,
    openCalls,
  } = deps;
  const audit = await FileAuditStore.open(
    { layout, now, randomBytes, onProblem, onHead, onLines, openCalls },
    auditOptions,
  );
  return { audit, [Symbol.asyncDispose]: () => audit[Symbol.asyncDispose]() };
}
