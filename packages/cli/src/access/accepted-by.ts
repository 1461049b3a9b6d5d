/**
 * Finds the process that has the other end of a connection on this machine, as Linux reports it: the table of the connections of
 * TCP (proc_pid_net(5)) and the open files of the process.
 */

import { existsSync, readdirSync, readlinkSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { isIPv4, isIPv6, type Socket } from "node:net";
import { endianness } from "node:os";
import { setTimeout as delay } from "node:timers/promises";

/** The answer of the system: `unknown` where it has none. */
export type PeerAnswer = "yes" | "no" | "unknown";

/** States of a socket in the table. */
const states = { established: "01", beingOpened: "03", listening: "0A" };

/** A connection that was just made can be missing in the table, or not yet be a file of its process. */
const attemptsMax = 10;
const attemptPauseMs = 20;

/** Whether process `pid` of this user has accepted a connection on this machine, or is about to. */
export async function isAcceptedBy(socket: Socket, pid: number): Promise<PeerAnswer> {
  let answer = await answerNow(socket, pid);
  for (let attempt = 1; mayChange(answer) && attempt < attemptsMax && !socket.destroyed; attempt += 1) {
    await delay(attemptPauseMs);
    answer = await answerNow(socket, pid);
  }
  return answer ?? "unknown";
}

/** Without a table, the answer stays undefined. */
function mayChange(answer: PeerAnswer | undefined): boolean {
  return answer === "no" || answer === "unknown";
}

/** @returns undefined where the system has no table */
async function answerNow(
  { localAddress = "", localPort = 0, remoteAddress = "", remotePort = 0, localFamily }: Socket,
  pid: number,
): Promise<PeerAnswer | undefined> {
  const here = endsOf(localAddress, localPort);
  const there = endsOf(remoteAddress, remotePort);
  const isPeer = ({ local, remote, state }: Row) =>
    there.includes(local) &&
    here.includes(remote) &&
    (state === states.established || state === states.beingOpened);
  let hasTable = false;
  let isListed = false;
  // Both ends are in the table of one family, unless the gateway accepts IPv4 on an address of IPv6. The second table is
  // read only where the first lacks the connection: for each of them, the kernel walks through all of its connections,
  // which takes most of the time of a check.
  for (const table of localFamily === "IPv6" ? [tables.ipv6, tables.ipv4] : [tables.ipv4, tables.ipv6]) {
    const lines = await table.read();
    if (lines === undefined) continue;
    hasTable = true;
    const rows = rowsOf(lines, localPort);
    isListed ||= rows.some(({ local, remote }) => here.includes(local) && there.includes(remote));
    const peer = rows.find(isPeer);
    // A system whose table lacks the connection says nothing about its other end.
    if (peer !== undefined && isListed) return ownerAnswer(pid, peer, lines);
  }
  return hasTable ? (isListed ? "no" : "unknown") : undefined;
}

/** Whether a process has the socket of `peer`, or the one that accepts it. */
function ownerAnswer(pid: number, peer: Row, lines: readonly string[]): PeerAnswer {
  if (peer.inode !== "0") return hasSocket(pid, [peer]);
  // It waits for its process to accept it, in the family of the socket that listens. The table lists sockets that listen
  // before connections, so that no program can have accepted it before this one listened.
  const port = portIn(peer.local);
  const listening = lines.filter((line) => line.includes(` ${states.listening} `)).map(toRow);
  return hasSocket(
    pid,
    listening.filter(({ local, state }) => state === states.listening && portIn(local) === port),
  );
}

interface Row {
  readonly local: string;
  readonly remote: string;
  readonly state: string;
  readonly uid: string;
  readonly inode: string;
}

/** Returns the rows with a port at one end: there can be thousands of others. */
function rowsOf(lines: readonly string[], port: number): readonly Row[] {
  const text = portText(port);
  return lines.filter((line) => line.includes(text)).map(toRow);
}

/**
 * A table of the system. Connections that are made at the same time share a read, which begins after all of them were
 * made: an older one could show an earlier connection between the same ports.
 */
class ConnectionTable {
  readonly #path: string;
  /** The read that began last. */
  #running: Promise<unknown> = Promise.resolve();
  /** The one that begins when that has ended. */
  #next: Promise<readonly string[] | undefined> | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** Returns the lines of the table as it is after this call; undefined where the system has none. */
  read(): Promise<readonly string[] | undefined> {
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      const lines = this.#lines();
      this.#running = lines;
      return lines;
    });
    return this.#next;
  }

  async #lines(): Promise<readonly string[] | undefined> {
    try {
      return (await readFile(this.#path, "latin1")).split("\n").slice(1);
    } catch {
      // Other systems have no /proc, and some no IPv6.
      return undefined;
    }
  }
}

