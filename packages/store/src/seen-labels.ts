/**
 * The labels of the data that each client has received, in one file of the home
 * (`seen-labels.json`), so that a restart forgets none of them and all gateways of the
 * home share them. Labels are added before their data reaches the client, and only the
 * operator removes them.
 *
 * Where the labels of a client cannot be known (a file that cannot be read, more clients
 * or labels than the file may have), it counts as having seen every label. That a client
 * had no place is in the file, too: from then on, every client that the file does not have
 * counts so, also after others are forgotten, until the file is removed.
 */

import { join } from "node:path";
import type { FileSteps } from "@toolcrib/files";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { type Identity, identityKey } from "@toolcrib/tool";
import { ChangeQueue } from "./change-queue.ts";
import { toHomeLayout } from "./home-layout.ts";
import { RecordFile } from "./record-file.ts";
import type { StoreError } from "./store-error.ts";

/** A label, and the call that brought it first. */
export interface SeenLabel {
  readonly label: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly callId: string;
  /** Id of the tool, resource or prompt. */
  readonly tool: string;
}

/** The labels of one client. */
export interface LabelledClient {
  readonly client: Pick<Identity, "issuer" | "subject" | "name">;
  readonly labels: readonly SeenLabel[];
  /** Whether it received more labels than a client may have in the file: it counts as having seen every label. */
  readonly hasMore?: true;
}

/** The record of the clients for which the file had no place. */
interface LeftOutClients {
  readonly leftOut: true;
}

type SeenRecord = LabelledClient | LeftOutClients;

/** Key of the record of clients without a place. No `identityKey` is like it. */
const leftOutKey = "left out";

/** What one client has seen. */
interface Seen {
  readonly labels: ReadonlySet<string>;
  /** Whether these are not all. */
  readonly hasMore: boolean;
}

/** Dependencies of `SeenLabels`. */
export interface SeenLabelsDeps {
  /** Every label that a source has. */
  readonly known: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** The steps of a change. @default Node's file system */
  readonly steps?: FileSteps;
  /** Called once for each reason why the file cannot be read. For the log. @default no call */
  readonly onProblem?: (problem: StoreError) => void;
}

/** Most clients in the file. */
const maxClients = 10_000;
/** Most labels of a client. */
const maxLabels = 1000;
const fileMaxBytes = 64 * 1024 * 1024;
const textMaxLength = 4096;

/** The labels that the clients of a home have seen. */
export class SeenLabels {
  #deps: SeenLabelsDeps;
  readonly #file: RecordFile<SeenRecord>;
  /** By `identityKey`. Added labels are here before they are in the file. */
  readonly #seen = new Map<string, Seen>();
  /** Whether clients are missing in the file that received labels. */
  #isPartial = false;
  /** Labels that are being written. */
  readonly #unwritten = new Map<string, Set<string>>();
  /** The last write of each client that is not over. */
  readonly #writes = new Map<string, { readonly labels: readonly string[]; readonly done: Promise<void> }>();
  /** Settles after the last read or write of the file. A read must not undo a write that began after it. */
  readonly #tasks = new ChangeQueue();
  /** The records from which `#seen` was built. */
  #applied?: ReadonlyMap<string, SeenRecord>;
  #isUnknown = true;
  #problem: string | undefined;

