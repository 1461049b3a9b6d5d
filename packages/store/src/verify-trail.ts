/**
 * Verifies the audit trail of a home by its hash chains (hash-chain.ts) and its signed files (audit-heads.ts): finds
 * records that were changed, removed, inserted, moved or cut off, and names the place of each. It reads no index, waits
 * for no pipe, and works while gateways write.
 *
 * What it cannot find without anchors (verify-anchors.ts): a trail that was written and signed anew by somebody who has the
 * key, an older copy of everything that belongs together, and changes of the records after the last head that leave them
 * records of its run of less than two minutes (unsigned-tail.ts).
 */

import { createPublicKey } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { NotRegularError, reasonOf } from "@toolcrib/files";
import { type AnchorFile, readAnchors } from "./anchor-file.ts";
import {
  hasStarted,
  listHeads,
  listNumberOf,
  readHead,
  readTombstones,
  readWriters,
  type StoredHead,
  type StoredWriters,
  type Tombstone,
} from "./audit-heads.ts";
import { type HomeLayout, listSegments, type SegmentName, toHomeLayout, toWriterId } from "./home-layout.ts";
import { openSegmentIfPresent } from "./segment-file.ts";
import { segmentLines } from "./segment-lines.ts";
import { readSigningKey, type SigningKey } from "./signing-key.ts";
import { StoreError } from "./store-error.ts";
import { type AcceptedFinding, type TrailFinding, toAccepted, toFinding } from "./trail-findings.ts";
import { WriterAnchors } from "./verify-anchors.ts";
import {
  findingsMaxCount,
  type UnfinishedLine,
  type VerifiedWriter,
  WriterVerification,
} from "./verify-writer.ts";

/** The result of a verification. */
export interface TrailReport {
  readonly writers: readonly VerifiedWriter[];
  /** At most 1,000. Those that an operator accepted are not among them. */
  readonly findings: readonly TrailFinding[];
  /** At most 1,000. */
  readonly accepted: readonly AcceptedFinding[];
  /** Parts of records that a crash left in the middle of a write, or that a gateway is writing. No findings. At most 1,000. */
  readonly unfinished: readonly UnfinishedLine[];
  /** The public key of the heads, as PEM; absent when the home has none. */
  readonly publicKey?: string;
  /** With an anchor file: its anchors, and how many of them match. The others are findings, or about records that retention deleted. */
  readonly anchors?: { readonly count: number; readonly matched: number };
}

/** Options of `verifyTrail`. */
export interface VerifyOptions {
  /** Path of a file with signed ends of this trail that were kept outside the home. @default only the home is read */
  readonly anchorFile?: string | undefined;
  /** Ends the verification with its reason. */
  readonly signal?: AbortSignal;
}

/**
 * Verifies the trail of the home directory `home`. A home that does not exist is an empty trail.
 *
 * @throws {StoreError} `AUDIT_ANCHOR_UNREADABLE`, `AUDIT_UNREADABLE`; `signal.reason`.
 */
export async function verifyTrail(
  home: string,
  { anchorFile, signal }: VerifyOptions = {},
): Promise<TrailReport> {
  // Read before the records, like the heads: a gateway that writes meanwhile adds later ones.
  const anchors = anchorFile === undefined ? undefined : await readAnchors(anchorFile, signal);
  const layout = toHomeLayout(home);
  const verification = new TrailVerification(layout, anchors);
  await verification.read(signal);
  return verification.report(anchorFile);
}

type ReadKey =
  | { readonly kind: "key"; readonly key: SigningKey }
  | { readonly kind: "absent" }
  | { readonly kind: "unreadable"; readonly reason: string };

function readKey(layout: HomeLayout): ReadKey {
  try {
    const key = readSigningKey(layout);
    return key === undefined ? { kind: "absent" } : { kind: "key", key };
  } catch (error) {
    return { kind: "unreadable", reason: reasonOf(error) };
  }
}

/** The signed files of a home at one moment. */
interface SignedFiles {
  /** Whether there must be a key and a list. */
  readonly isUsed: boolean;
  readonly key: ReadKey;
  readonly list: StoredWriters;
  readonly heads: ReadonlyMap<string, StoredHead>;
  readonly tombstones: ReadonlyMap<string, Tombstone>;
}

