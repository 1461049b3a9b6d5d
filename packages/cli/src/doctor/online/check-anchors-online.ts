/**
 * Checks what the anchors of the audit trail have: the file is compared with the trail, and the hosts in the arguments of
 * the command are asked for an answer. No anchor is sent to them.
 */

import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { GatewayConfig } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { verifyTrail } from "@toolcrib/store";
import type { CliContext } from "../../cli-context.ts";
import { safeLine } from "../../output/output.ts";
import { shellQuote } from "../../serve/shell-quote.ts";
import { type Finding, failed, ok, warning } from "../check.ts";
import type { OnlineCheck, OnlineChecks, OnlineLimits } from "./check-online.ts";

/** URLs of one command. */
const urlsMaxCount = 4;

/** Returns the checks of `audit.anchor`. */
export async function checkAnchorsOnline(
  context: CliContext,
  { audit, egress }: GatewayConfig,
): Promise<OnlineChecks> {
  const { file, command = [] } = audit.anchor;
  const checks: OnlineCheck[] = [];
  if (file !== undefined)
    checks.push({ subject: "anchor", run: ({ signal }) => compareFile(context, file, signal) });
  const urls = command.slice(1).filter((word) => /^https?:\/\/\S+$/.test(word) && URL.canParse(word));
  for (const url of new Set(urls.slice(0, urlsMaxCount)))
    checks.push({ subject: "anchor", run: (limits) => askHost(url, egress.internalRanges, limits) });
  return { concurrency: 1, checks, async [Symbol.asyncDispose]() {} };
}

async function compareFile(
  { env, options }: CliContext,
  file: string,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const userHome = env["HOME"] ?? homedir();
  const path = /^~[\\/]/.test(file) ? join(userHome, file.slice(2)) : file;
  if (!existsSync(path))
    return [
      warning(
        "anchor",
        `${safeLine(path)} has no anchor yet`,
        "a gateway writes one within a minute of a record",
      ),
    ];
  try {
    const { anchors } = await verifyTrail(options.home, { anchorFile: path, signal });
    const { matched = 0, count = 0 } = anchors ?? {};
    const text = `${matched} of ${count} anchors of ${safeLine(path)} match the trail`;
    if (matched > 0 && matched === count) return [ok("anchor", text)];
    // Anchors of records that retention deleted cannot be compared.
    return [warning("anchor", text, `toolcrib audit verify --anchor ${shellQuote(path)} says which do not`)];
  } catch (error) {
    signal.throwIfAborted();
    if (!isCodedError(error)) throw error;
    return [failed("anchor", safeLine(error.message), error.hint)];
  }
}

async function askHost(
  url: string,
  internalRanges: readonly string[],
  limits: OnlineLimits,
): Promise<readonly Finding[]> {
  const { origin } = new URL(url);
  const { examineServer } = await import("@toolcrib/oauth");
  try {
    // The root of the host: its path could be one that a request changes something at.
    const { status } = await examineServer(
      { id: "audit.anchor", url: `${origin}/`, grant: "authorization_code", per: "gateway" },
      "sse",
      { internalRanges },
      { ...limits, asksTokenEndpoint: false },
    );
    if (status < 500) return [ok("anchor", `${safeLine(origin)} of audit.anchor.command answers`)];
    return [
      warning(
        "anchor",
        `${safeLine(origin)} of audit.anchor.command answers HTTP ${status}`,
        "ask its operator",
      ),
    ];
  } catch (error) {
    limits.signal.throwIfAborted();
    if (!isCodedError(error)) throw error;
    return [
      failed(
        "anchor",
        `${safeLine(origin)} of audit.anchor.command does not answer: ${safeLine(error.message)}`,
        "ends wait in the gateway, one hundred at most; repair the connection",
      ),
    ];
  }
}
