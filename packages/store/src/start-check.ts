/**
 * The check of a writer before it signs anything: it compares the signed end that is stored with the trail that it finds. A
 * new signature would hide a difference for ever, so each is recorded first (`audit.damaged`).
 *
 * It reads from the signed record on, not the whole trail: what was changed before it shows in the chain.
 */

import { join } from "node:path";
import { replaceFile } from "@toolcrib/files";
import type { AuditDamaged } from "./audit-event.ts";
import {
  hasStarted,
  listHeads,
  listNumberOf,
  readHead,
  readTombstones,
  readWriters,
  type SignedFileDeps,
  type SignedHead,
  type StoredHead,
  type StoredWriters,
} from "./audit-heads.ts";
import { hashLine } from "./hash-chain.ts";
import { readHomeFile } from "./home-file.ts";
import { type HomeLayout, listSegments, type SegmentName, toWriterId } from "./home-layout.ts";
import { parseRecord } from "./parse-record.ts";
import { firstRecordIn } from "./segment-end.ts";
import { openSegmentIfPresent } from "./segment-file.ts";
import { segmentLines } from "./segment-lines.ts";
import type { SigningKey } from "./signing-key.ts";
import { isOfStart, UnsignedTail } from "./unsigned-tail.ts";
import type { LaneState } from "./writer-lane.ts";

type Damage = AuditDamaged["findings"][number];

/** The state in which a writer starts. */
export interface StartState {
  /** A difference from what was signed. */
  readonly damage: readonly Damage[];
  /** The stored head, if its signature is right. */
  readonly head: SignedHead | undefined;
  /** Whether that head is about the last record of the trail. */
  readonly isCurrent: boolean;
  /** Whether the list of writers has this one, and is as new as the heads say. */
  readonly isListed: boolean;
  /** The highest number of the list that a head of this home states. */
  readonly listNumber: number;
  /** Whether the writer must name its key. */
  readonly needsKeyRecord: boolean;
}

/** Compares what is signed with the trail of a claimed writer. @throws the file system's error */
export async function checkStart(
  writer: number,
  lane: LaneState,
  { layout, key }: { readonly layout: HomeLayout; readonly key: SigningKey },
): Promise<StartState> {
  const id = toWriterId(writer);
  const head = readHead(layout, id, key);
  // Before the list: a head never states a number that no list had.
  const listNumber = listNumberOf(listHeads(layout).map((one) => readHead(layout, one, key)));
  const isUsed = hasStarted(layout);
  const list = readWriters(layout, key);
  const isListed = list.kind === "signed" && list.writers.has(id);
  const signed = head.kind === "signed" ? head.head : undefined;
  const hasOrdinary = await hasOrdinaryRecords(layout, writer);
  const first = lane.lastSequence === 0 ? undefined : firstRecordOf(layout, writer);
  const named =
    first?.type === "audit.key" ? (first.data as { readonly digest?: unknown }).digest : undefined;
  const isOtherKey = named !== undefined && named !== key.digest;
  const damage = [
    ...(await listDamage(list, { id, isListed, listNumber, isUsed, hasOrdinary, layout, key })),
    ...(isOtherKey && signed === undefined
      ? [
          {
            what: "key" as const,
            message: "the records were signed with another key than the one of this home",
          },
        ]
      : []),
    ...headDamage(head, {
      isListed: isListed || (list.kind === "invalid" && list.named.has(id)),
      hasOrdinary,
      id,
    }),
    ...(signed === undefined ? [] : await trailDamage(signed, writer, lane, { layout, key })),
  ];
  const isCurrent =
    signed !== undefined && signed.sequence === lane.lastSequence && signed.hash === lane.lastHash;
  return {
    damage,
    head: signed,
    isCurrent,
    isListed: isListed && list.number >= listNumber,
    listNumber,
    needsKeyRecord:
      lane.lastSequence === 0 || (signed === undefined && (hasOrdinary || named !== key.digest)),
  };
}

/**
 * Keeps the stored head of a writer as evidence, before a new one replaces it. Best effort: the record has its content. What
 * is no regular file is not read, and a link in the place of the copy is replaced, not followed.
 */
export async function keepHead(
  { layout: { headDirectory }, randomBytes }: Pick<SignedFileDeps, "layout" | "randomBytes">,
  writer: string,
): Promise<void> {
  try {
    const text = readHomeFile(join(headDirectory, `${writer}.json`));
    if (text !== undefined)
      await replaceFile({ randomBytes }, join(headDirectory, `${writer}.damaged.json`), text);
  } catch {
    // Nothing can be kept.
  }
}

async function listDamage(
  list: StoredWriters,
  of: {
    readonly id: string;
    readonly isListed: boolean;
    /** The highest number that a head states. */
    readonly listNumber: number;
    /** Whether a start has written the list. */
    readonly isUsed: boolean;
    readonly hasOrdinary: boolean;
    readonly layout: HomeLayout;
    readonly key: SigningKey;
  },
): Promise<readonly Damage[]> {
  if (list.kind === "invalid")
    return [{ what: "writers", message: `the signed list of writers proves nothing: ${list.reason}` }];
  if (list.kind === "signed")
    return [
      ...(of.isListed || !of.hasOrdinary
        ? []
        : [
            {
              what: "writers" as const,
              message: `writer ${of.id} is missing in the signed list of writers`,
            },
          ]),
      ...(list.number >= of.listNumber
        ? []
        : [
            {
              what: "writers" as const,
              message: `an earlier list of writers was put back: its number is ${list.number}, and a signed end knows number ${of.listNumber}`,
            },
          ]),
    ];
  if (of.isUsed) return [{ what: "writers", message: "the signed list of writers is missing" }];
  for (const writer of listHeads(of.layout)) {
    if (!(await hasOrdinaryRecords(of.layout, Number(writer)))) continue;
    // Another process may have written it meanwhile.
    if (readWriters(of.layout, of.key).kind !== "absent") return [];
    return [{ what: "writers", message: "the signed list of writers is missing" }];
  }
  return [];
}

