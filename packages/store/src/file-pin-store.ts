/**
 * The pins of one home, one file for each source: `pins/<id>-<digest of the id>.json`.
 * Also when the process is killed, a file has its content from before a change or from
 * after it.
 *
 * Keeps no pins in memory. A file that cannot be read is never replaced and never counts
 * as no pins.
 */

import { createHash } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, type FileSteps, reasonOf } from "@toolcrib/files";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { ChangeQueue } from "./change-queue.ts";
import { parseApprover } from "./file-approval-store.ts";
import { type HomeLayout, toHomeLayout } from "./home-layout.ts";
import type {
  Pin,
  PinKind,
  PinListing,
  PinState,
  PinStore,
  SourcePins,
  StoredSourcePins,
} from "./pin-store.ts";
import { conflict, full, RecordFile } from "./record-file.ts";
import { StoreError } from "./store-error.ts";

const maxSources = 1000;
const maxPins = 15_000;
const fileMaxBytes = 16 * 1024 * 1024;
/** Characters of an id, of a name and of a digest. */
const textMaxLength = 8192;
const extension = ".json";

/** Dependencies of the store. */
export interface PinStoreDeps {
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** The steps of a change. @default Node's file system */
  readonly steps?: FileSteps;
}

/** Opens the pins of a home. Several processes can do so at the same time. Creates nothing before the first pins. */
export function createPinStore(home: string, deps: PinStoreDeps): PinStore {
  return new FilePinStore(home, deps);
}

class FilePinStore implements PinStore {
  readonly #layout: HomeLayout;
  readonly #deps: PinStoreDeps;
  readonly #changes = new ChangeQueue();
  #isOpen = true;

  constructor(home: string, deps: PinStoreDeps) {
    this.#layout = toHomeLayout(home);
    this.#deps = deps;
  }

  async get(sourceId: string): Promise<StoredSourcePins | undefined> {
    this.#assertOpen();
    return recordOf(await this.#fileOf(toFileName(sourceId)).read());
  }

  async list(): Promise<PinListing> {
    this.#assertOpen();
    const sources: StoredSourcePins[] = [];
    const problems: StoreError[] = [];
    for (const name of await this.#fileNames()) {
      try {
        const pins = recordOf(await this.#fileOf(name).read());
        if (pins !== undefined) sources.push(pins);
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
        problems.push(error);
      }
    }
    return { sources: sources.sort((a, b) => (a.sourceId < b.sourceId ? -1 : 1)), problems };
  }

  put(pins: SourcePins, expectedVersion: number | undefined): Promise<StoredSourcePins> {
    const { sourceId } = pins;
    return this.#change(sourceId, async (file, name) => {
      const stored = toStored(pins, (expectedVersion ?? 0) + 1);
      if (expectedVersion === undefined) await this.#assertSpace(name);
      return file.change((records) => {
        assertVersion(records, sourceId, expectedVersion);
        records.set(sourceId, stored);
        return stored;
      });
    });
  }

  delete(sourceId: string, expectedVersion: number): Promise<void> {
    return this.#change(sourceId, (file) =>
      file.change((records) => {
        assertVersion(records, sourceId, expectedVersion);
        records.delete(sourceId);
      }),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOpen = false;
    await this.#changes.settled();
  }

  async #change<R>(
    sourceId: string,
    apply: (file: RecordFile<StoredSourcePins>, name: string) => Promise<R>,
  ): Promise<R> {
    this.#assertOpen();
    const name = toFileName(sourceId);
    return this.#changes.run(() => apply(this.#fileOf(name), name));
  }

  #fileOf(name: string): RecordFile<StoredSourcePins> {
    const { randomBytes, steps } = this.#deps;
    return new RecordFile(
      { layout: this.#layout, randomBytes, steps },
      {
        path: join(this.#layout.pinDirectory, name),
        lockName: "pins",
        maxBytes: fileMaxBytes,
        keyOf: ({ sourceId }) => sourceId,
        parse: (value) => {
          const pins = parseSourcePins(value);
          return pins !== undefined && toFileName(pins.sourceId) === name ? pins : undefined;
        },
        hint: "restore the file from a backup, or remove it: its definitions then count as new",
        removesEmpty: true,
        isNeverEmpty: true,
      },
    );
  }

  async #fileNames(): Promise<readonly string[]> {
    const { pinDirectory } = this.#layout;
    try {
      return (await readdir(pinDirectory)).filter((name) => name.endsWith(extension));
    } catch (cause) {
      if (errnoOf(cause) === "ENOENT") return [];
      throw new StoreError("STORE_UNREADABLE", `Cannot read "${pinDirectory}": ${reasonOf(cause)}`, {
        cause,
      });
    }
  }

  /** Throws when the file `name` would exceed the number of sources. Two processes can exceed it by one file each. */
  async #assertSpace(name: string): Promise<void> {
    const names = await this.#fileNames();
    if (names.length >= maxSources && !names.includes(name)) {
      throw full(this.#layout.pinDirectory, `${maxSources} sources`);
    }
  }

  #assertOpen(): void {
    if (!this.#isOpen) throw new StoreError("STORE_CLOSED", "Cannot use the pins: the store is closed");
  }
}

