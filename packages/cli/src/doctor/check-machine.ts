/** Checks the machine and the home: Node, permissions, tokens, clock, audit trail. Only reads. */

import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { defaultTokenName, isTokenName, readToken } from "@toolcrib/auth";
import { isCodedError } from "@toolcrib/diagnostics";
import { openAuditReader, verifyTrail } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { ensureToken } from "../connect/gateway-entry.ts";
import { explainOldNode, oldestNode } from "../node-version.ts";
import { counted } from "../output/counted.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { type Finding, failed, ok, type Repair, warning } from "./check.ts";
import { closingHome } from "./check-modes.ts";

/** Checks the version of Node. */
export function checkNode(): Finding {
  const explanation = explainOldNode(process.version);
  if (explanation === undefined) return ok("node", `Node.js ${process.version}`);
  return failed("node", `Node.js ${process.version} is too old`, `install Node.js ${oldestNode} or newer`);
}

/** Checks that the home is private and writable. */
export function checkHome(context: CliContext): Finding {
  const { options } = context;
  const { home } = options;
  const status = statSync(home, { throwIfNoEntry: false });
  if (status === undefined) return ok("home", `${home} is created at the first start`);
  if (!status.isDirectory())
    return failed("home", `${home} is not a folder`, `remove it, or choose another home with --home`);
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return failed(
      "home",
      `this user cannot write to ${home}`,
      `chown it to this user, or choose another home with --home`,
    );
  }
  if (context.platform !== "win32" && (status.mode & 0o022) !== 0) {
    return failed(
      "home",
      `other users can change ${home}`,
      `chmod 700 ${shellQuote(home)}`,
      closingHome(home),
    );
  }
  if (context.platform !== "win32" && (status.mode & 0o055) !== 0) {
    return warning(
      "home",
      `other users can read ${home}`,
      `chmod 700 ${shellQuote(home)}`,
      closingHome(home),
    );
  }
  return ok("home", `${home} is private to this user`);
}

/**
 * Checks that every token file is private and contains a token.
 *
 * @param closing the repair that closes the home to other users
 */
export function checkTokens(context: CliContext, closing: Repair | undefined): Finding[] {
  const { options } = context;
  const folder = join(options.home, "tokens");
  const status = statSync(folder, { throwIfNoEntry: false });
  if (status === undefined) return [ok("tokens", "the first token is created at the first start")];
  if (context.platform !== "win32" && (status.mode & 0o077) !== 0) {
    return [failed("tokens", `other users can access ${folder}`, `chmod 700 ${shellQuote(folder)}`, closing)];
  }
  const names = readdirSync(folder).filter(isTokenName);
  if (names.length === 0) {
    const does = `create the token "${defaultTokenName}"`;
    const run = async () => void (await ensureToken(context, defaultTokenName));
    return [
      warning("tokens", `there is no token in ${folder}`, `toolcrib token create ${defaultTokenName}`, {
        does,
        run,
      }),
    ];
  }
  const findings = names.flatMap((name): Finding[] => {
    try {
      readToken(options.home, name);
      return [];
    } catch (error) {
      if (!isCodedError(error)) throw error;
      const repair = error.code === "TOKEN_FILE_EXPOSED" ? closing : undefined;
      return [failed("tokens", error.message, error.hint, repair)];
    }
  });
  return findings.length > 0
    ? findings
    : [ok("tokens", `${names.length} in ${folder}, private to this user`)];
}

/** A time before this version was released. A clock that shows an earlier time is wrong. */
const oldestNow = Date.UTC(2026, 0, 1);
/** Tolerance in milliseconds for a newest record that is ahead of the clock. */
const clockSlackMs = 5000;

/** Bytes of a trail that is verified here. */
const verifiedMaxBytes = 64 * 1024 * 1024;

/** Checks that the clock is not slow and that the audit trail can be read and is intact. */
export async function checkTrail(context: CliContext): Promise<Finding[]> {
  try {
    return await readTrail(context);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return [failed("audit", error.message, error.hint)];
  }
}

async function readTrail(context: CliContext): Promise<Finding[]> {
  const { options } = context;
  const now = context.now();
  const date = new Date(now).toISOString();
  if (now < oldestNow)
    return [
      failed("clock", `the clock shows ${date}, which is in the past`, "set the clock of this machine"),
    ];
  await using reader = await openAuditReader({ home: options.home });
  const [newest] = await reader.list({ limit: 1 });
  const isAhead = newest !== undefined && Date.parse(newest.time) > now + clockSlackMs;
  const clock = isAhead
    ? failed(
        "clock",
        `the clock shows ${date}, but the newest audit record is from ${newest.time}`,
        "set the clock of this machine",
      )
    : ok("clock", date);
  const problems = (await reader.problems()).filter(({ kind }) => kind !== "unfinished");
  const [decision] = await reader.list({ type: ["audit.damaged", "audit.accepted"], limit: 1 });
  if (decision?.type === "audit.damaged") {
    const what = `a start found at ${decision.time} that the trail was not what was signed before`;
    return [clock, warning("audit", what, "see toolcrib audit verify, which also accepts it (--accept)")];
  }
  const [problem] = problems;
  const bytes = trailBytes(options.home);
  if (bytes <= verifiedMaxBytes) return [clock, await verified(context)];
  if (problem === undefined) {
    const size = `${Math.round(bytes / 1024 / 1024)} MB`;
    return [clock, ok("audit", `no unreadable records; toolcrib audit verify checks the chain of ${size}`)];
  }
  const what = `${counted(problems.length, "damaged place")} in the trail, the first in ${problem.segment} at byte ${problem.position}`;
  return [clock, failed("audit", what, damageFix)];
}

const damageFix =
  "toolcrib audit verify shows what was changed; when you know what happened, --accept REASON puts it on record";

/** Verifies the chain and its signed ends, as `toolcrib audit verify` does. */
async function verified({ options, signal }: CliContext): Promise<Finding> {
  const { writers, findings, accepted } = await verifyTrail(options.home, { signal });
  const [first] = findings;
  if (first !== undefined) {
    const place =
      first.segment === "" ? "" : ` in ${first.segment}${first.line === 0 ? "" : `:${first.line}`}`;
    const what = `${counted(findings.length, "finding")} in the trail, the first${place}: ${first.message}`;
    return failed("audit", what, damageFix);
  }
  if (writers.length === 0) return ok("audit", "no records yet");
  if (accepted.length === 0) return ok("audit", "the chain is intact");
  return ok("audit", `apart from ${counted(accepted.length, "accepted finding")}, the chain is intact`);
}

/** Bytes of all segments; 0 where there are none. */
function trailBytes(home: string): number {
  const folder = join(home, "audit");
  try {
    const sizeOf = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0;
    return readdirSync(folder).reduce((sum, name) => sum + sizeOf(name), 0);
  } catch {
    return 0;
  }
}
