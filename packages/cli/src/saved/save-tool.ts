/** `toolcrib save FILE.star`: saves a composite program as a tool, or reports all its problems. */

import { basename, resolve } from "node:path";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import type { SavedTool } from "@toolcrib/store";
import { openToolAccess } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { readProgram, readProgramFile, standardInput } from "../starlark/program-file.ts";
import { parseArguments } from "../tools/call-arguments.ts";
import { openSaved } from "./open-saved.ts";
import { envelopeOf, exitCodeOfType, printError, printResponse, printWarnings } from "./print-response.ts";

/** Options of the command. */
export interface SaveFlags {
  readonly name?: string;
  readonly description?: string;
  readonly schema?: string;
}

/** Runs the command. */
export async function saveTool(context: CliContext, file: string, flags: SaveFlags): Promise<ExitCode> {
  const { output } = context;
  const name = flags.name ?? (file === standardInput ? undefined : basename(file).replace(/\.[^.]*$/, ""));
  if (name === undefined) throw new CliError("CLI_USAGE", "A program from standard input needs --name NAME");
  const program = await readProgram(file, context);
  const before = await findBefore(context, name);
  const description = flags.description ?? describeByComment(program.text) ?? before?.description;
  if (description === undefined) {
    throw new CliError("CLI_USAGE", `"${name}" has no description`, {
      hint: "add --description TEXT, or start the program with a comment that describes the tool",
    });
  }
  const given = flags.schema === undefined ? undefined : await readSchema(context, flags.schema);
  const inputSchema = given ?? before?.inputSchema ?? { type: "object", properties: {} };
  await using access = await openToolAccess(context);
  const result = await access.call(
    "save_tool",
    { name, description, inputSchema, code: program.text },
    { signal: context.signal },
  );
  const envelope = envelopeOf(result);
  if (envelope === undefined) return printResponse(context, result, program.name);
  output.json(envelope);
  const { error } = envelope;
  if (isJsonObject(error)) {
    if (!output.isJson) printError(output, error, program.name);
    return exitCodeOfType(error["type"]);
  }
  if (!output.isJson) printSaved(context, envelope, program.name);
  return exitCodes.done;
}

/** Returns the existing saved tool, if any. */
async function findBefore(context: CliContext, name: string): Promise<SavedTool | undefined> {
  await using saved = await openSaved(context);
  return saved.get(name);
}

/** Returns the first comment of a program as text. */
function describeByComment(code: string): string | undefined {
  const lines: string[] = [];
  for (const line of code.replace(/^\ufeff/, "").split(/\r?\n/)) {
    const [, text] = /^#+ ?(.*)$/.exec(line) ?? [];
    if (text === undefined) break;
    lines.push(text);
  }
  const description = lines.join("\n").trim();
  return description === "" ? undefined : description;
}

async function readSchema(context: CliContext, file: string): Promise<JsonObject> {
  const { text } = await readProgramFile(resolve(context.directory, file), file);
  return parseArguments(text, file, "--schema");
}

function printSaved({ output, options }: CliContext, saved: JsonObject, program: string): void {
  printWarnings(output, saved["warnings"], program);
  const { name, status, reach, dynamic, needsApproval } = saved;
  const ids = Array.isArray(reach) ? reach.map((id) => safeLine(String(id))) : [];
  const calls = dynamic === true ? [...ids, "any tool"] : ids;
  output.print(
    `${status === "updated" ? "Updated" : "Saved"} ${safeLine(String(name))}; it calls ${calls.length === 0 ? "no tool" : calls.join(", ")}.`,
  );
  if (needsApproval === true) {
    output.print(
      `It calls tools that are not approved yet: toolcrib${options.homeFlag} saved approve ${safeLine(String(name))}`,
    );
  }
}
