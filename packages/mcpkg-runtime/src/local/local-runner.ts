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

/** Dependencies of a runner of a `local` endpoint. */
export interface LocalRunnerDeps {
  readonly start: StartProgram;
  /** Runs `work` when there is a place for another program. */
  readonly withPlace: <Value>(context: CallContext, work: () => Promise<Value>) => Promise<Value>;
  /** Most bytes of standard output. */
  readonly outputMaxBytes: number;
  /** Whether a program that ran cannot have changed anything but temporary files that are gone with it. */
  readonly leavesNothing: () => boolean;
}

/** Longest input in bytes that is passed as an argument: systems limit the length of one. @limit program */
const argumentMaxBytes = 64 * 1024;

/** Greatest nesting and number of values of a result. */
const resultLimits = { maxLength: Number.POSITIVE_INFINITY, maxDepth: 64, maxValues: 1_000_000 };

/** Creates the runner of `endpoint`. @param program the program that its command stands for on this machine */
export function createLocalRunner(
  { stdin = false }: Pick<LocalEndpoint, "stdin">,
  program: ProgramStart,
  { start, withPlace, outputMaxBytes, leavesNothing }: LocalRunnerDeps,
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
        const notStarted = startFailureOf(end, program) ?? (leavesNothing() ? loadFailureOf(end) : undefined);
        if (notStarted !== undefined) throw new NotStarted(`${howItEnded(end)}: ${notStarted}`);
        return toResult(end, context, outputMaxBytes);
      }),
  };
}

function howItEnded({ code, endedBy }: ProgramEnd): string {
  return endedBy === undefined ? `it exited with code ${code}` : `it was ended by ${endedBy}`;
}

function toResult(end: ProgramEnd, { callId }: CallContext, outputMaxBytes: number): ToolResult {
  if (end.isTooLarge) {
    return failedResult(unreadable(`it wrote more than ${outputMaxBytes} bytes`), callId);
  }
  if (end.code !== 0) {
    const loading = loadFailureOf(end);
    const reason = loading ?? end.lastStderr;
    const said = reason === undefined ? "" : `: ${reason}`;
    const message = `The program of the package failed: ${howItEnded(end)}${said}`;
    const hint =
      loading === undefined
        ? undefined
        : "the program may have done a part of its work before, so no other implementation runs after it; a package that names its libraries in requirements.packages gets another implementation before anything runs";
    return failedResult(new McpkgRuntimeError("PACKAGE_PROGRAM_FAILED", message, { hint }), callId);
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

/** With these words a sandbox says that the system refused to start the program, and .NET that it has no runtime for it. */
const startMessages = /^bwrap: execvp |You must install or update \.NET/;
/** With these words runtimes say that the script of the command does not exist; they say them of other files, too. */
const scriptMessages = /(?:Cannot find module|can't open file) ['"]/;

/** Returns why not even the first line of the program ran; undefined where it can have run. */
function startFailureOf(
  { code, stdout, stderrLines }: ProgramEnd,
  { args: [script] }: ProgramStart,
): string | undefined {
  if (code === 0 || stdout.length > 0) return undefined;
  const name = script?.replace(/^(?:\.\/)+/, "");
  const isOfScript = (line: string) =>
    name !== undefined && scriptMessages.test(line) && line.includes(`/${name}'`);
  return stderrLines.find((line) => startMessages.test(line) || isOfScript(line))?.trim();
}

/**
 * Returns why the runtime could not load the program or one of its libraries. A program can load a library late, when it
 * has done a part of its work.
 */
function loadFailureOf({ code, stdout, stderrLines, lastStderr }: ProgramEnd): string | undefined {
  if (code === 0 || stdout.length > 0) return undefined;
  const said = stderrLines.filter((one) => loadMessages.test(one));
  // Node shows the line of its own source that threw the error before the error.
  const line = said.find((one) => /^\w*Error\b/.test(one)) ?? said[0];
  if (line !== undefined) return line.trim();
  return loaderCodes.has(code) ? (lastStderr ?? "it could not be loaded") : undefined;
}
