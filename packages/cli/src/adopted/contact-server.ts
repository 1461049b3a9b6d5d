/**
 * Starts one adopted server in a gateway of its own: fetches or builds its package,
 * runs it contained, and waits for the tools that it really has.
 */

import { setTimeout as delay } from "node:timers/promises";
import type { ToolServerConfig } from "@toolcrib/config";
import { type Gateway, startGateway } from "@toolcrib/gateway";
import type { SourceStatus } from "@toolcrib/inventory";
import { packagesOf } from "../access/local-tools.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import type { LoadedConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { findExecutable } from "../find-executable.ts";
import { reasonLine } from "../output/output.ts";
import { version } from "../version.ts";

/** Milliseconds for the fetch and the first contact: Go compiles a large server for minutes. */
const contactMaxMs = 2_400_000;
/** Lines of what a server printed that an error carries. */
const logMaxLines = 60;
/** Milliseconds between two questions. */
const pollMs = 100;

/** A server that has listed its tools. Disposing it stops the server. */
export interface ContactedServer extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly status: SourceStatus;
  /** The tools that it really has, sorted. */
  readonly tools: readonly string[];
}

/** Returns the path of the program. @throws {CliError} `CLI_RUNNER_MISSING` where the program that fetches the package is not installed */
export function requireRunner(
  context: CliContext,
  { command, hint }: { readonly command: string; readonly hint: string },
): string {
  const { env, directory, platform } = context;
  const found = findExecutable(command, { path: env["PATH"] ?? "", directory, platform });
  if (found !== undefined) return found;
  throw new CliError("CLI_RUNNER_MISSING", `The server needs ${command}, which is not installed`, { hint });
}

/**
 * Starts the server `id` of `loaded`, and no other.
 *
 * @throws {CliError} `CLI_SERVER_NOT_READY` with its reason
 */
export async function contactServer(
  context: CliContext,
  loaded: LoadedConfig,
  id: string,
): Promise<ContactedServer> {
  const { config, files } = loaded;
  const server = config.toolServers.find((one) => one.id === id) as ToolServerConfig;
  const gateway = await startGateway(
    {
      ...config,
      toolServers: [server],
      toolspecs: [],
      packages: packagesOf(config, id),
      telemetry: undefined,
      search: { ...config.search, embeddings: undefined },
    },
    {
      home: context.options.home,
      env: context.env,
      directory: context.directory,
      wrap: context.wrap,
      logger: createCommandLogger(context, "silent"),
      version,
      configFiles: files,
    },
  );
  try {
    const status = await listedStatus(gateway, id, context);
    return {
      gateway,
      status,
      tools: realTools(server, status),
      [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
    };
  } catch (error) {
    await gateway[Symbol.asyncDispose]();
    throw error;
  }
}

/** Waits until the server is ready, or has failed for another reason than a fetch that goes on. */
async function listedStatus(gateway: Gateway, id: string, context: CliContext): Promise<SourceStatus> {
  const until = context.now() + contactMaxMs;
  for (;;) {
    const status = gateway.sources().servers.find((one) => one.id === id);
    const { state, reason = "", failure } = status?.health ?? {};
    if (status !== undefined && state === "ready") return status;
    const isWaiting = state === "starting" || failure?.code === "PACKAGE_FETCHING";
    if (!isWaiting || context.now() > until) {
      const text = reason === "" ? `it is ${state}` : reasonLine(reason);
      throw new CliError("CLI_SERVER_NOT_READY", `The server ${JSON.stringify(id)} lists no tools: ${text}`, {
        hint: "check what it needs, such as arguments (--server-arg) or variables (--env)",
        data: { reason, failure, log: gateway.serverLog(id, logMaxLines) },
      });
    }
    await delay(pollMs, undefined, { signal: context.signal });
  }
}

function realTools({ adopted }: ToolServerConfig, { manifest }: SourceStatus): readonly string[] {
  const missing = new Set(manifest?.missingTools ?? []);
  const declared = (adopted?.files?.manifest.tools ?? []).map(({ name }) => name);
  return [...declared.filter((name) => !missing.has(name)), ...(manifest?.undeclaredTools ?? [])].sort();
}
