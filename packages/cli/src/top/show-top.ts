/**
 * `toolcrib top`: calls, errors, latency, calls in flight and tokens by server and
 * client, live on a terminal, or once. It reads the audit trail, which the gateway
 * writes for every call anyway, so that watching costs the gateway nothing.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import type { GatewayStatus } from "@toolcrib/gateway";
import { isJsonObject } from "@toolcrib/json";
import { getFromGateway } from "../access/gateway-api.ts";
import { findReachableGateway } from "../access/open-tool-access.ts";
import { openTrailReader } from "../audit/find-call.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { type Output, reasonLine } from "../output/output.ts";
import { canShowLive, LiveScreen } from "../watch/live-screen.ts";
import { type CallGroup, CallWindow } from "./call-window.ts";
import { followCalls, readCalls } from "./feed-calls.ts";
import { printSums, type SortKey, sortKeys, sortSums } from "./print-top.ts";

/** Options of the command. */
export interface TopFlags {
  readonly once?: boolean;
  readonly intervalMs: number;
  readonly windowMs: number;
  readonly sort: SortKey;
  /** @default server and client */
  readonly by?: CallGroup;
}

/** Runs the command. */
export async function showTop(context: CliContext, flags: TopFlags): Promise<ExitCode> {
  const isOnce = flags.once === true;
  if (!isOnce && !canShowLive(context)) {
    throw new CliError(
      "CLI_USAGE",
      "top is a live view, and the output is not a terminal that can show one",
      {
        hint: "print the numbers once: toolcrib top --once, or toolcrib top --once --json",
      },
    );
  }
  await (isOnce ? showOnce(context, flags) : showLive(context, flags));
  return exitCodes.done;
}

type UsageStatus = Pick<GatewayStatus, "callsInFlight" | "sessions" | "discovery">;

/** The status of the running gateway, besides the trail. */
type GatewayFacts =
  | { readonly isRunning: false; readonly reason: string }
  | { readonly isRunning: true; readonly status: UsageStatus };

async function readGateway(context: CliContext, signal: AbortSignal): Promise<GatewayFacts> {
  try {
    const running = await findReachableGateway(context.options.home);
    if (running === undefined) return { isRunning: false, reason: "no gateway is running" };
    const status = await getFromGateway(running, "/api/v1/status", signal);
    return isJsonObject(status)
      ? { isRunning: true, status: status as unknown as GatewayStatus }
      : { isRunning: false, reason: "the gateway runs another version" };
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return { isRunning: false, reason: error.message };
  }
}

async function showOnce(context: CliContext, flags: TopFlags): Promise<void> {
  const { output } = context;
  const now = context.now();
  const window = new CallWindow(flags.windowMs);
  await using reader = await openTrailReader(context);
  await readCalls(reader, window, { since: now - flags.windowMs, until: now });
  const gateway = await readGateway(context, context.signal);
  const { from, to } = window.span(now);
  const sums = (group: CallGroup) => sortSums(window.sums(group, now, gateway.isRunning), flags.sort);
  output.json({
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    isGatewayRunning: gateway.isRunning,
    servers: sums("server"),
    clients: sums("client"),
    tools: sums("tool"),
    lists: gateway.isRunning ? gateway.status.discovery : undefined,
  });
  printAll(output, { window, now, gateway, flags, sort: flags.sort });
}

async function showLive(context: CliContext, flags: TopFlags): Promise<void> {
  let { sort } = flags;
  using screen = new LiveScreen(context, {
    onKey: (key) => {
      const [chosen] = Object.entries(sortKeys).find(([, one]) => one === key) ?? [];
      if (chosen !== undefined) sort = chosen as SortKey;
      return chosen !== undefined;
    },
  });
  const { ended } = screen;
  const window = new CallWindow(flags.windowMs);
  await using reader = await openTrailReader(context);
  const from = context.now();
  const following = followCalls(reader, window, { from, signal: ended });
  await readCalls(reader, window, { since: from - flags.windowMs, until: from });
  while (!ended.aborted) {
    const gateway = await unlessEnded(ended, () => readGateway(context, ended));
    if (gateway === undefined) break;
    const now = context.now();
    screen.show((output) => {
      const keys = Object.entries(sortKeys).map(([name, key]) => `${key} ${name}`);
      output.print(
        output.style(
          "dim",
          `${new Date(now).toISOString().slice(11, 19)}Z  sort: ${keys.join(", ")}; q to quit`,
        ),
      );
      printAll(output, { window, now, gateway, flags, sort });
    });
    // A trail that cannot be followed ends the view with its error.
    await Promise.race([screen.pause(flags.intervalMs), following]);
  }
  await following;
}

/** Returns what `read` returns; `undefined` where the view ended meanwhile. */
async function unlessEnded<T>(ended: AbortSignal, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (ended.aborted) return undefined;
    throw error;
  }
}

interface Shown {
  readonly window: CallWindow;
  readonly now: number;
  readonly gateway: GatewayFacts;
  readonly flags: TopFlags;
  readonly sort: SortKey;
}

function printAll(output: Output, { window, now, gateway, flags, sort }: Shown): void {
  const { from, to } = window.span(now);
  output.prose(
    `Calls of the last ${Math.round((to - from) / 1000)} s; ${gateway.isRunning ? runningText(gateway.status) : output.style("red", reasonLine(gateway.reason))}`,
  );
  for (const group of flags.by === undefined ? (["server", "client"] as const) : [flags.by]) {
    const sums = window.sums(group, now, gateway.isRunning);
    output.print("");
    if (sums.length === 0) output.print(output.style("dim", `no calls by ${group}`));
    else printSums(output, group, sums, sort);
  }
}

function runningText({ callsInFlight, sessions, discovery }: UsageStatus): string {
  // A gateway of an earlier version does not count them.
  const listed = (discovery as Partial<GatewayStatus["discovery"]> | undefined)?.listedTokens;
  const lists = listed === undefined ? "" : `; lists sent since the start: ~${listed} tokens`;
  return `now ${counted(callsInFlight, "call")} in flight, ${counted(sessions, "session")}${lists}`;
}
