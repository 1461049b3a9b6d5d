/**
 * All processes that descend from one launch (or from one gateway), including
 * those in another group or session and those whose parent has ended.
 *
 * A process belongs to the tree if its environment contains the marker, if
 * its session contains a member, if its parent is a member, or if it was a
 * member before (same pid, same start time). Every launch starts a session of
 * its own, so all processes of a session are members, or none is. The marker
 * survives `setsid` and a double fork; the other signs survive a cleared
 * environment. A process that loses all of them between two scans is not found;
 * only a sandbox contains it.
 *
 * Never signals a process that the scan immediately before did not find to be a member.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { ProcessEntry } from "./process-table.ts";

/** The signs that identify a tree. */
export interface TreeRoots {
  /** Whether a process carries the marker of this tree. */
  readonly isMarked: (entry: ProcessEntry) => boolean;
  /** The launched process, which leads its own session and group. */
  readonly leader?: TreeLeader;
}

/** The launched process of a tree. */
export interface TreeLeader {
  readonly pid: number;
  /** Start time, if known. */
  readonly startedAt: string | undefined;
  /** Whether its exit was not collected yet, so that no other process can have its pid. */
  readonly isOurs: () => boolean;
}

/** The processes of one launch. */
export interface ProcessTree {
  /** Records all members, so that they are recognized after their parent has ended. */
  survey(): Promise<void>;
  /** Sends SIGTERM to every member that has not got it yet. */
  terminate(): Promise<void>;
  /** Sends SIGKILL to every member. */
  kill(): Promise<void>;
  /**
   * Sends SIGTERM to the remaining members, and SIGKILL to those that remain after `graceMs`, until a scan finds none.
   *
   * @returns the number of members, and the pids of those that SIGKILL did not end in time.
   */
  reap(graceMs: number): Promise<Reaped>;
}

/** The result of `reap`. */
export interface Reaped {
  readonly foundCount: number;
  readonly leftover: readonly number[];
}

/** The time in which a killed process ends, unless the kernel blocks it. */
const killMaxMs = 5_000;
/** Scans that follow an empty one while a process that is executing a new program cannot be classified. */
const doubtMaxCount = 2;

/** The tree of one launch or gateway, on systems with sessions and groups. */
export class PosixProcessTree implements ProcessTree {
  readonly #readTable: () => Promise<readonly ProcessEntry[]>;
  readonly #roots: TreeRoots;
  /** Start time of each member, by pid. */
  readonly #known = new Map<number, string>();
  /** Start time of the leader of each session with members. */
  readonly #sessions = new Map<number, string | undefined>();
  /** Start time of each process that got SIGTERM, by pid. */
  readonly #terminated = new Map<number, string>();

  constructor(readTable: () => Promise<readonly ProcessEntry[]>, roots: TreeRoots) {
    this.#readTable = readTable;
    this.#roots = roots;
    const { leader } = roots;
    if (leader !== undefined) this.#sessions.set(leader.pid, leader.startedAt);
  }

  async survey(): Promise<void> {
    await this.#scan();
  }

  async terminate(): Promise<void> {
    this.#terminateAll((await this.#scan()).members);
  }

  async kill(): Promise<void> {
    this.#killAll((await this.#scan()).members);
  }

  async reap(graceMs: number): Promise<Reaped> {
    const found = new Set<number>();
    let doubtCount = 0;
    let waitedMs = 0;
    let stepMs = 5;
    for (;;) {
      const { members, isInDoubt } = await this.#scan();
      for (const { pid } of members) found.add(pid);
      if (members.length === 0 && (!isInDoubt || doubtCount >= doubtMaxCount)) {
        return { foundCount: found.size, leftover: [] };
      }
      if (members.length === 0) doubtCount += 1;
      else if (waitedMs < graceMs) this.#terminateAll(members);
      else if (waitedMs < graceMs + killMaxMs) this.#killAll(members);
      else return { foundCount: found.size, leftover: members.map((member) => member.pid) };
      await delay(stepMs);
      waitedMs += stepMs;
      const leftMs = waitedMs < graceMs ? graceMs - waitedMs : 200;
      stepMs = members.length === 0 ? stepMs : Math.max(1, Math.min(stepMs * 2, leftMs, 200));
    }
  }

