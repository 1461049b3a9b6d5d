/**
 * The approvals of one home in one file, `approvals/saved-tools.json`. Also when the
 * process is killed, the file has its content from before a change or from after it.
 *
 * A file that cannot be read counts as no approval and is never replaced.
 */

import { type FSWatcher, mkdirSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import type { FileSteps } from "@toolcrib/files";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { ListenerSet } from "@toolcrib/lifecycle";
import type { Unsubscribe } from "@toolcrib/tool";
import type { Approval, ApprovalStore, ApprovedReach, Approver, StoredApproval } from "./approval-store.ts";
import { ChangeQueue } from "./change-queue.ts";
import { toHomeLayout } from "./home-layout.ts";
import { conflict, full, RecordFile } from "./record-file.ts";
import { StoreError } from "./store-error.ts";

const maxApprovals = 10_000;
const maxDeleted = 1000;
const approvalMaxBytes = 524_288;
const fileMaxBytes = 128 * 1024 * 1024;
/** Milliseconds between a file system event and the read. */
const settleMs = 20;

/** Dependencies of the store. */
export interface ApprovalStoreDeps {
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** The steps of a change. @default Node's file system */
  readonly steps?: FileSteps;
  /** Called once for each reason why the approvals cannot be read. For the log. @default no call */
  readonly onProblem?: (problem: StoreError) => void;
}

/**
 * Opens the approvals of a home. Several processes can do so at the same time. Creates
 * nothing before the first approval. A file that cannot be read is reported.
 */
export async function openApprovalStore(home: string, deps: ApprovalStoreDeps): Promise<ApprovalStore> {
  const store = new FileApprovalStore(home, deps);
  await store.refresh();
  return store;
}

class FileApprovalStore implements ApprovalStore {
  readonly #file: RecordFile<StoredApproval>;
  readonly #path: string;
  readonly #onProblem: (problem: StoreError) => void;
  readonly #listeners = new ListenerSet<[]>();
  #records: ReadonlyMap<string, StoredApproval> = new Map();
  #problem: string | undefined;
  #watcher: FSWatcher | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  readonly #changes = new ChangeQueue();
  #isOpen = true;

  constructor(home: string, { randomBytes, steps, onProblem = () => undefined }: ApprovalStoreDeps) {
    const layout = toHomeLayout(home);
    this.#path = join(layout.approvalDirectory, "saved-tools.json");
    this.#onProblem = onProblem;
    this.#file = new RecordFile(
      { layout, randomBytes, steps },
      {
        path: this.#path,
        lockName: "approvals",
        maxBytes: fileMaxBytes,
        keyOf: ({ name }) => name,
        parse: parseApproval,
        hint: "restore the file from a backup, or remove it and approve again",
      },
    );
  }

  current(name: string): StoredApproval | undefined {
    return this.#records.get(name);
  }

  async refresh(): Promise<void> {
    try {
      await this.#read();
      this.#problem = undefined;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      if (error.code === "STORE_CLOSED") return;
      this.#show(new Map());
      if (this.#problem === error.message) return;
      this.#problem = error.message;
      this.#onProblem(error);
    }
  }

  async get(name: string): Promise<StoredApproval | undefined> {
    return (await this.#read()).get(name);
  }

  async list(): Promise<readonly StoredApproval[]> {
    const records = await this.#read();
    return [...records.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  put(approval: Approval, expectedVersion: number | undefined): Promise<StoredApproval> {
    return this.#change((records) => {
      this.#assertVersion(records, approval.name, expectedVersion);
      return this.#set(records, approval, (expectedVersion ?? 0) + 1);
    });
  }

  async adopt(approvals: readonly Approval[]): Promise<void> {
    const records = await this.#read();
    if (approvals.every(({ name }) => records.has(name))) return;
    await this.#change((current) => {
      for (const one of approvals) if (!current.has(one.name)) this.#set(current, one, 1);
    });
  }

  delete(name: string, expectedVersion: number): Promise<void> {
    return this.#change((records) => {
      this.#assertVersion(records, name, expectedVersion);
      records.delete(name);
    });
  }

  onChange(listener: () => void): Unsubscribe {
    this.#watch();
    return this.#listeners.add(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    this.#watcher?.close();
    clearTimeout(this.#settleTimer);
    await this.#changes.settled();
  }

  #set(records: Map<string, StoredApproval>, approval: Approval, version: number): StoredApproval {
    const stored = parseApproval({ ...approval, version } as unknown as JsonObject);
    if (stored === undefined || Buffer.byteLength(JSON.stringify(stored)) > approvalMaxBytes) {
      const message = `Cannot store the approval of "${approval.name.slice(0, 100)}": at most ${approvalMaxBytes} bytes of valid JSON are allowed`;
      throw new StoreError("STORE_RECORD_TOO_LARGE", message);
    }
    records.set(approval.name, stored);
    dropOldest(records);
    if (records.size > maxApprovals) throw full(this.#path, `${maxApprovals} approvals`);
    return stored;
  }

  #assertVersion(
    records: ReadonlyMap<string, StoredApproval>,
    name: string,
    expected: number | undefined,
  ): void {
    const found = records.get(name)?.version;
    if (found !== expected) throw conflict(`the approval of "${name.slice(0, 100)}"`, expected, found);
  }

  async #read(): Promise<ReadonlyMap<string, StoredApproval>> {
    this.#assertOpen();
    const records = await this.#file.read();
    this.#show(records);
    return records;
  }

  async #change<R>(apply: (records: Map<string, StoredApproval>) => R): Promise<R> {
    this.#assertOpen();
    const result = await this.#changes.run(() => this.#file.change(apply));
    if (this.#isOpen) await this.#read();
    return result;
  }

  #show(records: ReadonlyMap<string, StoredApproval>): void {
    if (records === this.#records || (records.size === 0 && this.#records.size === 0)) return;
    this.#records = records;
    if (this.#isOpen) this.#listeners.emit();
  }

  /** Watches the directory of the file, where that is possible; otherwise `refresh` and the reads notice changes. */
  #watch(): void {
    if (this.#watcher !== undefined || !this.#isOpen) return;
    try {
      const directory = dirname(this.#path);
      mkdirSync(directory, { recursive: true, mode: 0o700 });
      this.#watcher = watch(directory, { persistent: false }, () => this.#scheduleRead());
      this.#watcher.on("error", () => this.#watcher?.close());
    } catch {
      // Too many watches, or a read-only home.
    }
  }

  #scheduleRead(): void {
    if (!this.#isOpen || this.#settleTimer !== undefined) return;
    this.#settleTimer = setTimeout(() => {
      this.#settleTimer = undefined;
      void this.refresh();
    }, settleMs);
    this.#settleTimer.unref();
  }

  #assertOpen(): void {
    if (!this.#isOpen) throw new StoreError("STORE_CLOSED", "Cannot use the approvals: the store is closed");
  }
}