/** Returns a file name that is valid on every platform and differs from those of all other ids. */
function toFileName(sourceId: string): string {
  const readable = sourceId.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
  return `${readable}-${createHash("sha256").update(sourceId).digest("hex").slice(0, 32)}${extension}`;
}

function recordOf(records: ReadonlyMap<string, StoredSourcePins>): StoredSourcePins | undefined {
  const [first] = records.values();
  return first;
}

function assertVersion(
  records: ReadonlyMap<string, StoredSourcePins>,
  sourceId: string,
  expected: number | undefined,
): void {
  const found = records.get(sourceId)?.version;
  if (found !== expected) throw conflict(`the pins of "${sourceId.slice(0, 100)}"`, expected, found);
}

function toStored({ sourceId, pins }: SourcePins, version: number): StoredSourcePins {
  const stored = parseSourcePins({ sourceId, version, pins } as unknown as JsonObject);
  if (stored === undefined || Buffer.byteLength(JSON.stringify(stored)) > fileMaxBytes - 100) {
    const message =
      `Cannot store the pins of "${sourceId.slice(0, 100)}": at most ${maxPins} valid pins with different names ` +
      `and ${fileMaxBytes} bytes of JSON are allowed`;
    throw new StoreError("STORE_RECORD_TOO_LARGE", message);
  }
  return stored;
}

function parseSourcePins({ sourceId, version, pins: values }: JsonObject): StoredSourcePins | undefined {
  if (!isText(sourceId) || !Number.isSafeInteger(version)) return undefined;
  if (!Array.isArray(values) || values.length > maxPins) return undefined;
  const pins: Pin[] = [];
  const keys = new Set<string>();
  for (const value of values as readonly JsonValue[]) {
    const pin = isJsonObject(value) ? parsePin(value) : undefined;
    if (pin === undefined) return undefined;
    pins.push(pin);
    keys.add(`${pin.state.kind === "quarantined"} ${pin.kind} ${pin.name}`);
  }
  return keys.size === pins.length ? { sourceId, version: version as number, pins } : undefined;
}

const kinds: ReadonlySet<JsonValue | undefined> = new Set<PinKind>([
  "tool",
  "resource",
  "resourceTemplate",
  "prompt",
  "resources",
  "instructions",
]);

function parsePin(value: JsonObject): Pin | undefined {
  const { kind, name, digest, definition, firstSeenAt, lastSeenAt } = value;
  const state = parseState(value["state"]);
  if (!kinds.has(kind) || !isText(name) || !isText(digest) || state === undefined) return undefined;
  if (typeof firstSeenAt !== "number" || typeof lastSeenAt !== "number") return undefined;
  if (definition !== undefined && !isJsonObject(definition)) return undefined;
  const shown = definition === undefined ? {} : { definition };
  return { kind: kind as PinKind, name, digest, state, ...shown, firstSeenAt, lastSeenAt };
}

function parseState(value: JsonValue | undefined): PinState | undefined {
  if (!isJsonObject(value)) return undefined;
  const { kind, code, member, reason, approvedAt } = value;
  if (kind === "pinned") return { kind };
  if (kind === "approved") {
    const approvedBy = parseApprover(value["approvedBy"]);
    if (approvedBy === undefined || typeof approvedAt !== "number") return undefined;
    return { kind, approvedBy, approvedAt };
  }
  if (kind !== "quarantined" || typeof code !== "string" || typeof reason !== "string") return undefined;
  return { kind, code, ...(typeof member === "string" ? { member } : {}), reason };
}

function isText(value: JsonValue | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= textMaxLength;
}
