/**
 * Writes the pins of sources that changed, in the background. Each part of Toolcrib that keeps
 * pins has a writer; they share the records of the sources, so a writer changes its own
 * pins in a record and keeps the others.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { isSameJson } from "@toolcrib/json";
import type { Pin, PinStore } from "./pin-store.ts";
import { StoreError } from "./store-error.ts";

/** Dependencies of a writer. */
export interface PinWriterDeps {
  /** Without a store, nothing is written. */
  readonly store: PinStore | undefined;
  readonly logger: Logger;
  /** The name of its records in the log, such as `quarantined definitions`. */
  readonly what: string;
  /** Returns all pins of the record of a source. @param stored the present ones, of which it changes its own. */
  readonly pinsFor: (sourceId: string, stored: readonly Pin[]) => readonly Pin[];
  /** Called when the record of a source cannot be read: it was damaged after it was read at the start. */
  readonly onUnreadable?: (sourceId: string, error: StoreError) => void;
}

/** Attempts to store pins that other processes change at the same time. */
const maxAttempts = 5;

/** Writes pins. */
export class PinWriter {
  readonly #deps: PinWriterDeps;
  /** Ids of the sources whose pins differ from those in the store. */
  readonly #unsaved = new Set<string>();
  #saving: Promise<void> | undefined;
  #hasFailed = false;

  constructor(deps: PinWriterDeps) {
    this.#deps = deps;
  }

  /** Notes that the pins of a source changed. `save` writes them. */
  changed(sourceId: string): void {
    if (this.#deps.store !== undefined) this.#unsaved.add(sourceId);
  }

  /** Starts to write the pins that changed, unless that is in progress. A failure is logged. */
  save(): void {
    const { store } = this.#deps;
    if (store !== undefined && this.#unsaved.size > 0) this.#saving ??= this.#saveAll(store);
  }

  /** Writes the pins of one source. @throws {StoreError} as `PinStore.put` */
  async saveNow(sourceId: string): Promise<void> {
    const { store } = this.#deps;
    if (store === undefined) return;
    await this.#saveSource(store, sourceId);
  }

  /** Resolves when all pins are stored, or cannot be. Never rejects. */
  async stored(): Promise<void> {
    await this.#saving;
  }

  async #saveAll(store: PinStore): Promise<void> {
    for (const sourceId of this.#unsaved) {
      this.#unsaved.delete(sourceId);
      try {
        await this.#saveSource(store, sourceId);
        this.#hasFailed = false;
      } catch (error) {
        if (!this.#hasFailed) {
          const { logger, what } = this.#deps;
          logger.warn({ source: sourceId, reason: messageOf(error) }, `${what} could not be stored`);
        }
        this.#hasFailed = true;
      }
    }
    this.#saving = undefined;
  }

  async #saveSource(store: PinStore, sourceId: string): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      const stored = await this.#read(store, sourceId);
      const pins = this.#deps.pinsFor(sourceId, stored?.pins ?? []);
      if (isSameJson(pins, stored?.pins ?? [])) return;
      try {
        if (pins.length > 0) await store.put({ sourceId, pins }, stored?.version);
        else if (stored !== undefined) await store.delete(sourceId, stored.version);
        return;
      } catch (error) {
        const isConflict = error instanceof StoreError && error.code === "STORE_CONFLICT";
        if (!isConflict || attempt === maxAttempts) throw error;
      }
    }
  }

  async #read(store: PinStore, sourceId: string): ReturnType<PinStore["get"]> {
    try {
      return await store.get(sourceId);
    } catch (error) {
      if (isUnreadable(error)) this.#deps.onUnreadable?.(sourceId, error);
      throw error;
    }
  }
}

/** Whether a record exists and cannot be read. */
export function isUnreadable(error: unknown): error is StoreError {
  return error instanceof StoreError && error.code === "STORE_UNREADABLE";
}
