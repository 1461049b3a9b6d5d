/**
 * Starts one program in a session and group of its own, with pipes for its three
 * standard streams, and explains a failure of the system to start it. Passes
 * no file descriptor on but those of the request.
 */

import { constants } from "node:fs";
import { access, stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import { messageOf } from "@toolcrib/diagnostics";
import type { SpawnedChild } from "./launched-process.ts";
import { interpreterIn, readHeader } from "./limit-marker.ts";
import { ProcessError } from "./process-error.ts";
import { type SpawnRequest, spawnChild } from "./spawn-child.ts";
import { type TakeListener, takeListenerOf } from "./take-listener.ts";

/** @throws {ProcessError} `PROCESS_LAUNCH_INVALID` for an argument with NUL; the message shows its position, not its value. */
export function checkArguments(command: string, args: readonly string[]): void {
  const index = args.findIndex((argument) => argument.includes("\0"));
  if (index !== -1) {
    throw new ProcessError(
      "PROCESS_LAUNCH_INVALID",
      `Cannot launch command "${command}": argument ${index + 1} contains NUL`,
    );
  }
}

/** @throws {ProcessError} `PROCESS_LAUNCH_INVALID` for a relative path, `PROCESS_DIRECTORY_INVALID` for an unusable one. */
export async function checkDirectory(command: string, directory: string): Promise<void> {
  if (!isAbsolute(directory) || directory.includes("\0")) {
    throw new ProcessError(
      "PROCESS_LAUNCH_INVALID",
      `Cannot launch command "${command}": working directory ${JSON.stringify(directory)} is not an absolute path`,
    );
  }
  const problem = await stat(directory).then(
    (status) => (status.isDirectory() ? undefined : "is not a folder"),
    (error: NodeJS.ErrnoException) => (error.code === "ENOENT" ? "does not exist" : error.message),
  );
  if (problem !== undefined) {
    throw new ProcessError(
      "PROCESS_DIRECTORY_INVALID",
      `Cannot launch command "${command}": working directory "${directory}" ${problem}`,
      { hint: "correct cwd, or create the folder" },
    );
  }
}

/** Settings of the start of a program. */
export interface PipedOptions {
  /** The command as its caller names it, for messages. */
  readonly command: string;
  /** Takes the listeners that the program sends over an IPC channel before it begins. @default no channel */
  readonly takeListener?: TakeListener | undefined;
}

/**
 * Spawns the program synchronously, so that the caller can notify the watchdog before anything
 * else happens. `started` rejects when the system refuses.
 *
 * @throws {ProcessError} `PROCESS_SPAWN_FAILED`
 */
export function spawnPiped(
  request: SpawnRequest,
  { command, takeListener }: PipedOptions,
): { child: SpawnedChild; started: Promise<void> } {
  const isWindows = process.platform === "win32";
  let child: SpawnedChild;
  try {
    child = spawnChild(request, {
      // On Windows a detached child leaves the job object that ends it with the gateway.
      detached: !isWindows,
      stdio: ["pipe", "pipe", "pipe", ...(takeListener === undefined ? [] : (["ipc"] as const))],
      windowsHide: true,
    }) as SpawnedChild;
  } catch (error) {
    throw plainFailure(command, error);
  }
  if (takeListener !== undefined) {
    takeListenerOf(child, takeListener);
  }
  const started = new Promise<void>((resolve, reject) => {
    child.once("spawn", () => resolve());
    child.on("error", (error) => explainFailure(request, command, error).then(reject, reject));
  });
  return { child, started };
}

async function explainFailure(request: SpawnRequest, command: string, error: unknown): Promise<ProcessError> {
  const { code } = error as NodeJS.ErrnoException;
  const interpreter =
    code === "ENOENT" || code === "EACCES" ? await interpreterOf(request.program) : undefined;
  return interpreter === undefined
    ? plainFailure(command, error)
    : interpreterFailure(command, interpreter, error);
}

/**
 * Checks a program that a sandbox starts: its failure would be that of the sandbox, which does not say that the
 * interpreter is missing.
 *
 * @throws {ProcessError} `PROCESS_SPAWN_FAILED` where the file in the first line of a script does not exist
 */
export async function checkInterpreter({ program }: SpawnRequest, command: string): Promise<void> {
  const interpreter = await interpreterOf(program);
  if (interpreter === undefined || !isAbsolute(interpreter)) return;
  try {
    await access(interpreter, constants.X_OK);
  } catch (error) {
    throw interpreterFailure(command, interpreter, error);
  }
}

function interpreterFailure(command: string, interpreter: string, cause: unknown): ProcessError {
  return new ProcessError(
    "PROCESS_SPAWN_FAILED",
    `Cannot launch command "${command}": its first line asks for interpreter "${interpreter}", which cannot be run`,
    { hint: "install the interpreter, or set it as command and the script as first of args", cause },
  );
}

const hints: { readonly [code: string]: string } = {
  E2BIG: "args and env together are too long for this system; pass large values in a file",
  EACCES: "the program or the working directory may not be used by this user",
  EAGAIN: "the limit of processes is reached (ulimit -u)",
  EMFILE: "the limit of open files is reached (ulimit -n)",
  ENOEXEC: "the file is not a program for this system",
  ENOMEM: "the machine has too little free memory",
};

function plainFailure(command: string, error: unknown): ProcessError {
  const code = (error as NodeJS.ErrnoException).code;
  const known = code !== undefined && Object.hasOwn(hints, code);
  // The message of the system repeats all arguments, which can contain secrets; its code is enough.
  return new ProcessError(
    "PROCESS_SPAWN_FAILED",
    `Cannot launch command "${command}": the system refused with ${code ?? messageOf(error)}`,
    { hint: known ? hints[code] : undefined, cause: error },
  );
}

/** Returns the interpreter in the `#!` line of a script. */
async function interpreterOf(path: string): Promise<string | undefined> {
  try {
    return interpreterIn(await readHeader(path));
  } catch {
    // An executable file need not be readable; its first line is unknown then.
    return undefined;
  }
}
