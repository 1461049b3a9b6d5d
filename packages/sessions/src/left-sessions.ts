/**
 * The sessions in the home that this gateway does not have: those that earlier runs left, and those of other gateways.
 * They are counted, and expired ones are removed with what killed gateways left behind.
 */

import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { removeDrafts, removeFile } from "@toolcrib/files";
import type { FairShare } from "@toolcrib/lifecycle";
import { identityKey } from "@toolcrib/tool";
import { eventPathOf } from "./event-file.ts";
import type { GatewayRun } from "./gateway-run.ts";
import type { Seal } from "./seal.ts";
import { pathOf, readSession } from "./session-file.ts";

/** Milliseconds after which a draft was certainly left by a killed process. */
const draftMaxMs = 3_600_000;
/** Milliseconds after which a file that is no session of this home is removed. */
const invalidMaxMs = 7 * 24 * 3_600_000;

/** A session that this gateway does not have. */
export interface LeftSession {
  readonly client: string;
  readonly lastSeenAt: number;
  readonly expiresAt: number;
  /** Bytes of its events. */
  readonly bytes: number;
}

/** Dependencies of `LeftFiles`. */
export interface LeftFilesDeps {
  readonly home: string;
  readonly folder: string;
  readonly run: GatewayRun;
  readonly now: () => number;
  readonly onProblem: (problem: Error) => void;
  /** Bytes of events by client; those of the left sessions are counted here. */
  readonly shares: FairShare;
  /** Sessions by client; the left ones are counted here. */
  readonly sessions: FairShare;
}

/** The left sessions of a home, by file name. */
export class LeftFiles {
  readonly #deps: LeftFilesDeps;
  readonly #known = new Map<string, LeftSession>();

  constructor(deps: LeftFilesDeps) {
    this.#deps = deps;
  }

  /** Reads the folder anew. @param isOwn whether this gateway has the session of a file */
  async scan(seal: Seal, isOwn: (name: string) => boolean): Promise<void> {
    const { folder, home, run, now } = this.#deps;
    const names = await readdir(folder);
    const present = new Set<string>();
    for (const file of names) {
      const [, name] = /^([0-9a-f]{64})\.(?:session|events)$/.exec(file) ?? [];
      if (name === undefined || present.has(name)) continue;
      present.add(name);
      if (!isOwn(name)) await this.#look(name, seal, isOwn);
    }
    for (const name of [...this.#known.keys()]) if (!present.has(name)) this.forget(name);
    await removeDrafts(folder, { writtenBeforeMs: now() - draftMaxMs });
    for (const file of await readdir(join(home, "locks"))) {
      const [, other] = /^session-owner-([0-9a-f]{32})\.lock$/.exec(file) ?? [];
      if (other !== undefined) await run.isElsewhere(other);
    }
  }

  /** Counts the session of `name`, or removes its files if it expired. */
  async #look(name: string, seal: Seal, isOwn: (name: string) => boolean): Promise<void> {
    const { folder, now, onProblem, shares, sessions } = this.#deps;
    const bytes = await sizeOf(eventPathOf(folder, name));
    let left: LeftSession | undefined;
    try {
      const stored = await readSession({ folder, seal }, name);
      if (stored !== undefined) {
        const { identity, lastSeenAt, expiresAt } = stored.session;
        left = { client: identityKey(identity), lastSeenAt, expiresAt, bytes };
      }
    } catch (error) {
      onProblem(error as Error);
      const { mtimeMs } = await stat(pathOf(folder, name));
      if (now() - mtimeMs < invalidMaxMs) return;
    }
    this.forget(name);
    // It can have been taken over meanwhile.
    if (isOwn(name)) return;
    if (left === undefined || left.expiresAt <= now()) {
      await this.#remove(name);
      return;
    }
    this.#known.set(name, left);
    sessions.take(left.client);
    shares.take(left.client, bytes);
  }

  /** Counts a session no longer, because this gateway has it now or its files are gone. */
  forget(name: string): void {
    const { shares, sessions } = this.#deps;
    const left = this.#known.get(name);
    if (left === undefined) return;
    this.#known.delete(name);
    sessions.giveBack(left.client);
    shares.giveBack(left.client, left.bytes);
  }

  /** Removes the session of `client` that was unused for longest. @returns whether there was one */
  async removeOldest(client: string): Promise<boolean> {
    let oldest: string | undefined;
    for (const [name, left] of this.#known) {
      const before = oldest === undefined ? undefined : this.#known.get(oldest);
      const isOlder = before === undefined || left.lastSeenAt < before.lastSeenAt;
      if (left.client === client && isOlder) oldest = name;
    }
    if (oldest === undefined) return false;
    this.forget(oldest);
    await this.#remove(oldest);
    return true;
  }

  async #remove(name: string): Promise<void> {
    await removeFiles(this.#deps.folder, name);
  }
}

/** Removes the files of a session. @throws {FilesError} */
export async function removeFiles(folder: string, name: string): Promise<void> {
  await removeFile(pathOf(folder, name));
  await removeFile(eventPathOf(folder, name));
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0;
  }
}
