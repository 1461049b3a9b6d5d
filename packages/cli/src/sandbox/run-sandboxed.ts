/** `toolcrib sandbox run`: runs one program in a sandbox, with the terminal of this command. */

import { randomBytes } from "node:crypto";
import { join } from "node:path";
import {
  createEgress,
  type Egress,
  type EgressSource,
  openSandboxExit,
  parseAllowedHost,
} from "@toolcrib/egress";
import { exitPort } from "@toolcrib/sandbox";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import type { ExitCode } from "../exit-codes.ts";
import { logEvent } from "../toolpack/open-own-egress.ts";
import { runWithExit } from "./run-with-exit.ts";

/** Options of the command. */
export interface SandboxRunFlags {
  readonly network?: string;
  readonly allow?: readonly string[];
  readonly write?: readonly string[];
  readonly read?: readonly string[];
}

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
  await using egress = network === "scoped" ? await openEgress(context) : undefined;
  await using exit = egress && (await openSandboxExit(egress, toSource(flags), exitPort));
  const { read = [], write = [] } = flags;
  return await runWithExit(context, { command, args, env: {}, network, exit, read, write });
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

/** Returns the hosts that the program may reach. @throws {CliError} `CLI_USAGE` */
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