const tables = {
  ipv4: new ConnectionTable("/proc/self/net/tcp"),
  ipv6: new ConnectionTable("/proc/self/net/tcp6"),
};

function toRow(line: string): Row {
  const fields = line.trim().split(/\s+/);
  const [, local = "", remote = "", state = ""] = fields;
  return { local, remote, state, uid: fields[7] ?? "", inode: fields[9] ?? "0" };
}

/** Sockets that a process was seen to have. A number means another socket only after four thousand million others. */
let seen: { readonly pid: number; readonly targets: ReadonlySet<string>; readonly until: number } | undefined;
const seenMs = 200;

/** Whether a process has one of these sockets. All that listen on one port belong to one user. */
function hasSocket(pid: number, rows: readonly Row[]): PeerAnswer {
  const isIn = (targets: ReadonlySet<string>) => rows.some(({ inode }) => targets.has(`socket:[${inode}]`));
  // Many connections are made at once in a flood, and a process can have thousands of files.
  if (seen?.pid === pid && performance.now() < seen.until && isIn(seen.targets)) return "yes";
  const folder = `/proc/${pid}/fd`;
  let names: string[];
  try {
    names = readdirSync(folder);
  } catch {
    // A program with privileges of its own, as to use ports below 1024, shows its files to root only. One that has ended
    // has none, and its socket is not that of a connection.
    if (!existsSync(`/proc/${pid}`)) return "no";
    return rows.some(({ uid }) => uid === String(process.geteuid?.())) ? "yes" : "no";
  }
  const targets = new Set(names.map((name) => targetOf(`${folder}/${name}`)));
  seen = { pid, targets, until: performance.now() + seenMs };
  return isIn(targets) ? "yes" : "no";
}

function targetOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    // It was closed meanwhile.
    return "";
  }
}

/** Returns the ends of a connection as the table can write them: also as IPv6, on which a program can accept IPv4. */
function endsOf(address: string, port: number): readonly string[] {
  const end = portText(port);
  const mapped = /^::ffff:([0-9.]+)$/i.exec(address)?.[1] ?? address;
  if (isIPv4(mapped)) {
    const bytes = mapped.split(".").map(Number);
    return [bytes, [...mappedPrefix, ...bytes]].map((one) => wordsOf(one) + end);
  }
  const [plain = ""] = address.split("%");
  return isIPv6(plain) ? [wordsOf(bytesOf(plain)) + end] : [];
}

const mappedPrefix = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/** Returns the bytes of an IPv6 address without an IPv4 part. */
function bytesOf(address: string): readonly number[] {
  const [head = [], tail = []] = address
    .split("::")
    .map((part) => (part === "" ? [] : part.split(":").map((group) => Number.parseInt(group, 16))));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => 0);
  return [...head, ...zeros, ...tail].flatMap((group) => [group >> 8, group & 0xff]);
}

/** Returns bytes as the table writes them: in words of four, each in the order of the machine. */
function wordsOf(bytes: readonly number[]): string {
  const words = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.slice(index * 4, index * 4 + 4));
  return words
    .flatMap((word) => (endianness() === "LE" ? word.reverse() : word))
    .map((byte) => byte.toString(16).toUpperCase().padStart(2, "0"))
    .join("");
}

function portText(port: number): string {
  return `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
}

function portIn(end: string): string {
  return end.slice(end.lastIndexOf(":"));
}
