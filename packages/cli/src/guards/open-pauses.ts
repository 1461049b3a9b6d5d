/**
 * Opens the pauses of this home for a command: those of the running gateway, which takes a change
 * over at once, or the file in the home. A gateway that does not answer never stands in the way of a pause: then the
 * file is changed, which every gateway of the home reads.
 */

import { randomBytes } from "node:crypto";
import { Pauses } from "@toolcrib/admission";
import { isCodedError, type Logger } from "@toolcrib/diagnostics";
import type { GatewayStatus } from "@toolcrib/gateway";
import type { PauseTarget } from "@toolcrib/guards";
import { createPauseStore, type PauseStore } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import { postToGateway } from "../access/gateway-api.ts";
import { findReachableGateways } from "../access/open-tool-access.ts";
import type { RunningGateway } from "../access/run-file.ts";
import { openTrail } from "../audit/open-trail.ts";
import type { CliContext } from "../cli-context.ts";
import { reasonLine } from "../output/output.ts";

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

/** Pauses something. @throws {CodedError} when nothing was paused */
export async function pauseNow(
  context: CliContext,
  words: PauseTarget,
  { reason, for: forMs }: { readonly reason?: string; readonly for?: number },
): Promise<PauseOutcome> {
  const query = new URLSearchParams({ ...words });
  if (reason !== undefined) query.set("reason", reason);
  if (forMs !== undefined) query.set("seconds", String(forMs / 1000));
  const answer = await askGateway(context, `/api/v1/pauses/pause?${query}`);
  if (answer !== undefined) return { ...(answer as Omit<PauseOutcome, "isApplied">), isApplied: true };
  return withHome(context, async (pauses) => {
    const outcome = await pauses.pause({ ...words, reason, forMs }, operator);
    return { ...outcome, isApplied: false };
  });
}

/** Resumes something. @returns whether it was paused @throws {CodedError} when nothing was resumed */
export async function resumeNow(context: CliContext, words: PauseTarget): Promise<boolean> {
  const answer = await askGateway(context, `/api/v1/pauses/resume?${new URLSearchParams({ ...words })}`);
  if (answer !== undefined) return (answer as { readonly resumed: boolean }).resumed;
  return withHome(context, (pauses) => pauses.resume(words, operator));
}

/** Returns the answer of the first gateway of the home that gives one; undefined without one. */
async function askGateway(context: CliContext, path: string): Promise<unknown> {
  const { options, output, signal } = context;
  for (const running of await findReachableGateways(options.home)) {
    try {
      return await postToGateway(running, path, signal);
    } catch (error) {
      signal.throwIfAborted();
      if (!isCodedError(error) || error.code !== "CLI_GATEWAY_UNUSABLE") throw error;
      output.note(`${output.noteStyle("yellow", "warning")}: ${lateText(running, error.message)}`);
    }
  }
  return undefined;
}

function lateText({ url }: RunningGateway, reason: string): string {
  return `${url} takes the change over within a second, if it runs: ${reasonLine(reason)}`;
}

async function withHome<R>(context: CliContext, use: (pauses: Pauses) => Promise<R>): Promise<R> {
  const { options, now } = context;
  await using store = createPauseStore(options.home, { randomBytes });
  await using home = await openTrail(context);
  return await use(pausesOf(store, now, home.audit));
}

function pausesOf(
  store: PauseStore,
  now: () => number,
  audit: ConstructorParameters<typeof Pauses>[0]["audit"] = { record() {} },
): Pauses {
  return new Pauses({ store, audit, logger: silent, now, resumeCommand: "", clientKeys: () => [] });
}
