/** `toolcrib sandbox run`: runs one program in a sandbox, with the terminal of this command. */

import { randomBytes } from "node:crypto";
import { realpathSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  createEgress,
  type Egress,
  type EgressSource,
  openSandboxExit,
  parseAllowedHost,
} from "@toolcrib/egress";
import { defaultSandboxLimits, exitPort } from "@toolcrib/sandbox";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { runProgram } from "../egress/run-program.ts";
import { type ExitCode, toExitCode } from "../exit-codes.ts";
import { findExecutable } from "../find-executable.ts";
import { logEvent } from "../toolpack/open-toolpack-egress.ts";
import { createSandboxes } from "./create-sandboxes.ts";

/** Options of the command. */
export interface SandboxRunFlags {
  readonly network?: string;
  readonly allow?: readonly string[];
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
  const network = toNetwork(flags);
  const { directory, env, platform, options } = context;
  const program = findExecutable(command, { path: env["PATH"] ?? "", directory, platform });
  if (program === undefined) {
    throw new CliError("CLI_PROGRAM_UNUSABLE", `"${command}" is not found, or is not executable`, {
      hint: "write the path of the program, or add its folder to PATH",
    });
  }
  const complete = (path: string): string => realpathSync(resolve(directory, path));
  const inherited = inheritedNames.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]]));
  await using egress = network === "scoped" ? await openEgress(context) : undefined;
  await using exit = egress && (await openSandboxExit(egress, toSource(flags), exitPort));
  await using prepared = await createSandboxes(context).prepare(
    {
      program: resolve(directory, program),
      args,
      env: { ...Object.fromEntries(inherited), ...exit?.variables },
      directory,
    },
    {
      network,
      files: exit?.files ?? new Map(),
      listeners: exit?.places ?? [],
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
      takeListener: exit?.takeListener,
    },
    context,
  );
  return toExitCode(code);
}

/** @throws {CliError} `CLI_USAGE` */
function toNetwork({ network = "deny", allow = [] }: SandboxRunFlags): "deny" | "scoped" | "allow" {
  if (network !== "deny" && network !== "scoped" && network !== "allow") {
    throw new CliError("CLI_USAGE", `--network must be deny, scoped or allow, but is "${network}"`, {
      hint: "write --network deny",
    });
  }
  const isScoped = network === "scoped";
  if (isScoped !== allow.length > 0) {
    throw new CliError(
      "CLI_USAGE",
      isScoped ? "--network scoped has no host" : "--allow needs --network scoped",
      {
        hint: "write --network scoped --allow api.example.com",
      },
    );
  }
  return network;
}

/** What the program may reach. @throws {CliError} `CLI_USAGE` */
function toSource({ allow = [] }: SandboxRunFlags): EgressSource {
  const hosts = allow.map((entry) => {
    const host = parseAllowedHost(entry);
    if (typeof host !== "string") return host;
    throw new CliError("CLI_USAGE", `--allow ${JSON.stringify(entry)} is no host: ${host}`, {
      hint: "write --allow api.example.com, *.example.com or api.example.com:8443",
    });
  });
  return { id: "process:sandbox", allow: hosts, credentials: [] };
}

/** Opens the egress, with the section `egress` of a configuration that is given with `--config`. */
async function openEgress(context: CliContext): Promise<Egress> {
  const { options } = context;
  const isConfigured = options.configFiles.length > 0;
  const settings = isConfigured ? (await loadCliConfig(context)).config.egress : undefined;
  const logger = createCommandLogger(context, "debug");
  return createEgress(
    {
      internalRanges: settings?.internalRanges ?? [],
      connectTo: settings?.connectTo ?? {},
      caCertificates: settings?.caCertificates ?? [],
    },
    {
      directory: join(options.home, "egress"),
      now: context.now,
      randomBytes,
      onEvent: (event) => logEvent(event, logger),
    },
  );
}