/** The list is read before the heads: a writer is listed after its first head. */
function readSignedFiles(layout: HomeLayout): SignedFiles {
  const isUsed = hasStarted(layout);
  const readKeyNow = readKey(layout);
  const key = readKeyNow.kind === "key" ? readKeyNow.key : undefined;
  const list = readWriters(layout, key);
  const named = list.kind === "signed" ? list.writers : list.kind === "invalid" ? list.named : [];
  const writers = new Set([...named, ...listHeads(layout)]);
  return {
    isUsed,
    key: readKeyNow,
    list,
    heads: new Map([...writers].map((writer) => [writer, readHead(layout, writer, key)])),
    tombstones: readTombstones(layout, key),
  };
}

const absent: StoredHead = { kind: "absent" };

class TrailVerification {
  readonly #layout: HomeLayout;
  readonly #anchors: AnchorFile | undefined;
  readonly #before: SignedFiles;
  readonly #writers: WriterVerification[] = [];
  readonly #torn = new Set<string>();
  /** By the id of the finding. */
  readonly #accepted = new Map<string, { readonly reason: string; readonly time: string }>();

  constructor(layout: HomeLayout, anchors: AnchorFile | undefined) {
    this.#layout = layout;
    this.#anchors = anchors;
    this.#before = readSignedFiles(layout);
  }

