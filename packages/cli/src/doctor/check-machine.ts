/** Checks of the machine and the home: Node, permissions, tokens, clock, audit trail. Reads only. */

import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import { isTokenName, readToken } from "@toolcrib/gateway";
import { openAuditReader } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { explainOldNode, oldestNode } from "../node-version.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { type Finding, failed, ok, warning } from "./check.ts";

/** Node's version. */
export function checkNode(): Finding {
  const explanation = explainOldNode(process.version);
  if (explanation === undefined) return ok("node", `Node.js ${process.version}`);
  return failed("node", `Node.js ${process.version} is too old`, `install Node.js ${oldestNode} or newer`);
}

/** That the home is its owner's alone and can be written. */
export function checkHome(context: CliContext): Finding {
  const { options } = context;
  const { home } = options;
  const status = statSync(home, { throwIfNoEntry: false });
  if (status === undefined) return ok("home", `${home} is made at the first start`);
  if (!status.isDirectory())
    return failed("home", `${home} is no folder`, `remove it, or name another home with --home`);
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return failed(
      "home",
      `${home} cannot be written by this user`,
      `chown it to this user, or name another home with --home`,
    );
  }
  if (context.platform !== "win32" && (status.mode & 0o022) !== 0) {
    return failed("home", `${home} can be changed by other users`, `chmod 700 ${shellQuote(home)}`);
  }
  if (context.platform !== "win32" && (status.mode & 0o055) !== 0) {
    return warning("home", `${home} can be looked into by other users`, `chmod 700 ${shellQuote(home)}`);
  }
  return ok("home", `${home} is this user's alone`);
}

/** That every token file is its owner's alone and holds a token. */
export function checkTokens(context: CliContext): Finding[] {
  const { options } = context;
  const folder = join(options.home, "tokens");
  const status = statSync(folder, { throwIfNoEntry: false });
  if (status === undefined) return [ok("tokens", "the first token is made at the first start")];
  if (context.platform !== "win32" && (status.mode & 0o077) !== 0) {
    return [failed("tokens", `${folder} is open to other users`, `chmod 700 ${shellQuote(folder)}`)];
  }
  const names = readdirSync(folder).filter((name) => isTokenName(name) && !name.endsWith(".tmp"));
  const findings = names.flatMap((name): Finding[] => {
    try {
      readToken(options.home, name);
      return [];
    } catch (error) {
      if (!isCodedError(error)) throw error;
      return [failed("tokens", error.message, error.hint)];
    }
  });
  return findings.length > 0
    ? findings
    : [ok("tokens", `${names.length} in ${folder}, for this user's eyes only`)];
}

/** A moment before this version was made: a clock behind it is wrong. */
const oldestNow = Date.UTC(2026, 0, 1);
/** Milliseconds by which the newest record may be ahead: writers of one home on one clock. */
const clockSlackMs = 5000;

/** That the clock is not behind, and that the audit trail is whole. */
export async function checkTrail(context: CliContext): Promise<Finding[]> {
  const { options } = context;
  const now = context.now();
  const date = new Date(now).toISOString();
  if (now < oldestNow)
    return [failed("clock", `the clock says ${date}, which is past`, "set the clock of this machine")];
  await using reader = await openAuditReader({ home: options.home });
  const [newest] = await reader.list({ limit: 1 });
  const isAhead = newest !== undefined && Date.parse(newest.time) > now + clockSlackMs;
  const clock = isAhead
    ? failed(
        "clock",
        `the clock says ${date}, but the newest audit record is of ${newest.time}`,
        "set the clock of this machine",
      )
    : ok("clock", date);
  const problems = (await reader.problems()).filter(({ kind }) => kind !== "unfinished");
  const trail =
    problems.length === 0
      ? ok("audit", newest === undefined ? "no records yet" : "the trail is whole")
      : warning(
          "audit",
          `${problems.length} places of the trail are damaged, the first in ${problems[0]?.segment} at byte ${problems[0]?.position}`,
          "look there: a crash can tear the last line; anything else was changed by hand",
        );
  return [clock, trail];
}
