/** `toolcrib call TOOL`: run a tool through the governed call and print what it answers. */

import type { JsonObject } from "@toolcrib/json";
import type { ToolResult } from "@toolcrib/tool";
import { openToolAccess } from "../access/open-tool-access.ts";
import type { ToolAccess } from "../access/tool-access.ts";
import { parseArgumentPairs, parseArguments } from "../call/call-arguments.ts";
import { resultLines } from "../call/print-result.ts";
import { createProgressLine } from "../call/progress-line.ts";
import { CliError } from "../cli-error.ts";
import type { CommandContext } from "../command-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeText } from "../output/output.ts";
import { readStandardInput } from "../standard-input.ts";
import { explainUnknownTool, findTool, isUnknownTool } from "./find-tool.ts";
import { serverOfName } from "./tool-names.ts";

/** Its options. */
export interface CallFlags {
  readonly arg?: readonly string[];
  readonly timeout?: number;
}

/** Run the command. */
export async function callTool(
  context: CommandContext,
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
  // What is wrong with the arguments is told before anything is started.
  const given = await readArguments(context, text);
  parseArgumentPairs(pairs, {});
  await using access = await openToolAccess(context, { onlyServer: (ids) => serverOfName(name, ids) });
  const args =
    pairs.length === 0 ? given : parseArgumentPairs(pairs, (await findTool(access, name)).inputSchema);
  const result = await callWithin(context, access, name, args, flags.timeout);
  printResult(context, result);
  return result.isError === true ? exitCodes.failed : exitCodes.done;
}

async function readArguments({ world }: CommandContext, text: string | undefined): Promise<JsonObject> {
  if (text === undefined) return {};
  return text === "-"
    ? parseArguments(await readStandardInput(world), "<stdin>")
    : parseArguments(text, "<arguments>");
}

async function callWithin(
  { world }: CommandContext,
  access: ToolAccess,
  name: string,
  args: JsonObject,
  timeoutSeconds: number | undefined,
): Promise<ToolResult> {
  const timeout = new AbortController();
  const late = () =>
    timeout.abort(
      new CliError("CLI_TIMEOUT", `"${name}" did not answer within ${timeoutSeconds} s (--timeout)`),
    );
  const timer = timeoutSeconds === undefined ? undefined : setTimeout(late, timeoutSeconds * 1000);
  using progress = createProgressLine(world.stderr);
  try {
    return await access.call(name, args, {
      signal: AbortSignal.any([world.interrupted, timeout.signal]),
      onProgress: progress === undefined ? undefined : (params) => progress.update(params),
    });
  } catch (error) {
    world.interrupted.throwIfAborted();
    timeout.signal.throwIfAborted();
    throw isUnknownTool(error) ? await explainUnknownTool(access, name) : error;
  } finally {
    clearTimeout(timer);
  }
}

function printResult({ output, world }: CommandContext, result: ToolResult): void {
  output.json(result);
  const lines = resultLines(result);
  if (result.isError === true) {
    const label = output.noteStyle(["bold", "red"], "tool error");
    if (!output.isJson) output.note(`${label}: ${safeText(lines.join("\n") || "without a text")}`);
    return;
  }
  // A program gets the bytes as they are; a terminal is not steered by them.
  const safe = output.isTerminal ? lines.map(safeText) : lines;
  if (!output.isJson) for (const line of safe) world.stdout.write(line.endsWith("\n") ? line : `${line}\n`);
}