  async #scan(): Promise<{ readonly members: readonly ProcessEntry[]; readonly isInDoubt: boolean }> {
    const table = await this.#readTable();
    const { leader } = this.#roots;
    if (leader?.startedAt === undefined && leader?.isOurs() === true) {
      this.#sessions.set(leader.pid, table.find((entry) => entry.pid === leader.pid)?.startedAt);
    }
    return { members: this.#findMembers(table), isInDoubt: table.some((entry) => entry.isBare) };
  }

  /** Returns the entries of `table` that belong to the tree, and records them with their sessions. */
  #findMembers(table: readonly ProcessEntry[]): readonly ProcessEntry[] {
    const byPid = new Map(table.map((entry) => [entry.pid, entry]));
    const ownSession = byPid.get(process.pid)?.sessionId;
    this.#forgetReusedSessions(byPid);
    const members = new Map<number, ProcessEntry>();
    // Parents and children can come in any order, so passes repeat until one finds no further member.
    let before = -1;
    while (members.size > before) {
      before = members.size;
      for (const entry of table) {
        const { pid, parentPid, sessionId, startedAt } = entry;
        if (members.has(pid) || pid <= 1 || pid === process.pid || sessionId === ownSession) continue;
        const belongs =
          this.#roots.isMarked(entry) ||
          this.#sessions.has(sessionId) ||
          members.has(parentPid) ||
          this.#known.get(pid) === startedAt;
        if (!belongs) continue;
        members.set(pid, entry);
        this.#known.set(pid, startedAt);
        // Session 0 contains kernel threads, and processes whose session began outside of this container.
        if (sessionId > 0 && !this.#sessions.has(sessionId)) {
          this.#sessions.set(sessionId, byPid.get(sessionId)?.startedAt);
        }
      }
    }
    return [...members.values()];
  }

  /** The kernel keeps the number of a session while it has members: another leader means that the number was reused. */
  #forgetReusedSessions(byPid: ReadonlyMap<number, ProcessEntry>): void {
    for (const [session, startedAt] of this.#sessions) {
      const leader = byPid.get(session);
      if (leader !== undefined && leader.startedAt !== startedAt) this.#sessions.delete(session);
    }
  }

  #terminateAll(members: readonly ProcessEntry[]): void {
    const { leader } = this.#roots;
    const isNew = ({ pid, startedAt }: ProcessEntry): boolean => this.#terminated.get(pid) !== startedAt;
    // While the group certainly belongs to the launch, it is signalled as a whole, even if no table can be read.
    const toGroup = leader?.isOurs() === true && !this.#terminated.has(leader.pid);
    if (toGroup) {
      this.#terminated.set(leader.pid, leader.startedAt ?? "");
      sendSignal(-leader.pid, "SIGTERM");
    }
    for (const member of members.filter(isNew)) {
      this.#terminated.set(member.pid, member.startedAt);
      if (!toGroup || member.groupId !== leader.pid) sendSignal(member.pid, "SIGTERM");
    }
  }

  #killAll(members: readonly ProcessEntry[]): void {
    const { leader } = this.#roots;
    // Whole groups first, so that no member has time to fork. A group is a part of one session.
    const groups = new Set(members.map((member) => member.groupId));
    if (leader?.isOurs() === true) groups.add(leader.pid);
    for (const group of groups) if (group > 1) sendSignal(-group, "SIGKILL");
    for (const { pid } of members) sendSignal(pid, "SIGKILL");
  }
}

/** A process that has ended needs no signal. One that may not be signalled stays in the next scan and becomes a leftover. */
function sendSignal(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
