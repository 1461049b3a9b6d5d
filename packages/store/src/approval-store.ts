/**
 * The interface of the store of approvals of saved tools: the reach that a human, or
 * the first save, approved for each name. Types only. The engine of one machine
 * keeps one file in the home (file-approval-store.ts); every engine passes the
 * contract tests in `@toolcrib/testing`.
 *
 * The store knows no saved tool: the approval of a deleted tool stays, so that
 * deleting a tool does not reset its approval.
 */

import type { Unsubscribe } from "@toolcrib/tool";

/** The tools that an approved program may call. */
export interface ApprovedReach {
  /** Ids of tools. */
  readonly tools: readonly string[];
  /** Whether it may choose any tool at run time. */
  readonly dynamic: boolean;
}

/** The identity that approved. */
export interface Approver {
  readonly issuer: string;
  readonly subject: string;
}

/** The current approval of one name. */
export interface Approval {
  /** Name of the saved tool. */
  readonly name: string;
  readonly reach: ApprovedReach;
  /**
   * Digest of the definition that the operator approved: owner, name, description, schema, code and reach. The tool of
   * that digest runs with the permissions of its caller alone. Absent until the operator approves.
   */
  readonly definitionDigest?: string;
  /** Absent for an approval that was read from a file of an earlier version. */
  readonly approvedBy?: Approver;
  /** Milliseconds since the epoch. */
  readonly approvedAt: number;
  /** Milliseconds since the epoch; absent while the tool exists. */
  readonly deletedAt?: number;
}

/** An approval in the store. */
export interface StoredApproval extends Approval {
  /** 1 for a new approval; each replacement increases it. */
  readonly version: number;
}

/**
 * The approvals of one home, which several open stores share.
 *
 * A change is atomic and applies to one name, `adopt` to all of its names. It
 * compares the version that the caller read, so two gateways cannot overwrite each
 * other. A change that resolved is visible to every later `get` and `list` of every
 * store. Limits: 10,000 approvals of 524,288 bytes of JSON each, and 1,000 of deleted
 * tools, of which the earliest deleted are dropped.
 */
export interface ApprovalStore extends AsyncDisposable {
  /** Returns the approval of `name` as of the last read; `undefined` for none, and while the store cannot be read. No I/O. */
  current(name: string): StoredApproval | undefined;
  /**
   * Reads changes of other processes, for `current`. Never rejects: when the store
   * cannot be read, `current` returns nothing.
   */
  refresh(): Promise<void>;
  /** Returns one approval. @throws {StoreError} `STORE_UNREADABLE`, `STORE_CLOSED` */
  get(name: string): Promise<StoredApproval | undefined>;
  /** Returns all approvals by name. @throws {StoreError} as `get` */
  list(): Promise<readonly StoredApproval[]>;
  /**
   * Creates or replaces the approval of `approval.name`.
   *
   * @param expectedVersion the version that the caller read; `undefined` for none.
   * @throws {StoreError} `STORE_CONFLICT` when another version is stored; `STORE_FULL`, `STORE_RECORD_TOO_LARGE`,
   *   `STORE_BUSY`, `STORE_UNWRITABLE`, and as `get`. Nothing is changed, except after a `STORE_UNWRITABLE` of a disk
   *   that did not confirm the change.
   */
  put(approval: Approval, expectedVersion: number | undefined): Promise<StoredApproval>;
  /** Adds `approvals` whose names have none; the others are ignored. @throws {StoreError} as `put` */
  adopt(approvals: readonly Approval[]): Promise<void>;
  /** Removes an approval. One that does not exist is a conflict. @throws {StoreError} as `put` */
  delete(name: string, expectedVersion: number): Promise<void>;
  /** Calls `listener` after `current` changed, by any process. */
  onChange(listener: () => void): Unsubscribe;
}
