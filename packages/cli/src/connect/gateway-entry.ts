/** The entry of this gateway for a client: its address and a token, or the command that serves on standard streams. */

import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { readToken, tokenDirectory } from "@toolcrib/auth";
import type { ClientProgram } from "@toolcrib/clients";
import type { JsonObject } from "@toolcrib/json";
import { findProvenGateways, findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { findConfigFiles } from "../config/find-config-files.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { lastingPath } from "../lasting-path.ts";
import { launcherPath } from "../launcher-path.ts";
import { reachableUrl } from "../serve/reachable-url.ts";
import { writeToken } from "../token/write-token.ts";

/** The entry of a client. */
export interface GatewayEntry {
  readonly entry: JsonObject;
  /** The way in which the client connects, for people. */
  readonly connection: string;
  /** The name of the token that is in the entry; undefined where none is. */
  readonly token: string | undefined;
  /** The address in the entry, where no gateway of the home listens now. */
  readonly awaitedUrl?: string;
}

/** The address of the gateway, and whether clients need a token of its home. */
interface Address {
  readonly url: string;
  readonly needsToken: boolean;
  /** Whether a gateway of the home listens there. */
  readonly isServed: boolean;
}

/**
 * Returns the entry for a client. Creates no token.
 *
 * @param isLocal whether the client starts the gateway although it could connect over HTTP
 */
export async function gatewayEntry(
  context: CliContext,
  program: ClientProgram,
  isLocal: boolean,
): Promise<GatewayEntry> {
  if (isLocal || program.remote === undefined) {
    const { options } = context;
    const files = isLocal ? findConfigFiles(context) : bridgeConfigFiles(context);
    const configs = files.flatMap((file) => ["--config", resolve(context.directory, file)]);
    const words = isLocal ? ["serve", "--stdio"] : ["bridge", "--as", program.id];
    const args = [launcherPath, ...configs, "--home", options.home, ...words];
    const entry = program.local({ command: process.execPath, args, ...variablesFor(context) });
    if (isLocal) return { entry, connection: "starts a gateway on its standard streams", token: undefined };
    // The bridge reads the token itself: the client's file does not contain it.
    const connection = `starts a bridge to the running gateway, with the token "${program.id}"`;
    return { entry, connection, token: program.id };
  }
  const { url, needsToken, isServed } = await addressOf(context);
  const awaited = isServed ? {} : { awaitedUrl: url };
  if (!needsToken) {
    return { entry: program.remote({ url }), connection: `connects to ${url}`, token: undefined, ...awaited };
  }
  const entry = program.remote({ url, token: tokenOf(context, program.id) ?? tokenPlaceholder });
  const connection = `connects to ${url} with the token "${program.id}"`;
  return { entry, connection, token: program.id, ...awaited };
}

/**
 * The variables of a gateway that a client starts, itself or through its bridge. Programs with windows have a PATH of
 * their own on Linux and macOS, without npx, uvx or docker: servers are found where this terminal finds them.
 */
function variablesFor({ env, platform }: CliContext): { readonly env?: { readonly PATH: string } } {
  // On Windows, terminals and programs with windows get the same PATH.
  return platform === "win32" ? {} : { env: { PATH: lastingPath(env) } };
}

/**
 * The configuration of the gateway that a bridge starts where none runs. It is that of the running gateway, which can
 * have been started in another folder: the bridge must come back to the same servers.
 */
function bridgeConfigFiles(context: CliContext): readonly string[] {
  const { configFiles, home } = context.options;
  if (configFiles.length > 0) return configFiles;
  const [running] = findRunningGateways(home);
  if (running === undefined || running.configFiles.length === 0) return findConfigFiles(context);
  return running.configFiles;
}

/** Takes the place of a token that does not exist. */
const tokenPlaceholder = "TOKEN";

/** Creates the token of a client unless it exists. @returns whether it was created @throws as `writeToken` */
export async function ensureToken(context: CliContext, name: string): Promise<boolean> {
  if (existsSync(join(tokenDirectory(context.options.home), name))) return false;
  return (await writeToken(context, name)) !== undefined;
}

/** Whether the home has a token of this name. */
export function hasToken({ options }: CliContext, name: string): boolean {
  return existsSync(join(tokenDirectory(options.home), name));
}

/** Returns the token of a client; undefined where it has none. @throws {AuthError} */
export function tokenOf({ options }: CliContext, name: string): string | undefined {
  return existsSync(join(tokenDirectory(options.home), name)) ? readToken(options.home, name) : undefined;
}

/** The running gateway of the home, else the address in the configuration. */
async function addressOf(context: CliContext): Promise<Address> {
  const [running] = await findProvenGateways(context.options.home);
  if (running !== undefined)
    return { url: `${reachableUrl(running.url)}/mcp`, needsToken: running.auth === "token", isServed: true };
  const { config } = await loadCliConfig(context);
  const { host, port } = config.serve.listen;
  if (port === 0) {
    throw new CliError(
      "CLI_GATEWAY_UNUSABLE",
      "The address of the gateway is not known: serve.listen has port 0",
      {
        hint: "set serve.listen to an address with a port, or start the gateway first; --stdio lets the client start it",
      },
    );
  }
  const needsToken = config.serve.auth === "token";
  const url = reachableUrl(`http://${host.includes(":") ? `[${host}]` : host}:${port}/mcp`);
  return { url, needsToken, isServed: false };
}