  /** Reads all segments. */
  async read(signal: AbortSignal | undefined): Promise<void> {
    const bySegments = Map.groupBy(listSegments(this.#layout.auditDirectory), ({ writer }) =>
      toWriterId(writer),
    );
    const writers = new Set([
      ...bySegments.keys(),
      ...this.#before.heads.keys(),
      ...(this.#anchors?.byWriter.keys() ?? []),
    ]);
    for (const writer of [...writers].sort()) {
      const verification = new WriterVerification(writer, {
        head: this.#before.heads.get(writer) ?? absent,
        tombstone: this.#before.tombstones.get(writer),
        torn: this.#torn,
        anchors: this.#anchors === undefined ? undefined : new WriterAnchors(writer, this.#anchors),
      });
      const segments = bySegments.get(writer) ?? [];
      for (const segment of segments) await this.#readSegment(verification, segment, signal);
      this.#writers.push(verification);
    }
  }

  async #readSegment(
    verification: WriterVerification,
    { name }: SegmentName,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    try {
      using segment = openSegmentIfPresent(join(this.#layout.auditDirectory, name));
      // Retention deleted it in the meantime; a signed record of the deletion exists.
      if (segment === undefined) return;
      verification.startSegment(name);
      for await (const line of segmentLines(segment.descriptor, signal)) {
        const record = verification.takeLine(line);
        if (record?.type === "audit.accepted") this.#noteAccepted(record);
      }
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof NotRegularError) {
        verification.startSegment(name);
        verification.skipSegment(cause.what);
        return;
      }
      throw new StoreError("AUDIT_UNREADABLE", `Cannot read audit segment "${name}": ${reasonOf(cause)}`, {
        cause,
        hint: "let the user who runs the command read the folder audit of the home",
      });
    }
  }

  #noteAccepted({ data, time }: { readonly data: unknown; readonly time: string }): void {
    const { key } = this.#before;
    const accepted = toAccepted(data, key.kind === "key" ? key.key : undefined);
    for (const { id } of accepted?.findings ?? [])
      this.#accepted.set(id, { reason: accepted?.reason ?? "", time });
  }

  report(anchorFile: string | undefined): TrailReport {
    // What a gateway signed while the records were read.
    const now = readSignedFiles(this.#layout);
    const key = now.key.kind === "key" ? now.key.key : undefined;
    const list = now.list;
    // Without a key, the heads read before proved nothing: a gateway was creating the key.
    const before = this.#before.key.kind === "absent" ? now : this.#before;
    const found = this.#writers.flatMap((one) =>
      one.findings({
        head: before.heads.get(one.writer) ?? absent,
        headNow: now.heads.get(one.writer) ?? absent,
        isListed: list.kind === "signed" && list.writers.has(one.writer),
        hasList: list.kind === "signed",
        tombstone: now.tombstones.get(one.writer),
        keyDigest: key?.digest,
        isGone: (segment) => !existsSync(join(this.#layout.auditDirectory, segment)),
      }),
    );
    const all = [...this.#homeFindings(now), ...found];
    const findings = all.filter(({ id }) => !this.#accepted.has(id));
    const accepted = all.flatMap((one) => {
      const acceptance = this.#accepted.get(one.id);
      return acceptance === undefined ? [] : [{ ...one, ...acceptance }];
    });
    const publicKey = key?.publicKey.export({ type: "spki", format: "pem" }).toString();
    const ofAnchors = anchorFile === undefined ? [] : this.#anchorFindings(anchorFile, publicKey);
    return {
      writers: this.#writers.map((one) => one.summary()),
      findings: [...findings, ...ofAnchors].slice(0, findingsMaxCount),
      accepted: accepted.slice(0, findingsMaxCount),
      unfinished: this.#writers.flatMap(({ unfinished }) => unfinished).slice(0, findingsMaxCount),
      ...(publicKey === undefined ? {} : { publicKey }),
      ...this.#anchorCounts(),
    };
  }

  /** Findings that are not about one writer. */
  #homeFindings({ isUsed, key, list }: SignedFiles): readonly TrailFinding[] {
    const hasTrail = this.#before.heads.size > 0 || this.#writers.some((one) => one.summary().records > 0);
    if (!hasTrail && !isUsed) return [];
    const home = { segment: "", line: 0 };
    const found: TrailFinding[] = [];
    if (key.kind === "absent")
      found.push(
        toFinding(
          "key",
          home,
          "the key that signs the trail (audit-key.pem) is missing: nothing proves what these records say",
          {
            state: "absent",
          },
        ),
      );
    if (key.kind === "unreadable")
      found.push(
        toFinding("key", home, `the key that signs the trail (audit-key.pem) cannot be read: ${key.reason}`, {
          state: "unreadable",
          reason: key.reason,
        }),
      );
    // What it signs proves nothing either.
    if (key.kind !== "key") return found;
    const needsList = isUsed || this.#writers.some(({ hasOrdinaryRecords }) => hasOrdinaryRecords);
    if (list.kind === "absent" && needsList)
      found.push(
        toFinding(
          "writers",
          home,
          "the signed list of writers (audit-heads/writers.json) is missing: a writer that was removed is not found",
          {
            state: "absent",
          },
        ),
      );
    // The heads were read before this list.
    const known = listNumberOf(this.#before.heads.values());
    if (list.kind === "signed" && list.number < known)
      found.push(
        toFinding(
          "writers",
          home,
          `an earlier list of writers (audit-heads/writers.json) was put back: its number is ${list.number}, and a signed end knows number ${known}`,
          { state: "earlier", number: list.number, known },
        ),
      );
    if (list.kind === "invalid")
      found.push(
        toFinding(
          "writers",
          home,
          `the signed list of writers (audit-heads/writers.json) proves nothing: ${list.reason}`,
          {
            reason: list.reason,
            digest: list.digest,
          },
        ),
      );
    return found;
  }

  #anchorFindings(anchorFile: string, publicKey: string | undefined): readonly TrailFinding[] {
    const key = publicKey === undefined ? undefined : createPublicKey(publicKey);
    const placed = (line: number, message: string) =>
      toFinding("anchor", { segment: anchorFile, line }, message, { line, message });
    return [
      ...(this.#anchors?.unreadable ?? []).map((line) => placed(line, "the line is not an anchor")),
      ...this.#writers.flatMap((one) => {
        const { firstSequence: first, lastSequence: last, records } = one.summary();
        const mismatches = one.anchors?.mismatches(records === 0 ? undefined : { first, last }, key) ?? [];
        return mismatches.map(({ line, message }) => placed(line, message));
      }),
    ];
  }

  #anchorCounts(): Pick<TrailReport, "anchors"> {
    if (this.#anchors === undefined) return {};
    const matched = this.#writers.reduce((sum, one) => sum + (one.anchors?.summary().matched ?? 0), 0);
    return { anchors: { count: this.#anchors.count, matched } };
  }
}
