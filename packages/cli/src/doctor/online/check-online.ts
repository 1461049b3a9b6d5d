/**
 * The checks of `toolcrib doctor --online`: what only the network can say. They send no secret, no token and no call of
 * a tool, and they change nothing. Each request has its own limits (time, bytes, addresses); all of them together have
 * those of this file, and what these leave out is reported.
 */

import type { CliContext } from "../../cli-context.ts";
import type { LoadedConfig } from "../../config/load-cli-config.ts";
import { counted } from "../../output/counted.ts";
import { safeLine } from "../../output/output.ts";
import { type Finding, ok, unknown } from "../check.ts";
import { checkAnchorsOnline } from "./check-anchors-online.ts";
import { checkPackages } from "./check-packages.ts";
import { checkRemoteServers } from "./check-remote-servers.ts";

/** Seconds for all checks together. */
const totalMaxSeconds = 180;
/** Bytes of the responses of all servers together. */
const responsesMaxBytes = 16 * 1024 * 1024;
/** Servers, and packages, that are asked. */
const subjectsMaxCount = 100;

/** One subject of a check. */
export interface OnlineCheck {
  /** The finding's subject, such as `server github`. */
  readonly subject: string;
  /** Checks it. May reject with a coded error. */
  run(limits: OnlineLimits): Promise<readonly Finding[]>;
}

/** Limits that the checks of one command share. */
export interface OnlineLimits {
  readonly signal: AbortSignal;
  readonly bytes: { left: number };
}

/** A kind of checks, which run at most `concurrency` at a time. */
export interface OnlineChecks extends AsyncDisposable {
  readonly concurrency: number;
  readonly checks: readonly OnlineCheck[];
}

/** Runs the checks. Reports the findings in the order of the configuration. */
export async function checkOnline(
  context: CliContext,
  { config, files }: Pick<LoadedConfig, "config" | "files">,
  report: (finding: Finding) => void,
): Promise<void> {
  const late = AbortSignal.timeout(totalMaxSeconds * 1000);
  const limits: OnlineLimits = {
    signal: AbortSignal.any([context.signal, late]),
    bytes: { left: responsesMaxBytes },
  };
  const kinds = [
    () => checkRemoteServers(context, config),
    () => checkPackages(context, config, files),
    () => checkAnchorsOnline(context, config),
  ];
  let asked = 0;
  for (const open of kinds) {
    await using kind = await open();
    const checks = kind.checks.slice(0, subjectsMaxCount);
    asked += checks.length;
    for (const findings of await runAll(checks, kind.concurrency, limits, context.signal))
      findings.forEach(report);
    const left = kind.checks.slice(subjectsMaxCount);
    if (left.length > 0)
      report(
        unknown(
          "online",
          `${counted(left.length, "subject")} more were not asked, from ${safeLine(left[0]?.subject ?? "")} on: one run asks ${subjectsMaxCount} of a kind`,
          "check a configuration with fewer servers: toolcrib doctor --online --config FILE",
        ),
      );
  }
  if (asked === 0) report(ok("online", "no remote server, pinned package or anchor to ask about"));
}

/** Runs checks side by side. @returns their findings, in the order of the checks */
async function runAll(
  checks: readonly OnlineCheck[],
  concurrency: number,
  limits: OnlineLimits,
  stopped: AbortSignal,
): Promise<readonly (readonly Finding[])[]> {
  const findings: (readonly Finding[])[] = [];
  let next = 0;
  const work = async (): Promise<void> => {
    for (let at = next++; at < checks.length; at = next++) {
      const check = checks[at] as OnlineCheck;
      findings[at] = await runOne(check, limits, stopped);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, checks.length) }, work));
  return findings;
}

async function runOne(
  { subject, run }: OnlineCheck,
  limits: OnlineLimits,
  stopped: AbortSignal,
): Promise<readonly Finding[]> {
  const unasked = (why: string) => [
    unknown(
      subject,
      `was not asked to the end: ${why}`,
      "repeat the command, or check a configuration with fewer servers with --config",
    ),
  ];
  const tooLate = () => unasked(`all checks together took ${totalMaxSeconds} s`);
  if (limits.signal.aborted && !stopped.aborted) return tooLate();
  if (limits.bytes.left <= 0)
    return unasked(`all responses together have ${responsesMaxBytes / 1024 / 1024} MiB`);
  try {
    return await run(limits);
  } catch (error) {
    stopped.throwIfAborted();
    if (limits.signal.aborted) return tooLate();
    throw error;
  }
}
