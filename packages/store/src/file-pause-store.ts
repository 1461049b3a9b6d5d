/**
 * The pauses of one home in one file, `guards/pauses.json`. Also when the process is
 * killed, the file has its content from before a change or from after it.
 *
 * A file that cannot be read is never replaced and never counts as no pauses.
 */

import { join } from "node:path";
import type { FileSteps } from "@toolcrib/files";
import { type Pause, type PauseTarget, parsePauseTarget, pauseKey } from "@toolcrib/guards";
import type { JsonObject } from "@toolcrib/json";
import { ChangeQueue } from "./change-queue.ts";
import { parseApprover } from "./file-approval-store.ts";
import { toHomeLayout } from "./home-layout.ts";
import type { PauseState, PauseStore } from "./pause-store.ts";
import { full, RecordFile } from "./record-file.ts";
import { StoreError } from "./store-error.ts";

const maxPauses = 1000;
const fileMaxBytes = 8 * 1024 * 1024;

/** Dependencies of the store. */
export interface PauseStoreDeps {
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** The steps of a change. @default Node's file system */
  readonly steps?: FileSteps;
}

/**
 * Opens the pauses of a home. Several processes can do so at the same time. Creates nothing before the first pause.
 * Until `refresh` or another read, `current` is unreadable.
 */
export function createPauseStore(home: string, deps: PauseStoreDeps): PauseStore {
  return new FilePauseStore(home, deps);
}

class FilePauseStore implements PauseStore {
  readonly #file: RecordFile<Pause>;
  readonly #path: string;
  #records: ReadonlyMap<string, Pause> = new Map();
  #state: PauseState = { kind: "unreadable", problem: new StoreError("STORE_UNREADABLE", "Not read yet") };
  readonly #changes = new ChangeQueue();
  #isOpen = true;

  constructor(home: string, { randomBytes, steps }: PauseStoreDeps) {
    const layout = toHomeLayout(home);
    this.#path = join(layout.guardDirectory, "pauses.json");
    this.#file = new RecordFile(
      { layout, randomBytes, steps },
      {
        path: this.#path,
        lockName: "pauses",
        maxBytes: fileMaxBytes,
        keyOf: pauseKey,
        parse: parsePause,
        hint: "restore the file from a backup, or remove it: then nothing is paused",
        removesEmpty: true,
      },
    );
  }

  current(): PauseState {
    return this.#state;
  }

  async refresh(): Promise<void> {
    try {
      await this.#read();
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code === "STORE_CLOSED") return;
      const known = this.#state;
      if (known.kind === "unreadable" && known.problem.message === error.message) return;
      this.#state = { kind: "unreadable", problem: error };
    }
  }

  async list(now: number): Promise<readonly Pause[]> {
    const records = await this.#read();
    return [...records.values()]
      .filter(({ expiresAt }) => expiresAt === undefined || now < expiresAt)
      .sort((a, b) => a.pausedAt - b.pausedAt);
  }

  async put(pause: Pause): Promise<void> {
    const stored = parsePause({ ...pause } as unknown as JsonObject);
    if (stored === undefined) {
      throw new StoreError(
        "STORE_RECORD_TOO_LARGE",
        "Cannot store the pause: its name or reason is not valid",
      );
    }
    await this.#change((records) => {
      for (const [key, { expiresAt }] of records)
        if (expiresAt !== undefined && expiresAt <= pause.pausedAt) records.delete(key);
      records.set(pauseKey(stored), stored);
      if (records.size > maxPauses) throw full(this.#path, `${maxPauses} pauses`);
    });
  }

  delete(target: PauseTarget): Promise<boolean> {
    return this.#change((records) => records.delete(pauseKey(target)));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await this.#changes.settled();
  }

  async #read(): Promise<ReadonlyMap<string, Pause>> {
    this.#assertOpen();
    const records = await this.#file.read();
    if (records !== this.#records || this.#state.kind === "unreadable") {
      this.#records = records;
      this.#state = { kind: "known", pauses: [...records.values()] };
    }
    return records;
  }

  async #change<R>(apply: (records: Map<string, Pause>) => R): Promise<R> {
    this.#assertOpen();
    const result = await this.#changes.run(() => this.#file.change(apply));
    if (this.#isOpen) await this.#read();
    return result;
  }

  #assertOpen(): void {
    if (!this.#isOpen) throw new StoreError("STORE_CLOSED", "Cannot use the pauses: the store is closed");
  }
}

function parsePause(value: JsonObject): Pause | undefined {
  const { kind, name, reason, pausedAt, expiresAt } = value;
  const pausedBy = parseApprover(value["pausedBy"]);
  if (typeof kind !== "string" || typeof name !== "string" || pausedBy === undefined) return undefined;
  if (reason !== undefined && typeof reason !== "string") return undefined;
  if (typeof pausedAt !== "number") return undefined;
  if (expiresAt !== undefined && typeof expiresAt !== "number") return undefined;
  const parsed = parsePauseTarget(kind, name, reason);
  if ("problem" in parsed) return undefined;
  return {
    ...parsed.target,
    ...(reason === undefined ? {} : { reason }),
    pausedBy,
    pausedAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
}
