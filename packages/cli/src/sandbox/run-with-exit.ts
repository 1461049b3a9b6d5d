/** Runs a program in a sandbox with the terminal of this command, with the exit of a scoped network or without. */

import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import type { ContainedRequest } from "@toolcrib/process";
import { defaultSandboxLimits, type SandboxPolicy } from "@toolcrib/sandbox";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import type { Environment } from "../egress/program-env.ts";
import { runProgram } from "../egress/run-program.ts";
import { type ExitCode, toExitCode } from "../exit-codes.ts";
import { findExecutable } from "../find-executable.ts";
import { createSandboxes } from "./create-sandboxes.ts";

/** The parts of a contained start by which a program finds and uses the exit of its network. */
interface NetworkExit {
  readonly variables: Environment;
  readonly files: NonNullable<SandboxPolicy["files"]>;
  readonly places: NonNullable<SandboxPolicy["listeners"]>;
  readonly takeListener: NonNullable<ContainedRequest["takeListener"]>;
}

/** A program and what it may do. */
export interface SandboxedRun {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables in addition to those that a tool server inherits. */
  readonly env: Environment;
  readonly network: "deny" | "scoped" | "allow";
  /** The exit of a scoped network. */
  readonly exit: NetworkExit | undefined;
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** Variables that the program gets, as a tool server does. */
const inheritedNames = ["PATH", "LANG", "TERM"];

/**
 * Runs the program until it exits.
 *
 * @returns its exit code
 * @throws {CliError} `CLI_PROGRAM_UNUSABLE`
 * @throws {SandboxError} `SANDBOX_UNAVAILABLE`, `SANDBOX_PATH_REFUSED`
 */
export async function runWithExit(context: CliContext, run: SandboxedRun): Promise<ExitCode> {
  const { command, args, network, exit } = run;
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
    {
      program: resolve(directory, program),
      args,
      env: { ...Object.fromEntries(inherited), ...exit?.variables, ...run.env },
      directory,
    },
    {
      network,
      files: exit?.files ?? new Map(),
      listeners: exit?.places ?? [],
      readPaths: run.read.map(complete),
      writePaths: run.write.map(complete),
      home: "temporary",
      hiddenPaths: [options.home],
      limits: defaultSandboxLimits,
    },
  );
  const { request } = prepared;
  const started = { command: request.program, args: request.args, env: request.env };
  const code = await runProgram(
    {
      ...started,
      directory: request.directory,
      descriptors: request.descriptors,
      takeListener: exit?.takeListener,
    },
    context,
  );
  return toExitCode(code);
}
