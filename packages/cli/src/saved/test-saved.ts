/** `toolcrib saved test`: runs the tests of saved tools, or records a test from a real run. */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { openToolAccess } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine, safeText } from "../output/output.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { parseArguments } from "../tools/call-arguments.ts";
import { openSaved, requireSaved } from "./open-saved.ts";
import { envelopeOf, printResponse } from "./print-response.ts";

/** Options of the command. */
export interface SavedTestFlags {
  readonly record?: boolean;
  readonly params?: string;
  readonly case?: string;
}

/** Runs the command. */
export async function testSaved(
  context: CliContext,
  name: string | undefined,
  flags: SavedTestFlags,
): Promise<ExitCode> {
  const { output } = context;
  if (name === undefined && flags.record === true) {
    throw new CliError("CLI_USAGE", "--record needs the name of the tool to run");
  }
  if (flags.record !== true && (flags.params !== undefined || flags.case !== undefined)) {
    throw new CliError("CLI_USAGE", "--params and --case require --record");
  }
  const params = flags.params === undefined ? {} : parseArguments(flags.params, "<params>", "--params");
  const names = await findNames(context, name);
  const reports: JsonValue[] = [];
  let exitCode: ExitCode = exitCodes.done;
  await using access = await openToolAccess(context);
  for (const one of names) {
    const recording: JsonObject =
      flags.record === true
        ? { record: true, params, ...(flags.case === undefined ? undefined : { caseName: flags.case }) }
        : {};
    const result = await access.call(
      "test_saved_tool",
      { name: one, ...recording },
      { signal: context.signal },
    );
    const report = envelopeOf(result);
    if (report === undefined || !Array.isArray(report["cases"])) {
      return printResponse(context, result, `${one}.star`);
    }
    reports.push(report);
    if (report["failed"] !== 0) exitCode = exitCodes.failed;
    if (!output.isJson) printReport(context, one, report);
  }
  output.json(name === undefined ? reports : reports[0]);
  if (names.length === 0) output.print("No saved tools.");
  return exitCode;
}

async function findNames(context: CliContext, name: string | undefined): Promise<readonly string[]> {
  await using saved = await openSaved(context);
  if (name === undefined) return (await saved.list()).map((tool) => tool.name);
  return [(await requireSaved(context, saved, name)).name];
}

function printReport({ output, options }: CliContext, name: string, report: JsonObject): void {
  const cases = (report["cases"] as readonly JsonValue[]).filter(isJsonObject);
  const { recorded, recordedError } = report;
  if (typeof recorded === "string") output.print(`Recorded "${safeLine(recorded)}".`);
  if (isJsonObject(recordedError)) {
    const { type, message } = recordedError;
    output.note(
      `${output.style("red", "THE RECORDED RUN FAILED")} with ${safeLine(String(type))}: ${safeText(String(message))}`,
      `The test "${safeLine(String(recorded))}" passes as long as the tool fails like this. If it should not fail, fix it and record again: toolcrib${options.homeFlag} saved test ${safeLine(name)} --record --case ${shellQuote(safeLine(String(recorded)))} --params JSON`,
    );
  }
  for (const { name: title, passed, problems, code } of cases) {
    const mark = passed === true ? output.style("green", "passed") : output.style("red", "FAILED");
    const coded = typeof code === "string" ? ` (${safeLine(code)})` : "";
    output.print(`${mark}  ${safeLine(name)}: ${safeLine(String(title))}${coded}`);
    if (Array.isArray(problems))
      for (const problem of problems) output.print(`        ${safeText(String(problem))}`);
  }
  if (cases.length === 0)
    output.print(
      `${safeLine(name)} has no tests; record one: toolcrib${options.homeFlag} saved test ${safeLine(name)} --record --params JSON`,
    );
  else output.print(`${String(report["passed"])} passed, ${String(report["failed"])} failed`);
}