function headDamage(
  head: StoredHead,
  {
    id,
    isListed,
    hasOrdinary,
  }: { readonly id: string; readonly isListed: boolean; readonly hasOrdinary: boolean },
): readonly Damage[] {
  if (head.kind === "signed") return [];
  if (head.kind === "invalid")
    return [{ what: "head", message: `the signed head of writer ${id} proves nothing: ${head.reason}` }];
  return isListed || hasOrdinary
    ? [{ what: "head", message: `the signed head of writer ${id} is missing` }]
    : [];
}

async function trailDamage(
  head: SignedHead,
  writer: number,
  lane: LaneState,
  { layout, key }: { readonly layout: HomeLayout; readonly key: SigningKey },
): Promise<readonly Damage[]> {
  const { sequence, hash, time } = head;
  const lastDeleted = () => readTombstones(layout, key).get(head.writer)?.lastSequence ?? 0;
  const deleted = lastDeleted();
  if (sequence > lane.lastSequence && sequence > deleted) {
    const message = `the records up to ${sequence} were signed at ${time}, and the last one was ${lane.lastSequence}`;
    return [{ what: "cut_off", message }];
  }
  if (sequence === lane.lastSequence) return hash === lane.lastHash ? [] : [changed(head)];
  const tail = new UnsignedTail(head);
  const signedHash = await readTail(tail, layout, writer, Math.max(sequence, deleted));
  const damage: Damage[] = [];
  // Read again: retention can have deleted the record meanwhile, and signs that before it deletes.
  const isGone = sequence <= deleted || (signedHash === undefined && sequence <= lastDeleted());
  if (!isGone && signedHash !== hash) damage.push(changed(head));
  if (head.closed)
    damage.push({
      what: "unsigned",
      message: `records ${Math.max(sequence, deleted) + 1} to ${lane.lastSequence} follow the end that a shutdown signed at ${time}: no start wrote them`,
    });
  else if (tail.objection !== undefined)
    damage.push({
      what: "unsigned",
      message: `records ${Math.max(sequence, deleted) + 1} to ${lane.lastSequence} were never signed, although ${tail.objection}`,
    });
  return damage;
}

function changed({ sequence, time }: SignedHead): Damage {
  return {
    what: "changed",
    message: `record ${sequence} was not the one that was signed at ${time}: it or an earlier one was changed`,
  };
}

/** Adds the records after `sequence` to `tail`, and returns the hash of the record `sequence`. */
async function readTail(
  tail: UnsignedTail,
  layout: HomeLayout,
  writer: number,
  sequence: number,
): Promise<string | undefined> {
  const segments = segmentsOf(layout, writer);
  // The newest segment that begins with the record or before it; the newest ones can be without records.
  const at = segments.findLastIndex(({ name }) => {
    using segment = openSegmentIfPresent(join(layout.auditDirectory, name));
    const first = segment === undefined ? undefined : firstRecordIn(segment);
    return first !== undefined && Number(first.sequence) <= sequence;
  });
  let hash: string | undefined;
  for (const { name } of segments.slice(Math.max(0, at))) {
    for await (const { line } of linesOf(layout, name)) {
      // Far cheaper than parsing the records before it.
      const number = Number(/"sequence":"(\d{16})"/.exec(line.toString("latin1", 0, 400))?.[1]);
      if (number < sequence) continue;
      const record = parseRecord(line.toString("utf8"));
      if (record === undefined) continue;
      if (Number(record.sequence) === sequence) hash = hashLine(line);
      else if (Number(record.sequence) > sequence) tail.take(record);
    }
  }
  return hash;
}

/** Whether a writer has records that are only written after its head and its entry in the list. */
async function hasOrdinaryRecords(layout: HomeLayout, writer: number): Promise<boolean> {
  let isFirst = true;
  for (const { name } of segmentsOf(layout, writer)) {
    for await (const { line } of linesOf(layout, name)) {
      const record = parseRecord(line.toString("utf8"));
      if (record === undefined) continue;
      // Retention deletes what is finished, and a start finishes nothing.
      if (!isOfStart(record.type) || (isFirst && Number(record.sequence) !== 1)) return true;
      isFirst = false;
    }
  }
  return false;
}

function firstRecordOf(layout: HomeLayout, writer: number): ReturnType<typeof firstRecordIn> {
  for (const { name } of segmentsOf(layout, writer)) {
    using segment = openSegmentIfPresent(join(layout.auditDirectory, name));
    // Where retention deleted it meanwhile, the trail begins with the next one.
    if (segment !== undefined) return firstRecordIn(segment);
  }
  return undefined;
}

function segmentsOf({ auditDirectory }: HomeLayout, writer: number): readonly SegmentName[] {
  return listSegments(auditDirectory).filter((segment) => segment.writer === writer);
}

/** The lines of a segment, with an unfinished last one; none when retention deleted it meanwhile. */
async function* linesOf({ auditDirectory }: HomeLayout, name: string) {
  using segment = openSegmentIfPresent(join(auditDirectory, name));
  if (segment === undefined) return;
  yield* segmentLines(segment.descriptor);
}
