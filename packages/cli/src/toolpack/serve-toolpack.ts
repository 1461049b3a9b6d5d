/**
 * `toolcrib toolpack`: the standalone toolpack engine of the toolpack document. An
 * MCP server on standard input and output with the tools of one toolspec under
 * their own names. Requests go through the proxy of the environment, or through
 * its own egress pipeline.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import { createToolpackSource } from "@toolcrib/toolpack";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { readPairs } from "../name-value-pairs.ts";
import { serveStdio } from "../serve/serve-stdio.ts";
import { version } from "../version.ts";
import { openToolpackEgress } from "./open-toolpack-egress.ts";
import { type PairFlags, readPair } from "./read-pair.ts";
import { createToolpackService } from "./toolpack-service.ts";

/** Options of the command. */
export interface ToolpackFlags extends PairFlags {
  readonly secret?: readonly string[];
  readonly variable?: readonly string[];
  readonly reserved?: readonly string[];
}

/** Runs the command. */
export async function serveToolpack(context: CliContext, flags: ToolpackFlags): Promise<ExitCode> {
  const { options, output } = context;
  if (options.isJson) {
    throw new CliError("CLI_USAGE", "toolpack cannot be used with --json", {
      hint: "standard output carries the protocol",
    });
  }
  const { manifest, toolspec, warnings } = await readPair(flags, context);
  if (warnings.length > 0) output.note(formatDiagnostics(warnings), "");
  const logger = createCommandLogger(context, "warn");
  await using egress = await openToolpackEgress(context, { manifest, toolspec }, flags.secret ?? [], logger);
  await using source = createToolpackSource(
    {
      manifest,
      toolspec,
      tools: toolspec.tools.map(({ name }) => name),
      variables: readVariables(flags.variable ?? []),
      reserved: flags.reserved,
      tokenOf: egress.tokenOf,
    },
    {
      send: egress.send,
      now: context.now,
      sleep: (ms, signal) => sleep(ms, undefined, { signal }),
      random: Math.random,
      version,
    },
  );
  const { name, displayName, description, version: specVersion } = manifest;
  const service = createToolpackService({
    serverInfo: { name, version: specVersion, ...(displayName === undefined ? {} : { title: displayName }) },
    instructions: description,
    source,
    now: context.now,
    newCallId: randomUUID,
  });
  await serveStdio(service, context, logger);
  return exitCodes.done;
}

/** @throws {CliError} `CLI_USAGE` */
function readVariables(given: readonly string[]): { readonly [name: string]: string } {
  return readPairs(
    given,
    (text) =>
      new CliError("CLI_USAGE", `--variable ${JSON.stringify(text)} has no value`, {
        hint: "write --variable NAME=VALUE",
      }),
  );
}
