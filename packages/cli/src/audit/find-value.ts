/**
 * `toolcrib audit find-value`: shows the calls whose arguments or results contained a value, by its fingerprint.
 * The value is read from standard input or a hidden prompt, never from an argument, and never shown.
 */

import { type AuditRecord, openFingerprints, readTrail } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { counted } from "../output/counted.ts";
import { safeLine } from "../output/output.ts";
import { askHidden } from "../prompt/ask-hidden.ts";
import { canAsk } from "../prompt/ask-line.ts";
import { readStandardInput } from "../standard-input.ts";
import { type AuditFlags, isWanted, toQuery } from "./audit-filter.ts";

/** Calls that are shown. */
const foundMaxCount = 1000;

/** A value in one record. */
interface FoundValue {
  readonly time: string;
  readonly callId: string;
  readonly tool: string;
  readonly client: string;
  readonly in: "arguments" | "result";
  /** JSON Pointers. */
  readonly places: readonly string[];
}

/** Runs the command. */
export async function findValue(
  context: CliContext,
  flags: Omit<AuditFlags, "limit">,
  isInArguments: boolean,
): Promise<ExitCode> {
  const { output, options, now } = context;
  if (isInArguments)
    throw new CliError(
      "CLI_USAGE",
      "A value is not an argument: other users see it, and the shell keeps it",
      {
        hint: "pipe it: toolcrib audit find-value < FILE, or start the command alone and type the value",
      },
    );
  const fingerprints = await openFingerprints(options.home);
  if (fingerprints === undefined)
    throw new CliError("CLI_USAGE", "This home has no fingerprints of values", {
      hint: "a gateway with audit.fingerprints: true records them; each home has its own trail (--home)",
    });
  const [value, ...variants] = await readValue(context);
  const fingerprint = fingerprints.of(value);
  if (fingerprint === undefined)
    throw new CliError(
      "CLI_USAGE",
      "The value is too short: values of fewer than 4 characters have no fingerprint",
    );
  const wanted = new Set([fingerprint, ...variants.flatMap((one) => fingerprints.of(one) ?? [])]);
  const { found, count } = await findIn(context, wanted, toQuery(flags, now()));
  output.json(found);
  printFound(output, found);
  if (count > found.length)
    output.note(`${counted(count - found.length, "more record")} not shown; use --since or --until`);
  return exitCodes.done;
}

/** Searches the trail. @returns the first records with a wanted fingerprint, and the number of all */
async function findIn(
  { options, signal }: CliContext,
  wanted: ReadonlySet<string>,
  query: ReturnType<typeof toQuery>,
): Promise<{ readonly found: readonly FoundValue[]; readonly count: number }> {
  const found: FoundValue[] = [];
  let count = 0;
  for await (const portion of readTrail(options.home, { signal })) {
    for (const { record, line } of portion) {
      if (!wanted.values().some((one) => line.includes(one)) || !isWanted(record, query)) continue;
      const one = toFound(record, wanted);
      if (one === undefined) continue;
      count += 1;
      if (found.length < foundMaxCount) found.push(one);
    }
  }
  return { found, count };
}

function printFound(output: CliContext["output"], found: readonly FoundValue[]): void {
  if (found.length === 0) {
    output.print("No call contained it.");
    output.note(
      `${output.noteStyle("cyan", "hint")}: values are compared whole, with spaces and line breaks; one line break at the end was tried with and without. A part of a text has no fingerprint of its own`,
    );
    return;
  }
  output.table(
    [
      { title: "TIME" },
      { title: "IN" },
      { title: "TOOL", canShrink: true },
      { title: "CLIENT", canShrink: true },
      { title: "PLACE", canShrink: true },
      { title: "CALL" },
    ],
    found.map((one) => [
      one.time,
      one.in,
      safeLine(one.tool),
      safeLine(one.client),
      safeLine(one.places.join(", ")),
      safeLine(one.callId),
    ]),
  );
}

/**
 * Returns the value without one line break at its end, which is often that of the command that printed the value, and the
 * value with one: text files and the output of programs end with it.
 */
async function readValue(context: CliContext): Promise<[value: string, ...variants: string[]]> {
  const given = canAsk(context)
    ? await askHidden("Value (not shown): ", context)
    : await readStandardInput(context);
  const value = given.replace(/\r?\n$/, "");
  return [value, `${value}\n`, given];
}

function toFound({ time, type, data }: AuditRecord, wanted: ReadonlySet<string>): FoundValue | undefined {
  if (type !== "call.intent" && type !== "call.completed") return undefined;
  const { callId, tool, client, fingerprints = {} } = data as AuditRecord<"call.intent">["data"];
  const places = Object.entries(fingerprints).flatMap(([place, value]) => (wanted.has(value) ? [place] : []));
  if (places.length === 0) return undefined;
  return {
    time,
    callId,
    tool,
    client: client.name,
    in: type === "call.intent" ? "arguments" : "result",
    places,
  };
}
