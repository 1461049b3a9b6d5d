/**
 * An anchor file: signed ends of a trail (audit-heads.ts), one a line, in a file
 * outside the home. It is only appended to. Against a person who writes a whole trail
 * anew and signs it with the key of the home, it is the proof.
 */

import { closeSync, constants, fstatSync, realpathSync } from "node:fs";
import { open } from "node:fs/promises";
import { openRegularFile, reasonOf } from "@toolcrib/files";
import { parseHead, type SignedHead } from "./audit-heads.ts";
import { lineFeed } from "./segment-end.ts";
import { segmentLines } from "./segment-lines.ts";
import { StoreError } from "./store-error.ts";

const appendFlags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT;

/**
 * Appends the line of a signed head to the file at `path`, and waits until it is on the disk. A missing file is created
 * with mode 0600. A line that a crash left unfinished is ended first.
 *
 * @param line with its line feed.
 * @param signal when it aborts before the line is written, nothing is appended.
 * @throws {StoreError} `STORE_UNWRITABLE`
 */
export async function appendAnchor(path: string, line: string, signal?: AbortSignal): Promise<void> {
  try {
    await using file = await open(path, appendFlags, 0o600);
    const status = await file.stat();
    if (!status.isFile()) throw new Error("it is not a regular file");
    const last = Buffer.alloc(1);
    const isOpen =
      status.size > 0 &&
      (await file.read(last, 0, 1, status.size - 1)).bytesRead === 1 &&
      last[0] !== lineFeed;
    signal?.throwIfAborted();
    await file.writeFile(isOpen ? `\n${line}` : line);
    await file.sync();
  } catch (cause) {
    throw new StoreError(
      "STORE_UNWRITABLE",
      `Cannot append the end of the audit trail to "${path}": ${reasonOf(cause)}`,
      {
        cause,
        hint: "create the folder, and let the user who runs the gateway write to it (audit.anchor.file)",
      },
    );
  }
}

/** A line of an anchor file. */
export interface Anchor extends SignedHead {
  /** From 1. */
  readonly line: number;
}

/** The content of an anchor file. */
export interface AnchorFile {
  /** By writer, as `001`, and by sequence number. */
  readonly byWriter: ReadonlyMap<string, ReadonlyMap<number, readonly Anchor[]>>;
  readonly count: number;
  /** Numbers of lines that are no anchors. */
  readonly unreadable: readonly number[];
}

/** Lines of one file: those of two years at one a minute. */
const anchorsMaxCount = 1_048_576;
const anchorFileMaxBytes = 512 * 1024 * 1024;
const namesHint =
  "name the file of audit.anchor.file, or the one that audit.anchor.command fills: a regular file with one anchor a line";
/** Lines that are no anchors, of which the numbers are kept. */
const unreadableMaxCount = 100;

/** Reads an anchor file. @throws {StoreError} `AUDIT_ANCHOR_UNREADABLE`; `signal.reason` */
export async function readAnchors(path: string, signal: AbortSignal | undefined): Promise<AnchorFile> {
  const byWriter = new Map<string, Map<number, Anchor[]>>();
  const unreadable: number[] = [];
  let count = 0;
  let line = 0;
  let descriptor: number | undefined;
  try {
    // A link that the operator names is followed. Nothing waits for a pipe, and a device has no end.
    descriptor = openRegularFile(realpathSync(path));
    if (fstatSync(descriptor).size > anchorFileMaxBytes) throw tooLong(path);
    for await (const { line: bytes, length } of segmentLines(descriptor, signal)) {
      line += 1;
      const text = bytes.toString("utf8");
      if (text.trim() === "" && length === bytes.length) continue;
      const head = parseHead(text);
      if (head === undefined) {
        if (unreadable.length < unreadableMaxCount) unreadable.push(line);
        continue;
      }
      count += 1;
      if (count > anchorsMaxCount) throw tooLong(path);
      const ofWriter = byWriter.get(head.writer) ?? new Map<number, Anchor[]>();
      byWriter.set(head.writer, ofWriter);
      const anchors = ofWriter.get(head.sequence);
      if (anchors === undefined) ofWriter.set(head.sequence, [{ ...head, line }]);
      // A file can anchor one record many times, so that a copy for each line takes the square of the time.
      else anchors.push({ ...head, line });
    }
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof StoreError) throw cause;
    throw new StoreError("AUDIT_ANCHOR_UNREADABLE", `Cannot read anchor file "${path}": ${reasonOf(cause)}`, {
      cause,
      hint: namesHint,
    });
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  if (count === 0)
    throw new StoreError(
      "AUDIT_ANCHOR_UNREADABLE",
      `Anchor file "${path}" has no anchor: it proves nothing`,
      {
        hint: namesHint,
      },
    );
  return { byWriter, count, unreadable };
}

function tooLong(path: string): StoreError {
  return new StoreError(
    "AUDIT_ANCHOR_UNREADABLE",
    `Anchor file "${path}" has more than ${anchorsMaxCount} anchors or ${anchorFileMaxBytes} bytes`,
    { hint: `verify with its last lines: tail -n ${anchorsMaxCount} FILE > part` },
  );
}
