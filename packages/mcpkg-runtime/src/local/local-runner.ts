/**
 * Runs a `local` endpoint (MCPKG document, section 10.3): one process for each call, with the input
 * as JSON in its last argument or on its standard input, and one JSON value on its standard output
 * as the result. Nothing passes through a shell. Where it runs, and what contains it, is decided by
 * the function that starts it.
 */

import { type JsonValue, parseJson } from "@toolcrib/json";
import type { Endpoint } from "@toolcrib/mcpkg";
import { type CallContext, failedResult, type ToolResult, textResult } from "@toolcrib/tool";
import { type EndpointRunner, NotStarted } from "../endpoint-runner.ts";
import { McpkgRuntimeError } from "../runtime-error.ts";
import { decodeOutput } from "./program-output.ts";
import { type ProgramEnd, type ProgramStart, runProgram, type StartProgram } from "./run-program.ts";

/** An endpoint of the type `local`. */
export type LocalEndpoint = Extract<Endpoint, { readonly type: "local" }>;

/** What a runner of a `local` endpoint needs. */
export interface LocalRunnerDeps {
  readonly start: StartProgram;
  /** Runs `work` when there is a place for another program. */
  readonly withPlace: <Value>(context: CallContext, work: () => Promise<Value>) => Promise<Value>;
  /** Most bytes of standard output. */
  readonly outputMaxBytes: number;
}

/** Longest input in bytes that is passed as an argument: systems limit the length of one. */
const argumentMaxBytes = 64 * 1024;

/** Greatest nesting and number of values of a result. */
const resultLimits = { maxLength: Number.POSITIVE_INFINITY, maxDepth: 64, maxValues: 1_000_000 };

/** Creates the runner of `endpoint`. @param program the program that its command stands for on this machine */
export function createLocalRunner(
  { stdin = false }: Pick<LocalEndpoint, "stdin">,
  program: ProgramStart,
  { start, withPlace, outputMaxBytes }: LocalRunnerDeps,
): EndpointRunner {
  return {
    run: (args, context) =>
      withPlace(context, async () => {
        const json = JSON.stringify(args);
        const isOnInput = stdin || Buffer.byteLength(json) > argumentMaxBytes;
        const end = await runProgram(
          start,
          isOnInput ? program : { ...program, args: [...program.args, json] },
          { input: isOnInput ? json : undefined, signal: context.signal, outputMaxBytes },
        );
        return toResult(end, context, outputMaxBytes);
      }),
  };
}

/** @throws {NotStarted} where the runtime of the program could not load it */
function toResult(end: ProgramEnd, { callId }: CallContext, outputMaxBytes: number): ToolResult {
  if (end.isTooLarge) {
    return failedResult(unreadable(`it wrote more than ${outputMaxBytes} bytes`), callId);
  }
  if (end.code !== 0) {
    const how =
      end.endedBy === undefined ? `it exited with code ${end.code}` : `it was ended by ${end.endedBy}`;
    const loading = loadFailureOf(end);
    if (loading !== undefined) throw new NotStarted(`${how}: ${loading}`);
    const said = end.lastStderr === undefined ? "" : `: ${end.lastStderr}`;
    return failedResult(
      new McpkgRuntimeError("PACKAGE_PROGRAM_FAILED", `The program of the package failed: ${how}${said}`),
      callId,
    );
  }
  const text = decodeOutput(end.stdout);
  if (text === undefined) return failedResult(unreadable("its output is not valid UTF-8"), callId);
  if (text.trim() === "") return failedResult(unreadable("it wrote nothing", end.lastStderr), callId);
  let value: JsonValue;
  try {
    value = parseJson(text, resultLimits);
  } catch {
    return failedResult(unreadable("its output is not one JSON value", end.lastStderr), callId);
  }
  return toToolResult(value);
}

/** Returns the result of a program that wrote `value`. */
function toToolResult(value: JsonValue): ToolResult {
  return { ...textResult(JSON.stringify(value)), structuredContent: value };
}

function unreadable(reason: string, lastStderr?: string): McpkgRuntimeError {
  const said = lastStderr === undefined ? "" : `; its standard error ends with: ${lastStderr}`;
  return new McpkgRuntimeError(
    "PACKAGE_RESULT_UNREADABLE",
    `The program of the package has no result: ${reason}${said}`,
    { hint: "a program writes one JSON value to standard output, and messages to standard error" },
  );
}

/** Exit codes by which systems and runtimes say that they did not run the program: of a shell's loader, and of dotnet. */
const loaderCodes: ReadonlySet<number | undefined> = new Set([126, 127, 131, 150]);

/** Messages with which node, python and dotnet say that they could not load the program or a library of it. */
const loadMessages =
  /(?:ModuleNotFoundError|ImportError|ERR_MODULE_NOT_FOUND|Cannot find (?:module|package) |can't open file |You must install or update \.NET|error while loading shared libraries)/;

/**
 * Returns why the runtime could not load the program. A program that was loaded has begun its work, so its failure is
 * the failure of the tool.
 */
function loadFailureOf({ code, stdout, stderrLines, lastStderr }: ProgramEnd): string | undefined {
  if (stdout.length > 0) return undefined;
  const said = stderrLines.filter((one) => loadMessages.test(one));
  // Node shows the line of its own source that threw the error before the error.
  const line = said.find((one) => /^\w*Error\b/.test(one)) ?? said[0];
  if (line !== undefined) return line.trim();
  return loaderCodes.has(code) ? (lastStderr ?? "it could not be loaded") : undefined;
}
