/**
 * The file with the events of one session: `<digest of the id>.events`, one sealed line for each. Lines are appended,
 * and the file is replaced by its newest events when it is over its limits.
 *
 * Lines are not synced: they survive the end of the process, and not that of the machine. The last line can be cut off
 * when the process is killed within its write.
 */

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { errnoOf, readRegularFile, replaceFile } from "@toolcrib/files";
import { isJsonObject } from "@toolcrib/json";
import type { SessionStore } from "@toolcrib/store";
import type { Seal } from "./seal.ts";
import type { SessionStoreLimits } from "./session-options.ts";

export type SessionEvent = Parameters<NonNullable<SessionStore["left"]>["append"]>[1];

type EventLimits = Pick<
  Required<SessionStoreLimits>,
  "maxEvents" | "maxStreamEvents" | "maxEventBytes" | "maxStreamBytes"
>;

// Never through a link, and never waiting for the reader of a pipe. Windows has neither flag.
const appendFlags =
  constants.O_WRONLY |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

/** Contents of a file of events. */
export interface StoredEvents {
  readonly events: readonly SessionEvent[];
  readonly bytes: number;
  /** Lines that this home did not seal, without a last one that was cut off. */
  readonly invalidCount: number;
  /** Whether the file ends within a line, or has invalid ones. */
  readonly isDamaged: boolean;
}

export function eventPathOf(folder: string, name: string): string {
  return join(folder, `${name}.events`);
}

/** Returns the line of an event, with its line feed. */
export function toLine(seal: Seal, name: string, event: SessionEvent): string {
  const { stream, sequence, data, isWaiting } = event;
  return `${seal.close(name, JSON.stringify([stream, sequence, isWaiting ? 1 : 0, data]))}\n`;
}

/** Appends lines to a file. @throws the file system's error */
export async function appendLines(path: string, text: string): Promise<void> {
  await using file = await open(path, appendFlags, 0o600);
  await file.writeFile(text);
}

/** Replaces a file. @throws {FilesError} */
export async function replaceLines(
  path: string,
  text: string,
  randomBytes: (count: number) => Uint8Array,
): Promise<void> {
  await replaceFile({ randomBytes }, path, text);
}

/** Reads the events of the file `name`, up to `maxBytes`; no event of a file that does not exist. @throws the file system's error */
export async function readEvents(
  folder: string,
  name: string,
  seal: Seal,
  maxBytes: number,
): Promise<StoredEvents> {
  let bytes: Uint8Array;
  try {
    ({ bytes } = await readRegularFile(eventPathOf(folder, name), maxBytes));
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    return { events: [], bytes: 0, invalidCount: 0, isDamaged: false };
  }
  const lines = Buffer.from(bytes).toString("utf8").split("\n");
  const rest = lines.pop();
  const events: SessionEvent[] = [];
  let invalidCount = 0;
  for (const line of lines) {
    const event = toEvent(seal.open(name, line));
    if (event === undefined) invalidCount += 1;
    else events.push(event);
  }
  return { events, bytes: bytes.length, invalidCount, isDamaged: invalidCount > 0 || rest !== "" };
}

function toEvent(text: string | undefined): SessionEvent | undefined {
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || isJsonObject(value)) return undefined;
  const [stream, sequence, waiting, data] = value as unknown[];
  if (!Number.isSafeInteger(stream) || !Number.isSafeInteger(sequence) || typeof data !== "string") {
    return undefined;
  }
  return { stream: stream as number, sequence: sequence as number, data, isWaiting: waiting === 1 };
}

/** Returns the newest of `events` that are within the limits of a stream and, up to `share` of them, of a session. */
export function newestOf(events: readonly SessionEvent[], limits: EventLimits, share = 1): SessionEvent[] {
  const kept: SessionEvent[] = [];
  const ofStream = new Map<number, { count: number; bytes: number }>();
  let bytes = 0;
  for (let at = events.length - 1; at >= 0 && kept.length < limits.maxEvents * share; at -= 1) {
    const event = events[at] as SessionEvent;
    const used = ofStream.get(event.stream) ?? { count: 0, bytes: 0 };
    const size = Buffer.byteLength(event.data);
    const isOver = used.count >= limits.maxStreamEvents || used.bytes + size > limits.maxStreamBytes;
    if (isOver) continue;
    if (bytes + size > limits.maxEventBytes * share) break;
    ofStream.set(event.stream, { count: used.count + 1, bytes: used.bytes + size });
    bytes += size;
    kept.push(event);
  }
  return kept.reverse();
}
