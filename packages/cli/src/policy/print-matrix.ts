/** `toolcrib policy matrix`: what the policy decides about each tool, resource and prompt for each client. */

import { type OfflinePolicy, openOfflinePolicy } from "@toolcrib/cedar";
import type { PolicyTarget } from "@toolcrib/policy";
import { ToolPatterns } from "@toolcrib/policy";
import type { Identity } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { tokenNamesOf } from "../config/load-config-deps.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { findPauses, unknownPausesLine } from "../guards/open-pauses.ts";
import { safeLine } from "../output/output.ts";
import type { Column } from "../output/table.ts";
import { fitName, textWidth } from "../output/text-width.ts";
import { asTyped } from "../serve/source-table.ts";
import { clientIdentity, ownClients, warnAboutUnknownClients } from "./client-identity.ts";
import { openPolicySituation, originLine } from "./open-targets.ts";

/** Flags of the command. */
export interface MatrixFlags {
  readonly client?: readonly string[];
  readonly tool?: readonly string[];
  /** Whether the policy is that of the files, also where a gateway runs. */
  readonly onDisk?: boolean;
}

/**
 * The access of a client: `call` includes to list; `list` is a tool that it sees and whose calls are denied; `depends`
 * is a call that the policy decides by its arguments; `blocked` is a call that the policy would allow, or allow by its
 * arguments, and that breaks what the operator declared about the server; `paused` is one that is paused.
 */
type Cell = "call" | "depends" | "list" | "blocked" | "paused" | "-";

/** Runs the command. */
export async function printMatrix(context: CliContext, flags: MatrixFlags): Promise<ExitCode> {
  const situation = await openPolicySituation(context, { onDisk: flags.onDisk });
  const { targets, unavailable, origin } = situation;
  using policy = await openOfflinePolicy(situation.policy);
  warnAboutUnknownClients(context, situation, flags.client ?? []);
  const names = flags.client ?? clientsOf(context, Object.keys(situation.policy.clients));
  const clients = names.map((name) => clientIdentity(situation, name));
  const blocked = new Set(situation.blocked?.map(({ id }) => id));
  const { pauses, problem } = await findPauses(context, situation.policy);
  const now = context.now();
  /** Returns why a call that the policy allows is refused. */
  const hindranceOf = ({ id, wireName, server }: PolicyTarget, identity: Identity) => {
    if (blocked.has(id)) return "blocked";
    return pauses?.find({ id, wireName, server: server.id, identity }, now) && "paused";
  };
  const patterns = flags.tool === undefined ? undefined : new ToolPatterns(flags.tool);
  const rows = targets
    .filter(({ id, wireName }) => patterns === undefined || patterns.find(id, wireName) !== undefined)
    .map((target) => ({
      target,
      cells: clients.map((identity): Cell => {
        const cell = cellOf(policy, identity, target, now);
        return cell === "call" || cell === "depends" ? (hindranceOf(target, identity) ?? cell) : cell;
      }),
    }));
  const { output } = context;
  output.json({
    policy: origin,
    clients: names,
    unavailable: unavailable.map(({ id, state, reason }) => ({ id, state, reason })),
    ...(problem === undefined ? {} : { pausesProblem: problem.message }),
    targets: rows.map(({ target: { id, kind }, cells }) => ({
      id,
      kind,
      decisions: Object.fromEntries(names.map((name, at) => [name, cells[at]])),
    })),
  });
  const missing = unavailable.filter(
    ({ id }) => patterns === undefined || patterns.coverageOf(id) !== "none",
  );
  if (rows.length === 0 && missing.length === 0) output.print("No tool, resource or prompt");
  else {
    const shownRows = [
      ...rows.map(({ target, cells }) => [safeLine(target.id), ...cells]),
      ...missing.map(({ id, state }) => [safeLine(`${id}:* (${state})`), ...names.map(() => "?")]),
    ];
    const columns = names.map((name) => ({ title: safeLine(name) }));
    output.table([nameColumn(columns, shownRows, output.width), ...columns], shownRows);
    const shown = new Set(rows.flatMap(({ cells }) => cells));
    output.prose(
      "",
      "call: may list and call it. depends: by the arguments of the call. list: sees it, and no call is allowed.",
      ...(shown.has("blocked")
        ? [
            `blocked: the policy allows calls, and what the operator declared about the server refuses each (${asTyped("toolcrib why TOOL", context)}).`,
          ]
        : []),
      ...(shown.has("paused")
        ? ["paused: the policy allows calls, and they are refused until it is resumed."]
        : []),
      ...(problem === undefined ? [] : [unknownPausesLine(context, problem)]),
      ...(situation.blocked === undefined
        ? ["It does not show the mutability and containment of servers, which can refuse a call."]
        : []),
      "The table holds for clients that have received no labelled data. Limits, hooks and approvals are checked at each call.",
      ...(missing.length === 0 ? [] : ["?: what the server has is not known, because it is not available."]),
    );
  }
  output.prose(originLine(origin));
  return exitCodes.done;
}

/** The column of the names. They are shortened in the middle where they still differ then; otherwise they stay whole. */
function nameColumn(clients: readonly Column[], rows: readonly (readonly string[])[], width: number): Column {
  const widthOf = ({ title }: Column, at: number) =>
    2 + Math.max(textWidth(title), ...rows.map((row) => textWidth(row[at + 1] ?? "")));
  const room = width - clients.reduce((sum, column, at) => sum + widthOf(column, at), 0);
  const shortened = new Set(rows.map(([name = ""]) => fitName(name, room)));
  const title = "TOOL";
  return shortened.size === rows.length ? { title, canShrink: true, isName: true } : { title };
}

/** The clients of the configuration, those with a token, and the command line. */
function clientsOf({ options }: CliContext, configured: readonly string[]): readonly string[] {
  const named = configured.filter((name) => !ownClients.some((one) => one === name));
  return [...new Set(["cli", ...tokenNamesOf(options.home), ...named])];
}

/** Returns what the policy decides. */
function cellOf(policy: OfflinePolicy, identity: Identity, target: PolicyTarget, now: number) {
  const call = {
    args: {},
    depth: 0,
    parentTool: "",
    era: "modern" as const,
    now,
    labels: [],
    seenLabels: [],
  };
  const listing = policy.decide({ identity, action: "list", target });
  const request = { identity, action: "call" as const, target, call };
  if (policy.dependsOnArguments(request) && listing.kind === "allow") return "depends" as const;
  if (policy.decide(request).kind === "allow") return "call";
  return listing.kind === "allow" ? "list" : "-";
}
