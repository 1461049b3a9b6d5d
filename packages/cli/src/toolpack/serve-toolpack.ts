/**
 * `toolcrib toolpack`: the standalone toolpack engine of the toolpack document. An
 * MCP server on standard input and output with the tools of one toolspec under
 * their own names, or of several with the name of their service. Requests go through
 * the proxy of the environment, or through its own egress pipeline.
 */

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { formatDiagnostics } from "@toolcrib/diagnostics";
import type { McpService } from "@toolcrib/mcp";
import { createToolpackSource } from "@toolcrib/toolpack";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { serveStdio } from "../serve/serve-stdio.ts";
import { version } from "../version.ts";
import { callOnce } from "./call-once.ts";
import { openToolpackEgress } from "./open-toolpack-egress.ts";
import { readToolpacks, type ServedToolpacks, type ToolpackFlags } from "./read-toolpacks.ts";
import { createToolpackService, type ServedSource } from "./toolpack-service.ts";

/** Options of the command. */
export interface ServeToolpackFlags extends ToolpackFlags {
  /** Name of the one tool to call. */
  readonly call?: string;
}

/** Runs the command. */
export async function serveToolpack(context: CliContext, flags: ServeToolpackFlags): Promise<ExitCode> {
  const { options, output } = context;
  if (options.isJson) {
    throw new CliError("CLI_USAGE", "toolpack cannot be used with --json", {
      hint: "standard output carries the protocol",
    });
  }
  const served = await readToolpacks(flags, context);
  const warnings = served.toolpacks.flatMap((one) => one.warnings);
  if (warnings.length > 0) output.note(formatDiagnostics(warnings), "");
  const logger = createCommandLogger(context, "warn");
  await using resources = new AsyncDisposableStack();
  const sources: ServedSource[] = [];
  for (const { manifest, toolspec, secretNames, variables, reserved } of served.toolpacks) {
    const { isPrefixed } = served;
    const egress = resources.use(
      await openToolpackEgress(context, { manifest, toolspec }, { secretNames, isPrefixed }, logger),
    );
    const source = resources.use(
      createToolpackSource(
        {
          manifest,
          toolspec,
          tools: toolspec.tools.map(({ name }) => name),
          variables,
          reserved,
          tokenOf: egress.tokenOf,
        },
        {
          send: egress.send,
          now: context.now,
          sleep: (ms, signal) => sleep(ms, undefined, { signal }),
          random: Math.random,
          version,
        },
      ),
    );
    sources.push({ source, prefix: isPrefixed ? `${manifest.name}__` : "" });
  }
  const service = createService(context, served, sources);
  if (flags.call !== undefined) return await callOnce(context, service, flags.call);
  await serveStdio(service, context, logger);
  return exitCodes.done;
}

function createService(
  { now }: CliContext,
  { toolpacks, isPrefixed }: ServedToolpacks,
  sources: readonly ServedSource[],
): McpService {
  const [first] = toolpacks;
  const shared = { sources, now, newCallId: randomUUID };
  if (isPrefixed || first === undefined) {
    const lines = toolpacks.map(({ manifest: { name, description } }) =>
      description === undefined ? name : `${name}: ${description}`,
    );
    return createToolpackService({
      ...shared,
      serverInfo: { name: "toolpack", version },
      instructions: lines.join("\n"),
    });
  }
  const { name, displayName, description, version: specVersion } = first.manifest;
  const title = displayName === undefined ? {} : { title: displayName };
  return createToolpackService({
    ...shared,
    serverInfo: { name, version: specVersion, ...title },
    instructions: description,
  });
}
