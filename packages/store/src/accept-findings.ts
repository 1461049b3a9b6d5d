/**
 * Accepts what a verification finds: writes signed records (`audit.accepted`) that name each finding, so that only new ones
 * are reported from then on. What is accepted stays in the trail, as it was found and with the reason.
 */

import type { AuditClient } from "./audit-event.ts";
import { resolveAuditOptions } from "./audit-options.ts";
import { FileAuditStore, type FileAuditStoreDeps } from "./file-audit-store.ts";
import { createHome, toHomeLayout } from "./home-layout.ts";
import type { TrailFinding } from "./trail-findings.ts";
import { type TrailReport, type VerifyOptions, verifyTrail } from "./verify-trail.ts";

/** Dependencies of an acceptance. */
export interface AcceptDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** The operator who accepts, and the reason. */
export interface Acceptance {
  /** At most 1,000 UTF-16 units count. */
  readonly reason: string;
  readonly by: AuditClient;
}

/** The result of an acceptance. */
export interface AcceptResult {
  /** The findings that are accepted now, and were not before. */
  readonly accepted: readonly TrailFinding[];
  /** The verification after it. */
  readonly report: TrailReport;
}

/** Maximum number of findings in one record, so that it stays below the limit of records. */
const findingsOfRecord = 20;
/**
 * Findings about signatures that are still missing after the starts: processes that hold their writers sign again within a
 * minute. An acceptance would hold for every later state without these signatures.
 */
const repairedKinds: ReadonlySet<TrailFinding["kind"]> = new Set(["head", "writers"]);
const messageMaxLength = 300;
const reasonMaxLength = 1000;
/** Retention is the business of the gateway, which knows its configuration. */
const options = resolveAuditOptions({
  retainMaxBytes: Number.MAX_SAFE_INTEGER,
  retainMaxAgeMs: Number.MAX_SAFE_INTEGER,
});

/**
 * Accepts the findings of the trail of `home`, at most 1,000 at a time, except those that a running gateway repairs. Each
 * writer that no process holds is started once, so that its damage is on record before it is accepted, and no later start
 * finds it again.
 *
 * @throws {StoreError} as `openStore` and `verifyTrail`; `signal.reason`
 */
export async function acceptFindings(
  home: string,
  { reason, by }: Acceptance,
  { now, randomBytes }: AcceptDeps,
  { signal }: Pick<VerifyOptions, "signal"> = {},
): Promise<AcceptResult> {
  const verifyOptions = signal === undefined ? {} : { signal };
  const before = await verifyTrail(home, verifyOptions);
  if (before.findings.length === 0) return { accepted: [], report: before };
  const layout = toHomeLayout(home);
  await createHome(layout);
  const ignore = () => undefined;
  // What the starts find is part of the verification below.
  const deps: FileAuditStoreDeps = {
    layout,
    now,
    randomBytes,
    onProblem: ignore,
    onHead: ignore,
    onLines: undefined,
  };
  let accepted: readonly TrailFinding[];
  {
    await using store = await FileAuditStore.open(deps, options);
    for (const { writer } of before.writers) {
      signal?.throwIfAborted();
      await using _other = await FileAuditStore.open(deps, options, Number(writer));
    }
    const found = (await verifyTrail(home, verifyOptions)).findings;
    accepted = found.filter(({ kind }) => !repairedKinds.has(kind));
    for (let at = 0; at < accepted.length; at += findingsOfRecord)
      await store.accept({
        findings: accepted.slice(at, at + findingsOfRecord).map(({ id, message }) => {
          return { id, message: message.slice(0, messageMaxLength).toWellFormed() };
        }),
        reason: reason.slice(0, reasonMaxLength).toWellFormed(),
        by,
      });
  }
  return { accepted, report: await verifyTrail(home, verifyOptions) };
}