/** Drops the approvals of the tools that were deleted first, down to the limit. */
function dropOldest(records: Map<string, StoredApproval>): void {
  const deleted = [...records.values()].filter(({ deletedAt }) => deletedAt !== undefined);
  if (deleted.length <= maxDeleted) return;
  deleted.sort((a, b) => Number(a.deletedAt) - Number(b.deletedAt));
  for (const { name } of deleted.slice(0, deleted.length - maxDeleted)) records.delete(name);
}

function parseApproval(value: JsonObject): StoredApproval | undefined {
  const { name, version, approvedAt, deletedAt, definitionDigest } = value;
  const reach = parseReach(value["reach"]);
  const approvedBy = parseApprover(value["approvedBy"]);
  if (typeof name !== "string" || reach === undefined) return undefined;
  if (!Number.isSafeInteger(version) || typeof approvedAt !== "number") return undefined;
  return {
    name,
    version: version as number,
    reach,
    ...(typeof definitionDigest === "string" ? { definitionDigest } : {}),
    ...(approvedBy === undefined ? {} : { approvedBy }),
    approvedAt,
    ...(typeof deletedAt === "number" ? { deletedAt } : {}),
  };
}

function parseReach(value: JsonValue | undefined): ApprovedReach | undefined {
  if (!isJsonObject(value)) return undefined;
  const { tools, dynamic } = value;
  if (!Array.isArray(tools) || !tools.every((id) => typeof id === "string")) return undefined;
  return { tools: tools as readonly string[], dynamic: dynamic === true };
}

/** Returns the identity in a value of a file; `undefined` for an invalid one. */
export function parseApprover(value: JsonValue | undefined): Approver | undefined {
  if (!isJsonObject(value)) return undefined;
  const { issuer, subject } = value;
  return typeof issuer === "string" && typeof subject === "string" ? { issuer, subject } : undefined;
}
