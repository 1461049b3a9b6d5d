/**
 * The command of a local endpoint: a program and its arguments, split at spaces and never given to
 * a shell. The program is a runtime by its name, or a file in the package. Pure.
 */

import { lintPath } from "../package-path.ts";

/** A command after it was split. */
export type Command =
  | { readonly kind: "runtime"; readonly runtime: string; readonly args: readonly string[] }
  /** A program in the package. */
  | { readonly kind: "file"; readonly path: string; readonly args: readonly string[] };

/** Runtimes that packages may name. */
const runtimes = /^(?:node|python|python3|python3\.[0-9]{1,2}|dotnet)$/;

/** Splits a command, or returns the reason why it is none. */
export function parseCommand(text: string): Command | { readonly kind: "invalid"; readonly reason: string } {
  if (/["'`$&|;<>(){}*?~#\\\u0000-\u001f]/.test(text)) {
    const reason =
      "it is split at spaces and given to no shell, so quotes, variables and operators are not read";
    return { kind: "invalid", reason };
  }
  const [program = "", ...args] = text.trim().split(/ +/);
  if (runtimes.test(program)) return { kind: "runtime", runtime: program, args };
  const path = program.replace(/^\.\//, "");
  // Without a slash it would be looked up on the machine.
  if (!program.includes("/") || lintPath(path) !== undefined) {
    const reason = `"${program}" is neither node, python or dotnet nor the path of a file in the package, such as ./bin/tool`;
    return { kind: "invalid", reason };
  }
  return { kind: "file", path, args };
}

/** Returns the paths of files that `command` seems to name, relative to the package. */
export function pathsOfCommand(command: Command): readonly string[] {
  if (command.kind === "file") return [command.path];
  const script = command.args.find((arg) => !arg.startsWith("-"));
  return script === undefined ? [] : [script.replace(/^\.\//, "")];
}
