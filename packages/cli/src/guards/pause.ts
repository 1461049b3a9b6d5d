/** `toolcrib pause` and `toolcrib resume`: the kill switch of the operator. */

import { didYouMean } from "@toolcrib/diagnostics";
import { describePause, type PauseTarget, parsePauseTarget } from "@toolcrib/guards";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { type Output, reasonLine, safeLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { listPauses, resumeNow, storePause } from "./open-pauses.ts";
import { findUnmatched, markUnmatched } from "./unmatched-pauses.ts";

type Words = { readonly kind: string | undefined; readonly name: string | undefined };

/** Milliseconds after which an operator reads that the pause is stored. */
const noticeMs = 2000;

/** Options of `pause`. */
export interface PauseFlags {
  readonly reason?: string;
  /** Milliseconds. */
  readonly for?: number;
}

/** A pause as it is shown. */
type ShownPause = PauseTarget & {
  readonly reason?: string;
  readonly until?: string;
  /** Why it matches nothing known. */
  readonly warning?: string;
};

/** Runs `pause`. */
export async function pause(context: CliContext, words: Words, flags: PauseFlags): Promise<ExitCode> {
  const { output } = context;
  if (words.kind === undefined) return await list(context, flags);
  const target = checked(words, flags.reason);
  const earlier = await listPauses(context);
  // The stop comes first: whether the name exists may be known only to a gateway that hangs.
  const stored = await storePause(context, target, flags);
  const [outcome, unmatched] = await withNotice(
    Promise.all([stored.apply(), findUnmatched(context, target)]),
    () => output.note(`Stored the pause of ${pauseLine(stored.pause)}; waiting for the gateways that run`),
  );
  const isNew = !earlier.some(({ kind, name }) => kind === target.kind && name === target.name);
  if (isNew && unmatched?.refusal !== undefined) {
    await resumeNow(context, target);
    throw unmatched.refusal;
  }
  const { pause: shown, cancelledCalls, isApplied } = outcome;
  const warning = unmatched?.warning;
  output.json({ ...outcome, ...(warning === undefined ? {} : { warning }) });
  const cancelled = cancelledCalls === 0 ? "" : `, ${counted(cancelledCalls, "call")} in flight cancelled`;
  output.print(`Paused ${pauseLine(shown)}${cancelled}`);
  if (!isApplied) output.print("No running gateway answered: it applies to every gateway of this home");
  output.print(`Resume it: ${ownCommand(context)} resume ${pauseWords(shown)}`);
  if (warning !== undefined) output.note(`${output.noteStyle("yellow", "warning")}: ${safeLine(warning)}`);
  return exitCodes.done;
}

/** Returns the outcome, after saying what it waits for if it takes long. */
async function withNotice<R>(outcome: Promise<R>, say: () => void): Promise<R> {
  const timer = setTimeout(say, noticeMs);
  return await outcome.finally(() => clearTimeout(timer));
}

/** Runs `resume`. */
export async function resume(context: CliContext, words: Words): Promise<ExitCode> {
  const { output } = context;
  const target = checked(words);
  const isResumed = await resumeNow(context, target);
  const rest = await listPauses(context);
  output.json({ ...target, resumed: isResumed, pauses: rest });
  const what = safeLine(describePause(target));
  const hint = isResumed ? undefined : didYouMean(target.name, namesOf(rest, target.kind));
  const advice = hint === undefined ? "" : `; ${safeLine(hint)}`;
  output.print(isResumed ? `Resumed ${what}` : `Nothing was resumed: ${what} is not paused${advice}`);
  for (const other of rest) output.print(`Still paused: ${pauseLine(other)}`);
  return isResumed ? exitCodes.done : exitCodes.notFound;
}

/** The names of the pauses of a kind. */
function namesOf(pauses: readonly PauseTarget[], kind: PauseTarget["kind"]): readonly string[] {
  return pauses.flatMap((pause) => (pause.kind === kind ? [pause.name] : []));
}

async function list(context: CliContext, flags: PauseFlags): Promise<ExitCode> {
  if (flags.reason !== undefined || flags.for !== undefined) {
    throw new CliError("CLI_USAGE", "Nothing was paused: name what to pause, such as server github, or all");
  }
  const pauses = await markUnmatched(context, await listPauses(context));
  context.output.json({ pauses });
  if (pauses.length === 0) context.output.print("Nothing is paused");
  printPauses(context.output, pauses);
  return exitCodes.done;
}

/** Prints one line for each pause. */
export function printPauses(output: Output, pauses: readonly ShownPause[]): void {
  for (const one of pauses) {
    const idle =
      one.warning === undefined
        ? ""
        : `: ${output.style("yellow", "matches nothing")}, ${safeLine(one.warning)}`;
    output.prose(`${output.style("yellow", "paused")} ${pauseLine(one)}${idle}`);
  }
}

/** Returns the words that name what is paused on the command line, for a shell. */
export function pauseWords({ kind, name }: PauseTarget): string {
  return kind === "all" ? kind : `${kind} ${shellQuote(safeLine(name))}`;
}

/** Returns a pause as one line. */
export function pauseLine({ reason, until, ...target }: Omit<ShownPause, "warning">): string {
  const end = until === undefined ? "" : ` until ${safeLine(until)}`;
  return `${safeLine(describePause(target))}${end}${reason === undefined ? "" : ` (${reasonLine(reason)})`}`;
}

/** @throws {CliError} `CLI_USAGE` */
function checked({ kind = "", name = "" }: Words, reason?: string): PauseTarget {
  const parsed = parsePauseTarget(kind, name, reason);
  if ("target" in parsed) return parsed.target;
  throw new CliError("CLI_USAGE", `Nothing was changed: ${parsed.problem}`, {
    hint: "write server ID, tool NAME, client NAME or all",
  });
}
