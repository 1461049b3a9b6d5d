/** `toolcrib call TOOL`: calls a tool through the governed call and prints its result. */

import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { ToolResult } from "@toolcrib/tool";
import { openToolAccess } from "../access/open-tool-access.ts";
import type { ToolAccess } from "../access/tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { wrapProse } from "../output/fit-styled.ts";
import { safeLine, safeText } from "../output/output.ts";
import { noteExplanation } from "../output/report-error.ts";
import { Progress } from "../progress/progress.ts";
import { isResponse, printError, printResponse } from "../saved/print-response.ts";
import { ownCommand } from "../serve/own-command.ts";
import { readStandardInput } from "../standard-input.ts";
import { parseArgumentPairs, parseArguments } from "./call-arguments.ts";
import { explainUnknownTool, isUnknownTool } from "./find-tool.ts";
import { hasHiddenContent, resultLines } from "./print-result.ts";
import { serverOfName } from "./tool-names.ts";

/** Options of the command. */
export interface CallFlags {
  readonly arg?: readonly string[];
  readonly timeout?: number;
}

/** The namespace of the ids of saved tools. */
const savedNamespace = "saved";

/** Runs the command. */
export async function callTool(
  context: CliContext,
  name: string,
  text: string | undefined,
  flags: CallFlags,
): Promise<ExitCode> {
  const pairs = flags.arg ?? [];
  if (text !== undefined && pairs.length > 0) {
    throw new CliError("CLI_USAGE", "Arguments are given twice: as JSON and with --arg", {
      hint: "use one of the two",
    });
  }
  // Report invalid arguments before starting any server.
  const given = await readArguments(context, text);
  parseArgumentPairs(pairs, {});
  await using access = await openToolAccess(context, { onlyServer: (ids) => serverOfName(name, ids) });
  // A tool that is unknown or denied is called too: the gateway refuses the call, and records that it denied it.
  const schemaOf = async () => (await access.describe(name))?.inputSchema ?? {};
  const args = pairs.length === 0 ? given : parseArgumentPairs(pairs, await schemaOf());
  const result = await callWithin(context, access, name, args, flags.timeout);
  await printResult(context, result, { name, access });
  return result.isError === true ? exitCodes.failed : exitCodes.done;
}

async function readArguments(context: CliContext, text: string | undefined): Promise<JsonObject> {
  if (text === undefined) return {};
  return text === "-"
    ? parseArguments(await readStandardInput(context), "<stdin>")
    : parseArguments(text, "<arguments>");
}

async function callWithin(
  context: CliContext,
  access: ToolAccess,
  name: string,
  args: JsonObject,
  timeoutSeconds: number | undefined,
): Promise<ToolResult> {
  const timeout = new AbortController();
  const abort = () =>
    timeout.abort(
      new CliError("CLI_TIMEOUT", `"${name}" did not respond within ${timeoutSeconds} s (--timeout)`),
    );
  const timer = timeoutSeconds === undefined ? undefined : setTimeout(abort, timeoutSeconds * 1000);
  using progress = new Progress(context, name);
  try {
    return await access.call(name, args, {
      signal: AbortSignal.any([context.signal, timeout.signal]),
      onProgress: context.stderr.isTTY === true ? (params) => progress.report(params) : undefined,
    });
  } catch (error) {
    context.signal.throwIfAborted();
    timeout.signal.throwIfAborted();
    throw isUnknownTool(error) ? await explainUnknownTool(access, name, context.options.home) : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Prints an error result: with its code where the gateway refused the call, with type and place where a composite failed. */
function printToolError(context: CliContext, result: ToolResult, name: string, text: string): void {
  const { output } = context;
  const failure = compositeError(result);
  if (failure !== undefined) {
    printError(output, failure, `${name.split(/__|:/).at(-1)}.star`, "tool error");
    return;
  }
  const code = result._meta?.["toolcrib/code"];
  const label = typeof code === "string" ? `error ${safeLine(code)}` : "tool error";
  const [first = "", ...more] = text.split("\n");
  output.note(`${output.noteStyle(["bold", "red"], label)}: ${first}`, ...wrappedLines(context, more));
  if (typeof code === "string") noteExplanation(output, code, ownCommand(context));
}

/** A sentence, after a dash where it is one of several; JSON, tables and command lines stay as they are. */
const sentence = /^(?:- )?[A-Za-z"][^{}\t]*$/;
const commandLine = /^(?:hint: )?(?:npx )?toolcrib (?!.*[;,])/i;

/** Wraps the sentences of an error on a terminal. */
function wrappedLines(
  { output, stderr }: Pick<CliContext, "output" | "stderr">,
  lines: readonly string[],
): readonly string[] {
  if (!output.isNoteTerminal) return lines;
  const width = stderr.columns || 80;
  return lines.flatMap((line) =>
    sentence.test(line) && !commandLine.test(line) ? wrapProse(line, width) : [line],
  );
}

/** The error of a composite: an object with a type and a message, whose text is nothing but its JSON. */
function compositeError(result: ToolResult): JsonObject | undefined {
  const { structuredContent, _meta } = result;
  const error = isJsonObject(structuredContent) ? structuredContent["error"] : undefined;
  if (!isJsonObject(error) || _meta?.["toolcrib/code"] !== undefined || hasHiddenContent(result))
    return undefined;
  const { type, message } = error;
  const isFailure = typeof type === "string" && /^\w{1,64}$/.test(type) && typeof message === "string";
  return isFailure ? error : undefined;
}

async function printResult(
  context: CliContext,
  result: ToolResult,
  { name, access }: { readonly name: string; readonly access: ToolAccess },
): Promise<void> {
  const { output } = context;
  // The response of a saved tool is printed as `saved run` does. A tool of a server can answer in the same form.
  if (!output.isJson && isResponse(result) && (await access.describe(name))?.namespace === savedNamespace) {
    printResponse(context, result, name);
    return;
  }
  output.json(result);
  const lines = resultLines(result);
  if (result.isError === true) {
    if (!output.isJson) printToolError(context, result, name, safeText(lines.join("\n") || "without text"));
    return;
  }
  // A program gets the unchanged text; for a terminal, control characters are escaped.
  const safe = output.isTerminal ? lines.map(safeText) : lines;
  if (output.isJson) return;
  for (const line of safe) context.stdout.write(line.endsWith("\n") ? line : `${line}\n`);
  if (hasHiddenContent(result)) output.note("The result also has structured content; --json shows it");
}
