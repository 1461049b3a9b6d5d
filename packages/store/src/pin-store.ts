/**
 * The interface of the store of pins: digests of the definitions that a source
 * listed, with the gateway's state of each. Types only. The engine of one machine
 * keeps one file for each source in the home (file-pin-store.ts); every engine passes
 * the contract tests in `@toolcrib/testing`.
 *
 * The store compares no definition and decides nothing.
 */

import type { JsonObject } from "@toolcrib/json";
import type { DefinitionKind } from "@toolcrib/tool";
import type { Approver } from "./approval-store.ts";
import type { StoreError } from "./store-error.ts";

/**
 * State of a definition. `quarantined`: it is not offered. `pinned`: it was accepted without a
 * question, as the trust state of its source says. `approved`: an operator accepted it.
 */
export type PinState =
  | {
      readonly kind: "quarantined";
      /** Error code of the finding, such as `TOOL_DEFINITION_INVALID`. */
      readonly code: string;
      /** Path of the member that breaks a rule, such as `inputSchema.type`; absent for another reason. */
      readonly member?: string;
      /** Text for people, without secrets. */
      readonly reason: string;
    }
  | { readonly kind: "pinned" }
  | {
      readonly kind: "approved";
      readonly approvedBy: Approver;
      /** Milliseconds since the epoch. */
      readonly approvedAt: number;
    };

/**
 * A definition that a model sees: an entry of a list, all `resources` of a source together (whether it may list any), or
 * its `instructions`.
 */
export type PinKind = DefinitionKind | "resources" | "instructions";

/**
 * One definition of a source. A kind and a name have at most two pins: the definition that is accepted (`pinned`,
 * `approved`), and one that is quarantined.
 */
export interface Pin {
  readonly kind: PinKind;
  /** Name of a tool or prompt, URI of a resource, or URI template; of `resources` and `instructions` the kind. */
  readonly name: string;
  /** Digest of the canonical JSON of the whole definition, such as `sha256:…`. */
  readonly digest: string;
  readonly state: PinState;
  /** An accepted definition, without secrets, to show what changed; absent where it is too large to be kept. */
  readonly definition?: JsonObject;
  /** When this digest was first listed. Milliseconds since the epoch. */
  readonly firstSeenAt: number;
  /** When this digest was last listed, to the accuracy of the caller. Milliseconds since the epoch. */
  readonly lastSeenAt: number;
}

/** The pins of one source. */
export interface SourcePins {
  /** Id of the source, such as the id of a server. */
  readonly sourceId: string;
  readonly pins: readonly Pin[];
}

/** Pins in the store. */
export interface StoredSourcePins extends SourcePins {
  /** 1 for a new source; each replacement increases it. */
  readonly version: number;
}

/** The pins of all sources. */
export interface PinListing {
  readonly sources: readonly StoredSourcePins[];
  /** One for each record that cannot be read. Its source is missing in `sources`; ask `get` about one source. */
  readonly problems: readonly StoreError[];
}

/**
 * The pins of one home, which several open stores share.
 *
 * A change is atomic and applies to one source. It compares the version that the caller
 * read, so two gateways cannot overwrite each other. A change that resolved is visible
 * to every later `get` and `list` of every store. Limits: 1,000 sources of 15,000 pins
 * and 16 MiB of JSON each.
 *
 * A record that is damaged, or that a later version of Toolcrib wrote, cannot be read and
 * is never replaced: "no pins" means the first contact with a source, at which its
 * definitions are accepted, and a lost record must never be taken for that.
 */
export interface PinStore extends AsyncDisposable {
  /**
   * Returns the pins of a source; `undefined` only if the store has none.
   *
   * @throws {StoreError} `STORE_UNREADABLE` also for a damaged record; `STORE_CLOSED`
   */
  get(sourceId: string): Promise<StoredSourcePins | undefined>;
  /** Returns the pins of all sources by id. @throws {StoreError} `STORE_UNREADABLE` when no record can be read; `STORE_CLOSED` */
  list(): Promise<PinListing>;
  /**
   * Creates or replaces the pins of `pins.sourceId`.
   *
   * @param expectedVersion the version that the caller read; `undefined` for none.
   * @throws {StoreError} `STORE_CONFLICT` when another version is stored; `STORE_FULL`, `STORE_RECORD_TOO_LARGE`,
   *   `STORE_BUSY`, `STORE_UNWRITABLE`, and as `get`. Nothing is changed, except after a `STORE_UNWRITABLE` of a disk
   *   that did not confirm the change.
   */
  put(pins: SourcePins, expectedVersion: number | undefined): Promise<StoredSourcePins>;
  /** Removes the pins of a source. A source without pins is a conflict. @throws {StoreError} as `put` */
  delete(sourceId: string, expectedVersion: number): Promise<void>;
}
