/**
 * Finds the program of a command before anything is started, so that the error
 * for a wrong configuration is precise. A path is resolved against the working
 * directory of the launch. A bare name is looked up in the PATH that the process
 * will get; relative entries of PATH are skipped.
 *
 * Never uses a shell, and never guesses: a similar name is only suggested.
 */

import { constants } from "node:fs";
import { access, readdir, stat } from "node:fs/promises";
import { isAbsolute, join, resolve } from "node:path";
import { nearestName } from "@toolcrib/diagnostics";
import type { Env } from "./child-env.ts";
import { ProcessError } from "./process-error.ts";

/** The place where a command is looked up. */
export interface CommandPlace {
  /** Working directory of the process, absolute. */
  readonly directory: string;
  /** Environment of the process. */
  readonly env: Env;
  readonly platform: NodeJS.Platform;
}

type FileState = "executable" | "forbidden" | "folder" | "absent";

/** Names that are read from the folders of PATH for a suggestion. */
const namesMaxCount = 20_000;

/** The products that provide commands which configurations often name and machines often lack. */
const providers: { readonly [command: string]: string } = {
  node: "Node.js (https://nodejs.org)",
  npx: "Node.js (https://nodejs.org)",
  npm: "Node.js (https://nodejs.org)",
  uv: "uv (https://docs.astral.sh/uv)",
  uvx: "uv (https://docs.astral.sh/uv)",
  bunx: "Bun (https://bun.sh)",
  deno: "Deno (https://deno.com)",
  docker: "Docker (https://docs.docker.com/get-docker)",
  python: 'Python (https://www.python.org); the command may be "python3" here',
};

/**
 * Returns the absolute path of the program of `command`.
 *
 * @throws {ProcessError} `PROCESS_COMMAND_NOT_FOUND`, `PROCESS_COMMAND_NOT_EXECUTABLE`
 *   or `PROCESS_LAUNCH_INVALID`.
 */
export async function resolveCommand(command: string, place: CommandPlace): Promise<string> {
  if (command.trim() === "" || command.includes("\0")) {
    throw new ProcessError(
      "PROCESS_LAUNCH_INVALID",
      `Cannot launch command ${JSON.stringify(command)}: a command is not empty and has no NUL`,
    );
  }
  const isPath = place.platform === "win32" ? /[\\/]/.test(command) : command.includes("/");
  const found = isPath ? await resolvePath(command, place) : await findInPath(command, place);
  if (place.platform === "win32" && /\.(cmd|bat)$/i.test(found)) {
    throw new ProcessError(
      "PROCESS_COMMAND_NOT_EXECUTABLE",
      `Cannot launch command "${command}": "${found}" is a batch file, and only programs are launched`,
      { hint: `set command: "cmd" and put "/c", "${command}" in front of args` },
    );
  }
  return found;
}

async function resolvePath(command: string, place: CommandPlace): Promise<string> {
  const path = resolve(place.directory, command);
  for (const candidate of withExtensions(path, place)) {
    const state = await checkFile(candidate);
    if (state === "executable") return candidate;
    if (state !== "absent") throw notExecutable(command, candidate, state);
  }
  const shown = isAbsolute(command) ? "" : ` (looked for "${path}")`;
  throw new ProcessError(
    "PROCESS_COMMAND_NOT_FOUND",
    `Cannot launch command "${command}": the file does not exist${shown}`,
    {
      hint: await splitHint(command, place),
    },
  );
}

async function findInPath(command: string, place: CommandPlace): Promise<string> {
  let refused: { readonly path: string; readonly state: FileState } | undefined;
  const folders = foldersOf(place);
  for (const folder of folders) {
    for (const candidate of withExtensions(join(folder, command), place)) {
      const state = await checkFile(candidate);
      if (state === "executable") return candidate;
      if (state === "forbidden") refused ??= { path: candidate, state };
    }
  }
  if (refused !== undefined) throw notExecutable(command, refused.path, refused.state);
  throw new ProcessError(
    "PROCESS_COMMAND_NOT_FOUND",
    `Cannot launch command "${command}": not found in PATH`,
    { hint: await missingHint(command, folders, place), data: { folders } },
  );
}

async function checkFile(path: string): Promise<FileState> {
  try {
    const status = await stat(path);
    if (!status.isFile()) return status.isDirectory() ? "folder" : "forbidden";
    await access(path, constants.X_OK);
    return "executable";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? "absent" : "forbidden";
  }
}

function notExecutable(command: string, path: string, state: FileState): ProcessError {
  const reason = state === "folder" ? "is a folder" : "is not executable by this user";
  const hint = state === "folder" ? "name the program inside it" : `run: chmod +x '${path}'`;
  return new ProcessError(
    "PROCESS_COMMAND_NOT_EXECUTABLE",
    `Cannot launch command "${command}": "${path}" ${reason}`,
    {
      hint,
    },
  );
}

async function missingHint(
  command: string,
  folders: readonly string[],
  place: CommandPlace,
): Promise<string | undefined> {
  const split = await splitHint(command, place);
  if (split !== undefined) return split;
  const provider = Object.hasOwn(providers, command) ? providers[command] : undefined;
  if (provider !== undefined) return `install ${provider}, or give the absolute path of "${command}"`;
  const nearest = nearestName(command, await namesIn(folders));
  const suggestion = nearest === undefined ? "" : `did you mean "${nearest}"? Otherwise `;
  return `${suggestion}give the absolute path of "${command}", or add its folder to PATH in env`;
}

/** Returns a hint for the most common mistake: a command line with arguments instead of a command. */
async function splitHint(command: string, place: CommandPlace): Promise<string | undefined> {
  const [program, ...args] = command.trim().split(/\s+/);
  if (program === undefined || args.length === 0) return undefined;
  try {
    await resolveCommand(program, place);
  } catch (error) {
    if (error instanceof ProcessError) return undefined;
    throw error;
  }
  return `put arguments into args: command: ${JSON.stringify(program)}, args: ${JSON.stringify(args)}`;
}

async function namesIn(folders: readonly string[]): Promise<Set<string>> {
  const names = new Set<string>();
  for (const folder of folders) {
    // A folder of PATH that does not exist or is not readable has no names to suggest.
    for (const name of await readdir(folder).catch(() => [])) {
      if (names.size >= namesMaxCount) return names;
      names.add(name);
    }
  }
  return names;
}

function separatorOf({ platform }: CommandPlace): string {
  return platform === "win32" ? ";" : ":";
}

function foldersOf(place: CommandPlace): string[] {
  return (variable(place, "PATH") ?? "").split(separatorOf(place)).filter((folder) => isAbsolute(folder));
}

function withExtensions(path: string, place: CommandPlace): string[] {
  if (place.platform !== "win32") return [path];
  const extensions = (variable(place, "PATHEXT") ?? ".COM;.EXE;.BAT;.CMD").split(";").filter(Boolean);
  const has = extensions.some((extension) => path.toLowerCase().endsWith(extension.toLowerCase()));
  return has ? [path] : [path, ...extensions.map((extension) => path + extension)];
}

function variable({ env, platform }: CommandPlace, name: string): string | undefined {
  if (platform !== "win32") return env[name];
  return Object.entries(env).find(([key]) => key.toUpperCase() === name)?.[1];
}
