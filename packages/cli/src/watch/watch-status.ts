/**
 * `toolcrib status --watch`: the status of the gateway, live. On a terminal it is a
 * screen that is drawn again at an interval; elsewhere one line for each change.
 * A gateway that is lost is shown as lost, and found again when it answers or
 * another one starts.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Output, reasonLine, safeLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";
import { printRunning } from "../serve/show-status.ts";
import { type GatewayView, readGatewayView } from "./gateway-view.ts";
import { canShowLive, LiveScreen } from "./live-screen.ts";
import { changesOf, factsOf, type StatusFact } from "./status-changes.ts";

/** Runs the command until it is interrupted. */
export async function watchStatus(
  context: CliContext,
  { intervalMs }: { readonly intervalMs: number },
): Promise<ExitCode> {
  await (canShowLive(context) ? watchScreen(context, intervalMs) : watchLines(context, intervalMs));
  return exitCodes.done;
}

async function watchScreen(context: CliContext, intervalMs: number): Promise<void> {
  using screen = new LiveScreen(context);
  const { ended } = screen;
  let view: GatewayView | undefined;
  while (!ended.aborted) {
    const next = await viewUnless(context, view, ended);
    if (next === undefined) return;
    view = next;
    const readAt = context.now();
    screen.show((output) => printView(context, output, next, { readAt, intervalMs }));
    await screen.pause(intervalMs);
  }
}

/** Returns the state; `undefined` when the view ended meanwhile. */
async function viewUnless(
  context: CliContext,
  last: GatewayView | undefined,
  ended: AbortSignal,
): Promise<GatewayView | undefined> {
  try {
    return await readGatewayView({ ...context, signal: ended }, last);
  } catch (error) {
    if (ended.aborted) return undefined;
    throw error;
  }
}

function printView(
  context: CliContext,
  output: Output,
  view: GatewayView,
  { readAt, intervalMs }: { readonly readAt: number; readonly intervalMs: number },
): void {
  const time = new Date(readAt).toISOString().slice(11, 19);
  output.print(output.style("dim", `${time}Z, every ${intervalMs / 1000} s, q to quit`));
  if (view.kind === "absent") printAbsent(context, output, view, readAt);
  // The time of the reading, so that a frame that is drawn again is the same one.
  if (view.facts !== undefined) printRunning({ ...context, output, now: () => readAt }, view.facts);
}

function printAbsent(
  context: CliContext,
  output: Output,
  { reason, since, facts }: GatewayView & { readonly kind: "absent" },
  readAt: number,
): void {
  const seconds = Math.round((readAt - since) / 1000);
  if (facts === undefined) {
    output.print(
      `${output.style("yellow", "waiting")} ${safeLine(reason)}`,
      `start one in another terminal: ${ownCommand(context)} serve`,
    );
    return;
  }
  output.print(
    `${output.style("red", "LOST")} for ${seconds} s: ${reasonLine(reason)}`,
    "What was known last:",
    "",
  );
}

/** One line for each change, until the signal or the end of the reader. */
async function watchLines(context: CliContext, intervalMs: number): Promise<void> {
  const { output } = context;
  const ended = AbortSignal.any([context.signal, context.outputClosed]);
  let view: GatewayView | undefined;
  let last: ReadonlyMap<string, StatusFact> = new Map();
  while (!ended.aborted) {
    view = await viewUnless(context, view, ended);
    if (view === undefined) return;
    const time = new Date(context.now()).toISOString();
    const next = factsOf(view);
    for (const { text, json } of changesOf(last, next)) {
      output.print(`${time} ${text}`);
      output.jsonLine({ time, ...json });
    }
    last = next;
    // An abort ends the delay.
    await delay(intervalMs, undefined, { signal: ended }).catch(() => {});
  }
}
