/**
 * The switches of the operator of one home, in one file, `switches.json`: servers (also toolspecs and
 * packages) by their ids, and tools by their names or patterns. Also when the process is killed, the file has its
 * content from before a change or from after it, and changes of several processes are all kept.
 *
 * A file that cannot be read is never replaced and never counts as no switches: a tool that was switched off would be
 * offered again. Limits: 10,000 switches, names of 256 characters.
 */

import { join } from "node:path";
import type { FileSteps } from "@toolcrib/files";
import type { JsonObject } from "@toolcrib/json";
import type { Approver } from "./approval-store.ts";
import { parseApprover } from "./file-approval-store.ts";
import { toHomeLayout } from "./home-layout.ts";
import { full, RecordFile } from "./record-file.ts";
import { StoreError } from "./store-error.ts";

const maxSwitches = 10_000;
const nameMaxLength = 256;
const fileMaxBytes = 8 * 1024 * 1024;

/** A switch of the operator. */
export interface Switch {
  readonly kind: "server" | "tool";
  /** Id of the server, toolspec or package; name or pattern of the tools. */
  readonly name: string;
  /** True only for a server that its file switches off (`enabled: false`), and the operator on. */
  readonly isOn: boolean;
  readonly changedBy: Approver;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
}

/** Dependencies of the store. */
export interface SwitchStoreDeps {
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
  /** The steps of a change. @default Node's file system */
  readonly steps?: FileSteps;
}

/** The switches of one home, which several processes can read and change at the same time. */
export class SwitchStore {
  /** The file, which exists while something is switched. */
  readonly path: string;
  readonly #file: RecordFile<Switch>;

  constructor(home: string, { randomBytes, steps }: SwitchStoreDeps) {
    this.path = join(home, "switches.json");
    this.#file = new RecordFile(
      { layout: toHomeLayout(home), randomBytes, steps },
      {
        path: this.path,
        lockName: "switches",
        maxBytes: fileMaxBytes,
        keyOf: switchKey,
        parse: parseSwitch,
        hint: "restore the file from a backup, or remove it: then nothing is switched off",
        removesEmpty: true,
      },
    );
  }

  /** Returns all switches. @throws {StoreError} `STORE_UNREADABLE` */
  async list(): Promise<readonly Switch[]> {
    return [...(await this.#file.read()).values()];
  }

  /**
   * Adds or replaces `put` and removes `removed`, all or nothing.
   *
   * @throws {StoreError} `STORE_FULL`, `STORE_RECORD_TOO_LARGE`, `STORE_BUSY`, `STORE_UNWRITABLE`, and as `list`.
   */
  async change(put: readonly Switch[], removed: readonly Pick<Switch, "kind" | "name">[]): Promise<void> {
    const valid = put.map((one) => parseSwitch({ ...one } as unknown as JsonObject));
    if (valid.includes(undefined))
      throw new StoreError("STORE_RECORD_TOO_LARGE", "Cannot store the switch: its name is not valid", {
        hint: `a name has 1 to ${nameMaxLength} characters`,
      });
    await this.#file.change((records) => {
      for (const one of removed) records.delete(switchKey(one));
      for (const one of valid) if (one !== undefined) records.set(switchKey(one), one);
      if (records.size > maxSwitches) throw full(this.path, `${maxSwitches} switches`);
    });
  }
}

function switchKey({ kind, name }: Pick<Switch, "kind" | "name">): string {
  return `${kind} ${name}`;
}

function parseSwitch(value: JsonObject): Switch | undefined {
  const { kind, name, isOn, changedAt } = value;
  const changedBy = parseApprover(value["changedBy"]);
  if ((kind !== "server" && kind !== "tool") || typeof isOn !== "boolean") return undefined;
  if (typeof name !== "string" || name.trim() === "" || name.length > nameMaxLength) return undefined;
  if (typeof changedAt !== "number" || changedBy === undefined) return undefined;
  return { kind, name, isOn, changedBy, changedAt };
}