  constructor(home: string, deps: SeenLabelsDeps) {
    this.#deps = deps;
    const layout = toHomeLayout(home);
    this.#file = new RecordFile(
      { layout, randomBytes: deps.randomBytes, steps: deps.steps },
      {
        path: join(home, "seen-labels.json"),
        lockName: "seen-labels",
        maxBytes: fileMaxBytes,
        keyOf: (record) => ("client" in record ? identityKey(record.client) : leftOutKey),
        parse: parseRecord,
        hint: "restore the file from a backup; removing it forgets what every client has seen",
        removesEmpty: true,
      },
    );
  }

  /** Replaces the labels of all sources. */
  know(labels: readonly string[]): void {
    this.#deps = { ...this.#deps, known: labels };
  }

  /** Reads the file where it changed. Never rejects: a file that cannot be read makes every label seen. */
  refresh(): Promise<void> {
    return this.#tasks.run(() => this.#read());
  }

  async #read(): Promise<void> {
    try {
      const records = await this.#file.read();
      if (records !== this.#applied) this.#apply(records);
      this.#isUnknown = false;
      this.#problem = undefined;
    } catch (thrown) {
      this.#isUnknown = true;
      const error = thrown as StoreError;
      if (error.message !== this.#problem) this.#deps.onProblem?.(error);
      this.#problem = error.message;
    }
  }

  #apply(records: ReadonlyMap<string, SeenRecord>): void {
    this.#seen.clear();
    this.#isPartial = records.has(leftOutKey);
    for (const { client, labels, hasMore = false } of clientsIn(records)) {
      this.#seen.set(identityKey(client), { labels: new Set(labels.map(({ label }) => label)), hasMore });
    }
    for (const [key, labels] of this.#unwritten) this.#remember(key, labels);
    this.#applied = records;
  }

  /** The labels that a client has seen, in alphabetical order. */
  seen(identity: Identity): readonly string[] {
    const known = this.#seen.get(identityKey(identity));
    const isLeftOut = known === undefined && !this.#hasPlace;
    if (this.#isUnknown || isLeftOut) return this.#deps.known.toSorted();
    if (known?.hasMore === true) return [...known.labels.union(new Set(this.#deps.known))].sort();
    return known === undefined ? [] : [...known.labels].sort();
  }

  /** Whether a client that the file does not have can be added. */
  get #hasPlace(): boolean {
    return !this.#isPartial && this.#seen.size < maxClients;
  }

  /**
   * Adds labels to a client: at once for `seen`, and to the file when this resolves.
   *
   * @returns undefined when the client has seen all of them.
   * @throws {StoreError} when they cannot be stored.
   */
  add(
    identity: Identity,
    labels: readonly string[],
    by: Pick<SeenLabel, "callId" | "tool">,
  ): Promise<void> | undefined {
    const key = identityKey(identity);
    const known = this.#seen.get(key);
    const added = labels.filter(
      (label) => known?.labels.has(label) !== true || this.#unwritten.get(key)?.has(label),
    );
    if (added.length === 0) return undefined;
    // Many messages of a call arrive while the labels of the first are written.
    const last = this.#writes.get(key);
    if (last !== undefined && added.every((label) => last.labels.includes(label))) return last.done;
    this.#remember(key, added);
    const writing = this.#unwritten.get(key) ?? new Set();
    for (const label of added) writing.add(label);
    this.#unwritten.set(key, writing);
    const write = { labels: added, done: this.#tasks.run(() => this.#write(identity, added, by)) };
    this.#writes.set(key, write);
    const over = () => {
      if (this.#writes.get(key) === write) this.#writes.delete(key);
    };
    write.done.then(over, over);
    return write.done;
  }

  async #write(
    { issuer, subject, name }: Identity,
    labels: readonly string[],
    { callId, tool }: Pick<SeenLabel, "callId" | "tool">,
  ): Promise<void> {
    const client = { issuer, subject, name };
    const key = identityKey(client);
    const since = this.#deps.now();
    // Nothing is written, and no lock taken, for a client that counts as having seen every label already.
    if (!isUncountable(key, await this.#file.read())) {
      await this.#file.change((records) => {
        if (isUncountable(key, records)) return;
        const found = records.get(key);
        if (found === undefined && records.size >= maxClients) {
          records.set(leftOutKey, { leftOut: true });
          return;
        }
        const known = found !== undefined && "client" in found ? found.labels : [];
        const added = labels
          .filter((label) => !known.some((one) => one.label === label))
          .map((label) => ({ label, since, callId, tool: tool.slice(0, textMaxLength) }));
        if (added.length === 0) return;
        const all = [...known, ...added];
        const more = all.length > maxLabels ? { hasMore: true as const } : {};
        records.set(key, { client, labels: all.slice(0, maxLabels), ...more });
      });
    }
    const writing = this.#unwritten.get(key);
    for (const label of labels) writing?.delete(label);
    if (writing?.size === 0) this.#unwritten.delete(key);
  }

  /** The clients and their labels, as the file has them. @throws {StoreError} `STORE_UNREADABLE` */
  async list(): Promise<readonly LabelledClient[]> {
    return clientsIn(await this.#file.read()).filter(({ labels }) => labels.length > 0);
  }

  /** Whether a client counts as having seen every label, by the file. @throws {StoreError} `STORE_UNREADABLE` */
  async hasSeenAll(identity: Identity): Promise<boolean> {
    const records = await this.#file.read();
    const key = identityKey(identity);
    return isUncountable(key, records) || (!records.has(key) && records.size >= maxClients);
  }

  /** Whether the file had no place for a client that received labels. @throws {StoreError} `STORE_UNREADABLE` */
  async isPartial(): Promise<boolean> {
    return (await this.#file.read()).has(leftOutKey);
  }

  /** Forgets what the clients that `isMeant` selects have seen. @returns those clients @throws {StoreError} when that cannot be stored */
  async forget(isMeant: (client: LabelledClient["client"]) => boolean): Promise<readonly LabelledClient[]> {
    const meant = (await this.list()).filter(({ client }) => isMeant(client));
    if (meant.length === 0) return [];
    await this.#file.change((records) => {
      for (const { client } of meant) {
        const key = identityKey(client);
        // Without its record, it would count as one that was left out, which has seen every label.
        if (records.has(leftOutKey)) records.set(key, { client, labels: [] });
        else records.delete(key);
      }
    });
    await this.refresh();
    return meant;
  }

  /** A client for which the file has no place is not remembered: it counts as having seen every label. */
  #remember(key: string, added: Iterable<string>): void {
    const known = this.#seen.get(key);
    if (known === undefined && !this.#hasPlace) return;
    const labels = new Set([...(known?.labels ?? []), ...added]);
    this.#seen.set(key, { labels, hasMore: known?.hasMore === true || labels.size > maxLabels });
  }
}

function clientsIn(records: ReadonlyMap<string, SeenRecord>): readonly LabelledClient[] {
  return [...records.values()].filter((record) => "client" in record);
}

/** Whether a client counts as having seen every label, by the records. */
function isUncountable(key: string, records: ReadonlyMap<string, SeenRecord>): boolean {
  const found = records.get(key);
  return found === undefined ? records.has(leftOutKey) : "client" in found && found.hasMore === true;
}

function parseRecord(value: JsonObject): SeenRecord | undefined {
  return value["leftOut"] === true ? { leftOut: true } : parseClient(value);
}

function parseClient({ client, labels, hasMore }: JsonObject): LabelledClient | undefined {
  if (!isJsonObject(client) || !Array.isArray(labels)) return undefined;
  const { issuer, subject, name } = client;
  if (typeof issuer !== "string" || typeof subject !== "string" || typeof name !== "string") return undefined;
  const parsed: SeenLabel[] = [];
  for (const value of labels) {
    if (!isJsonObject(value)) return undefined;
    const { label, since, callId, tool } = value;
    if (typeof label !== "string" || typeof since !== "number") return undefined;
    if (typeof callId !== "string" || typeof tool !== "string") return undefined;
    parsed.push({ label, since, callId, tool });
  }
  return { client: { issuer, subject, name }, labels: parsed, ...(hasMore === true ? { hasMore } : {}) };
}
