/** `toolcrib sandbox run`: runs one program in a sandbox, with the terminal of this command. */

import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { defaultSandboxLimits } from "@toolcrib/sandbox";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { runProgram } from "../egress/run-program.ts";
import { type ExitCode, toExitCode } from "../exit-codes.ts";
import { findExecutable } from "../find-executable.ts";
import { createSandboxes } from "./create-sandboxes.ts";

/** Options of the command. */
export interface SandboxRunFlags {
  readonly network?: string;
  readonly write?: readonly string[];
  readonly read?: readonly string[];
}

/** Variables that the program gets, as a tool server does. */
const inheritedNames = ["PATH", "LANG", "TERM"];

/** Runs the command. @returns the exit code of the program */
export async function runSandboxed(
  context: CliContext,
  words: readonly string[] | undefined,
  flags: SandboxRunFlags,
): Promise<ExitCode> {
  const [command, ...args] = words ?? [];
  if (command === undefined) {
    throw new CliError("CLI_USAGE", "No program to run", {
      hint: "write the program and its arguments after --",
    });
  }
  const network = flags.network ?? "deny";
  if (network !== "deny" && network !== "allow") {
    throw new CliError("CLI_USAGE", `--network must be deny or allow, but is "${network}"`, {
      hint: "write --network deny",
    });
  }
  const { directory, env, platform, options } = context;
  const program = findExecutable(command, { path: env["PATH"] ?? "", directory, platform });
  if (program === undefined) {
    throw new CliError("CLI_PROGRAM_UNUSABLE", `"${command}" is not found, or is not executable`, {
      hint: "write the path of the program, or add its folder to PATH",
    });
  }
  const complete = (path: string): string => realpathSync(resolve(directory, path));
  const inherited = inheritedNames.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  await using prepared = await createSandboxes(context).prepare(
    { program: resolve(directory, program), args, env: Object.fromEntries(inherited), directory },
    {
      network,
      readPaths: (flags.read ?? []).map(complete),
      writePaths: (flags.write ?? []).map(complete),
      home: "temporary",
      hiddenPaths: [options.home],
      limits: defaultSandboxLimits,
    },
  );
  const code = await runProgram(
    {
      command: prepared.request.program,
      args: prepared.request.args,
      env: prepared.request.env,
      directory: prepared.request.directory,
      descriptors: prepared.request.descriptors,
    },
    context,
  );
  return toExitCode(code);
}
