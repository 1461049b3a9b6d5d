/**
 * `toolcrib login` and `toolcrib logout`: get access to a server for the gateway or for one client,
 * and give it back. They print no token and no code of the authorization server.
 */

import type { GatewayConfig } from "@toolcrib/config";
import { type LoginPrompt, login, logout, type OAuthServer } from "@toolcrib/oauth";
import { runCommand } from "@toolcrib/process";
import type { Identity } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { clientIdentity } from "../policy/client-identity.ts";
import { requireServer } from "../tools/require-server.ts";
import { oauthSettingsOf, openOAuthDeps } from "./oauth-context.ts";

/** Options of `login`. */
interface LoginFlags {
  readonly device?: boolean;
  readonly browser: boolean;
  readonly client?: string;
  readonly scope?: readonly string[];
}

/** Runs `login`. */
export async function loginToServer(context: CliContext, id: string, flags: LoginFlags): Promise<ExitCode> {
  const { output, signal } = context;
  const { config } = await loadCliConfig(context);
  const server = settingsOf(context, config, id);
  const identity = identityOf(config, server, flags.client);
  await using deps = await openOAuthDeps(context, config);
  const opening: Promise<unknown>[] = [];
  const result = await login(server, deps, {
    method: flags.device === true ? "device" : "browser",
    identity,
    scopes: flags.scope,
    signal,
    show(prompt) {
      for (const line of promptLines(prompt)) output.note(line);
      if (prompt.kind === "browser" && flags.browser) opening.push(openBrowser(context, prompt.url));
    },
  });
  const { issuer, scopes, canRefresh, expiresAt } = result;
  const ends = expiresAt === undefined ? undefined : new Date(expiresAt).toISOString();
  output.json({
    server: id,
    client: identity?.name,
    issuer,
    scopes,
    lasts: canRefresh,
    accessTokenEnds: ends,
  });
  const until = canRefresh || ends === undefined ? "" : ` until ${ends}`;
  const scopeText = scopes.length === 0 ? "" : `, with the scopes ${scopes.join(" ")}`;
  output.print(
    `Logged in to ${safeLine(id)}${whose(identity)} at ${safeLine(issuer)}${safeLine(scopeText)}${until}`,
  );
  return exitCodes.done;
}

/** Runs `logout`. */
export async function logoutFromServer(
  context: CliContext,
  id: string,
  { client }: { readonly client?: string },
): Promise<ExitCode> {
  const { output, signal } = context;
  const { config } = await loadCliConfig(context);
  const server = settingsOf(context, config, id);
  const identity = identityOf(config, server, client);
  await using deps = await openOAuthDeps(context, config);
  const { existed, isRevoked, problem } = await logout(server, deps, { identity, signal });
  output.json({ server: id, client: identity?.name, existed, revoked: isRevoked });
  if (!existed) output.print(`Nobody is logged in to ${safeLine(id)}${whose(identity)}`);
  else if (isRevoked) output.print(`Logged out of ${safeLine(id)}${whose(identity)}; its tokens are revoked`);
  else {
    output.print(`Deleted the login to ${safeLine(id)}${whose(identity)}`);
    if (problem !== undefined) output.note(`${output.noteStyle("yellow", "warning")}: ${safeLine(problem)}`);
  }
  return exitCodes.done;
}

/** @throws {CliError} `CLI_SERVER_NOT_FOUND`, `CLI_USAGE` */
function settingsOf(context: CliContext, config: GatewayConfig, id: string): OAuthServer {
  const { toolServers } = config;
  requireServer(
    id,
    toolServers.map((one) => one.id),
  );
  const server = toolServers.find((one) => one.id === id);
  const settings = server && oauthSettingsOf(context, server);
  if (settings !== undefined) return settings;
  throw new CliError("CLI_USAGE", `The server "${id}" does not use OAuth`, {
    hint: "write auth: { type: oauth } in its transport, which must be streamable_http or sse",
  });
}

/** @throws {CliError} `CLI_USAGE` for a client of a server that has one login for all */
function identityOf(
  config: GatewayConfig,
  { id, per }: OAuthServer,
  client: string | undefined,
): Identity | undefined {
  if (client === undefined) return undefined;
  if (per === "identity") return clientIdentity(config, client);
  throw new CliError("CLI_USAGE", `All clients use one login to "${id}"`, {
    hint: "leave out --client, or write per: identity in its auth",
  });
}

function whose(identity: Identity | undefined): string {
  return identity === undefined ? "" : ` as ${safeLine(identity.name)}`;
}

function promptLines(prompt: LoginPrompt): readonly string[] {
  if (prompt.kind === "browser")
    return ["Open this address in a browser on this machine to log in:", `  ${safeLine(prompt.url)}`];
  return [
    "Open this address in a browser, and compare or enter the code:",
    `  ${safeLine(prompt.url)}`,
    `  code: ${safeLine(prompt.code)}`,
  ];
}

/** Milliseconds after which the program that opens the browser is no longer waited for. */
const openTimeoutMs = 5000;

/** Opens a browser if there is one: the program that BROWSER names, or that of the system. The address was printed too. */
async function openBrowser({ env, platform }: CliContext, url: string): Promise<void> {
  const named = env["BROWSER"] ?? "";
  const system =
    platform === "darwin"
      ? ["open"]
      : platform === "win32"
        ? ["rundll32", "url.dll,FileProtocolHandler"]
        : ["xdg-open"];
  const [program = "", ...args] = named === "" ? system : [named];
  const variables = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  await runCommand(
    { program, args: [...args, url], env: Object.fromEntries(variables) },
    { timeoutMs: openTimeoutMs, outputMaxBytes: 64 * 1024 },
  );
}
