/** `toolcrib starlark run FILE`: runs a program, and prints its output and its result. */

import { dirname, relative, resolve } from "node:path";
import { formatDiagnostics, type Source } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import {
  compileProgram,
  executeProgram,
  freeze,
  fromStarlark,
  type Json,
  StarlarkError,
  Thread,
  toStarlark,
  type Value,
} from "@toolcrib/starlark";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeText } from "../output/output.ts";
import { readStandardInput } from "../standard-input.ts";
import { parseArgumentPairs, parseArguments } from "../tools/call-arguments.ts";
import { failureJson, failureLines } from "./failure-report.ts";
import { toWritable } from "./json-result.ts";
import { readProgram, standardInput } from "./program-file.ts";
import { createLoad } from "./program-loader.ts";
import {
  type DialectName,
  dialectOf,
  type LimitFlags,
  limitsOf,
  modulesOf,
  programHost,
} from "./program-options.ts";

/** Options of the command. */
export interface RunFlags extends LimitFlags {
  readonly dialect: DialectName;
  readonly param?: readonly string[];
  readonly params?: string;
}

/** Runs the command. */
export async function runProgram(context: CliContext, file: string, flags: RunFlags): Promise<ExitCode> {
  const { output } = context;
  const limits = limitsOf(flags);
  const params = await readParams(context, file, flags);
  const source = await readProgram(file, context);
  const dialect = dialectOf(flags.dialect);
  const modules = modulesOf(flags.dialect);
  const { program, diagnostics } = compileProgram(source, {
    dialect,
    predeclared: [...modules.keys(), "params"],
  });
  if (program === undefined) {
    throw new CliError("CLI_PROGRAM_INVALID", `Cannot run ${source.name}: it has errors`, {
      data: { diagnostics },
    });
  }
  if (diagnostics.length > 0) output.note(formatDiagnostics(diagnostics), "");

  const sources = new Map<string, Source>([[source.name, source]]);
  const predeclared = new Map<string, Value>(modules);
  const path = file === standardInput ? undefined : resolve(context.directory, file);
  const folder = path === undefined ? context.directory : dirname(path);
  const load = createLoad(
    {
      folder,
      folderName: relative(context.directory, folder),
      dialect,
      predeclared,
      onSource: (one) => sources.set(one.name, one),
    },
    path,
  );
  const logs: string[] = [];
  const thread = new Thread(programHost, {
    name: source.name,
    limits,
    nowNs: () => BigInt(context.now()) * 1_000_000n,
    load,
    signal: AbortSignal.any([context.signal, context.outputClosed]),
    print: (line) => {
      if (output.isJson) logs.push(line);
      else context.stdout.write(`${output.isTerminal ? safeText(line) : line}\n`);
    },
  });
  const used = () => ({ logs, steps: thread.steps, memoryBytes: thread.memoryBytes });
  try {
    const given = toStarlark(params as Json, thread);
    freeze(given);
    predeclared.set("params", given);
    const { value } = await executeProgram(thread, program, predeclared);
    const result = fromStarlark(value, thread);
    output.json({ result: toWritable(result), ...used() });
    if (result !== null) printResult(context, result);
    return exitCodes.done;
  } catch (error) {
    context.signal.throwIfAborted();
    if (context.outputClosed.aborted) return exitCodes.done;
    if (!(error instanceof StarlarkError)) throw error;
    output.note(...failureLines(error, sources));
    output.json({ error: failureJson(error), ...used() });
    return exitCodes.failed;
  }
}

function printResult({ output }: CliContext, result: Json): void {
  const text = JSON.stringify(toWritable(result), undefined, 2);
  output.print(output.isTerminal ? safeText(text) : text);
}

/** Returns the value of the global `params`. */
async function readParams(context: CliContext, file: string, flags: RunFlags): Promise<JsonObject> {
  const { params, param = [] } = flags;
  const pairs = parseArgumentPairs(param, {}, "--param");
  if (params === undefined) return pairs;
  if (params !== standardInput) return { ...parseArguments(params, "<params>", "--param"), ...pairs };
  if (file === standardInput) {
    throw new CliError("CLI_USAGE", "Standard input cannot be both the program and its params");
  }
  return { ...parseArguments(await readStandardInput(context), "<stdin>", "--param"), ...pairs };
}
