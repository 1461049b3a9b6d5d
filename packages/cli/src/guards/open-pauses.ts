/**
 * Opens the pauses of this home for a command. A pause is written to the file in the home first, which every gateway of
 * the home reads within a second, and then sent to those that run, which apply it at once: a gateway that hangs delays
 * no pause. What is resumed is sent to the gateways first.
 */

import { randomBytes } from "node:crypto";
import { Pauses } from "@toolcrib/admission";
import type { PolicyConfig } from "@toolcrib/config";
import { clientKeysOf } from "@toolcrib/config-changes";
import { type CodedError, isCodedError, type Logger } from "@toolcrib/diagnostics";
import type { GatewayStatus } from "@toolcrib/gateway";
import { PauseSet, type PauseTarget } from "@toolcrib/guards";
import { createPauseStore, type PauseStore, StoreError } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import { postToGateway } from "../access/gateway-api.ts";
import { findReachableGateways } from "../access/open-tool-access.ts";
import type { RunningGateway } from "../access/run-file.ts";
import { openTrail } from "../audit/open-trail.ts";
import type { CliContext } from "../cli-context.ts";
import { reasonLine, safeLine } from "../output/output.ts";
import { asTyped } from "../serve/source-table.ts";

type AuditSink = ConstructorParameters<typeof Pauses>[0]["audit"];
type AuditRecord = Parameters<AuditSink["record"]>;
type PauseStatus = GatewayStatus["pauses"][number];

/** The outcome of a pause. */
export interface PauseOutcome {
  readonly pause: PauseStatus;
  readonly cancelledCalls: number;
  /** Whether a running gateway applied it. */
  readonly isApplied: boolean;
}

const operator = localIdentity("cli", "cli");
const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} };

/** Returns what is paused in this home. @throws {StoreError} when that cannot be read */
export async function listPauses({ options, now }: CliContext): Promise<readonly PauseStatus[]> {
  await using store = createPauseStore(options.home, { randomBytes });
  // Reports pauses that cannot be read.
  await store.list(now());
  const pauses = pausesOf(store, now);
  await pauses.refresh();
  return pauses.facts().pauses;
}

/** @throws {StoreError} when they cannot be read */
async function readPauses({ options, now }: CliContext, policy: PolicyConfig): Promise<PauseSet> {
  await using store = createPauseStore(options.home, { randomBytes });
  return new PauseSet(await store.list(now()), (name) => clientKeysOf(policy, name));
}

/** What is paused, or why that is not known: every call is refused then. */
export type FoundPauses =
  | { readonly pauses: PauseSet; readonly problem?: never }
  | { readonly pauses?: never; readonly problem: StoreError };

/** Returns what is paused; the problem where that cannot be read. */
export async function findPauses(context: CliContext, policy: PolicyConfig): Promise<FoundPauses> {
  try {
    return { pauses: await readPauses(context, policy) };
  } catch (error) {
    if (error instanceof StoreError) return { problem: error };
    throw error;
  }
}

/** Returns the line that says that what is paused is not known. */
export function unknownPausesLine(
  context: Pick<CliContext, "options" | "env" | "directory">,
  { message, hint }: StoreError,
): string {
  const fix = hint === undefined ? "" : `; ${asTyped(hint, context)}`;
  return safeLine(
    `It is not known what is paused, so that every call is refused (PAUSES_UNREADABLE): ${message}${fix}`,
  );
}

/** A pause in the home, of which the gateways that run may not know yet. */
export interface StoredPause {
  readonly pause: PauseStatus;
  /** Sends it to the gateways that run, once. @throws {CodedError} when it cannot be recorded; the signal's reason */
  apply(): Promise<PauseOutcome>;
}

/** Stores a pause, without a question to any gateway. @throws {CodedError} when nothing was paused */
export async function storePause(
  context: CliContext,
  words: PauseTarget,
  { reason, for: forMs }: { readonly reason?: string; readonly for?: number },
): Promise<StoredPause> {
  await using store = createPauseStore(context.options.home, { randomBytes });
  const records: AuditRecord[] = [];
  const pauses = pausesOf(store, context.now, { record: (...record) => void records.push(record) });
  const { pause } = await pauses.pause({ ...words, reason, forMs }, operator);
  const query = new URLSearchParams({ ...words });
  if (reason !== undefined) query.set("reason", reason);
  if (forMs !== undefined) query.set("seconds", String(forMs / 1000));
  const path = `/api/v1/pauses/pause?${query}`;
  return { pause, apply: () => applyPause(context, { pause, records, path }) };
}

async function applyPause(
  context: CliContext,
  stored: { readonly pause: PauseStatus; readonly records: readonly AuditRecord[]; readonly path: string },
): Promise<PauseOutcome> {
  let outcomes: readonly Omit<PauseOutcome, "isApplied">[] = [];
  try {
    outcomes = (await askGateways(context, stored.path, () => true)) as typeof outcomes;
  } finally {
    // A gateway records it itself, with the calls that it cancelled.
    if (outcomes.length === 0) {
      await using home = await openTrail(context);
      for (const record of stored.records) home.audit.record(...record);
    }
  }
  const cancelledCalls = outcomes.reduce((sum, one) => sum + one.cancelledCalls, 0);
  return { pause: outcomes[0]?.pause ?? stored.pause, cancelledCalls, isApplied: outcomes.length > 0 };
}

/** Resumes something. @returns whether it was paused @throws {CodedError} when nothing was resumed */
export async function resumeNow(context: CliContext, words: PauseTarget): Promise<boolean> {
  const path = `/api/v1/pauses/resume?${new URLSearchParams({ ...words })}`;
  const answers = await askGateways(context, path, ({ code }) => code === "CLI_GATEWAY_UNUSABLE");
  if (answers.length > 0) return answers.some((one) => (one as { readonly resumed: boolean }).resumed);
  const { options, now } = context;
  await using store = createPauseStore(options.home, { randomBytes });
  await using home = await openTrail(context);
  return await pausesOf(store, now, home.audit).resume(words, operator);
}

/**
 * Returns the answers of the gateways of the home that give one.
 *
 * @param isLate whether the change is in the home, or gets there, in spite of an error
 */
async function askGateways(
  context: CliContext,
  path: string,
  isLate: (error: CodedError) => boolean,
): Promise<readonly unknown[]> {
  const { options, output, signal } = context;
  const running = await findReachableGateways(options.home);
  const answers = await Promise.all(
    running.map(async (one) => {
      try {
        return [await postToGateway(one, path, signal)];
      } catch (error) {
        signal.throwIfAborted();
        if (!isCodedError(error) || !isLate(error)) throw error;
        output.note(`${output.noteStyle("yellow", "warning")}: ${lateText(one, error.message)}`);
        return [];
      }
    }),
  );
  return answers.flat();
}

function lateText({ url }: RunningGateway, reason: string): string {
  return `${url} takes the change over within a second, if it runs: ${reasonLine(reason)}`;
}

function pausesOf(store: PauseStore, now: () => number, audit: AuditSink = { record() {} }): Pauses {
  return new Pauses({ store, audit, logger: silent, now, resumeCommand: "", clientKeys: () => [] });
}
