/**
 * All processes that came of one launch (or of one gateway), wherever they
 * went: into another group or session, or orphaned to another parent.
 *
 * A process belongs to the tree when its environment carries the marker, when
 * it is in a session with one that belongs, when its parent belongs, or when it
 * belonged before (same pid, same start). Every launch begins a session of its
 * own, so a session has either only members or none. The marker survives
 * `setsid` and a double fork, the others a cleared environment. What did both
 * at once between two looks is out of reach; only a sandbox holds that.
 *
 * Never signals a process that the look just before did not show to belong.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { ProcessEntry } from "./process-table.ts";

/** What a tree is recognised by. */
export interface TreeRoots {
  /** Whether a process carries the marker of this tree. */
  readonly isMarked: (entry: ProcessEntry) => boolean;
  /** The process that was launched, which leads its own session and group. */
  readonly leader?: {
    readonly pid: number;
    /** When it began, where that is known. */
    readonly startedAt: string | undefined;
    /** Whether it was not collected yet, so that nobody else can have got its pid. */
    readonly isOurs: () => boolean;
  };
}

/** The processes of one launch, to be watched and ended together. */
export interface ProcessTree {
  /** Take note of every member, so that it is known again when its parent is gone. */
  survey(): Promise<void>;
  /** SIGTERM to every member, once in its life. */
  terminate(): Promise<void>;
  /** SIGKILL to every member. */
  kill(): Promise<void>;
  /**
   * SIGTERM to what is left, SIGKILL to what is left after `graceMs`, until a look shows nothing.
   *
   * @returns how many processes there were, and the pids of those that even SIGKILL did not end in time.
   */
  reap(graceMs: number): Promise<Reaped>;
}

export interface Reaped {
  readonly foundCount: number;
  readonly leftover: readonly number[];
}

/** How long a killed process may take to disappear, as one waiting for a dead disk does. */
const killMaxMs = 5_000;
/** Looks that follow an empty one while some process is in the middle of starting a program and can not be judged. */
const doubtMaxCount = 2;

export function createProcessTree(
  readTable: () => Promise<readonly ProcessEntry[]>,
  roots: TreeRoots,
): ProcessTree {
  const known = new Map<number, string>();
  const sessions = new Map<number, string | undefined>();
  const terminated = new Map<number, string>();
  const { leader } = roots;
  if (leader !== undefined) sessions.set(leader.pid, leader.startedAt);

  async function look(): Promise<{ members: ProcessEntry[]; inDoubt: boolean }> {
    const table = await readTable();
    if (leader?.startedAt === undefined && leader?.isOurs() === true) {
      sessions.set(leader.pid, table.find((entry) => entry.pid === leader.pid)?.startedAt);
    }
    const members = findMembers(table, roots.isMarked, known, sessions);
    return { members, inDoubt: table.some((entry) => entry.isBare) };
  }

  function terminateAll(members: readonly ProcessEntry[]): void {
    const isNew = ({ pid, startedAt }: ProcessEntry): boolean => terminated.get(pid) !== startedAt;
    // The group as a whole, as long as it certainly is the server's, even where no table can be read.
    const toGroup = leader?.isOurs() === true && !terminated.has(leader.pid);
    if (toGroup) {
      terminated.set(leader.pid, leader.startedAt ?? "");
      sendSignal(-leader.pid, "SIGTERM");
    }
    for (const member of members.filter(isNew)) {
      terminated.set(member.pid, member.startedAt);
      if (!toGroup || member.groupId !== leader.pid) sendSignal(member.pid, "SIGTERM");
    }
  }

  function killAll(members: readonly ProcessEntry[]): void {
    // Groups as a whole first, which leaves no member the time to fork past it. A group is part of one session.
    const groups = new Set(members.map((member) => member.groupId));
    if (leader?.isOurs() === true) groups.add(leader.pid);
    for (const group of groups) if (group > 1) sendSignal(-group, "SIGKILL");
    for (const { pid } of members) sendSignal(pid, "SIGKILL");
  }

  return {
    async survey() {
      await look();
    },
    async terminate() {
      terminateAll((await look()).members);
    },
    async kill() {
      killAll((await look()).members);
    },
    async reap(graceMs) {
      const found = new Set<number>();
      let doubtCount = 0;
      let waitedMs = 0;
      let stepMs = 5;
      for (;;) {
        const { members, inDoubt } = await look();
        for (const { pid } of members) found.add(pid);
        if (members.length === 0 && (!inDoubt || doubtCount >= doubtMaxCount)) {
          return { foundCount: found.size, leftover: [] };
        }
        if (members.length === 0) doubtCount += 1;
        else if (waitedMs < graceMs) terminateAll(members);
        else if (waitedMs < graceMs + killMaxMs) killAll(members);
        else return { foundCount: found.size, leftover: members.map((member) => member.pid) };
        await delay(stepMs);
        waitedMs += stepMs;
        const leftMs = waitedMs < graceMs ? graceMs - waitedMs : 200;
        stepMs = members.length === 0 ? stepMs : Math.max(1, Math.min(stepMs * 2, leftMs, 200));
      }
    },
  };
}

/**
 * The entries of `table` that belong, parents and children in any order.
 * Adds them to `known` and their sessions, with the start of the leader, to `sessions`.
 */
function findMembers(
  table: readonly ProcessEntry[],
  isMarked: (entry: ProcessEntry) => boolean,
  known: Map<number, string>,
  sessions: Map<number, string | undefined>,
): ProcessEntry[] {
  const byPid = new Map(table.map((entry) => [entry.pid, entry]));
  const ownSession = byPid.get(process.pid)?.sessionId;
  // The kernel keeps a session's number while it has members: a leader that is not the known one means that it was given anew.
  for (const [session, startedAt] of sessions) {
    const leader = byPid.get(session);
    if (leader !== undefined && leader.startedAt !== startedAt) sessions.delete(session);
  }
  const members = new Map<number, ProcessEntry>();
  let before = -1;
  while (members.size > before) {
    before = members.size;
    for (const entry of table) {
      const { pid, parentPid, sessionId, startedAt } = entry;
      // Session 0 is that of kernel threads, and of processes whose session began outside this container.
      if (members.has(pid) || pid <= 1 || pid === process.pid || sessionId === ownSession) continue;
      const belongs =
        isMarked(entry) || sessions.has(sessionId) || members.has(parentPid) || known.get(pid) === startedAt;
      if (!belongs) continue;
      members.set(pid, entry);
      known.set(pid, startedAt);
      if (sessionId > 0 && !sessions.has(sessionId)) sessions.set(sessionId, byPid.get(sessionId)?.startedAt);
    }
  }
  return [...members.values()];
}

/** A process that is gone needs no signal; one that may not be signalled is reported as a leftover by the next look. */
function sendSignal(pid: number, signal: "SIGTERM" | "SIGKILL"): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}
