/**
 * The trial of a server before it is saved: it is fetched in a sandbox, started contained once, in a gateway of its
 * own, and asked for what it offers. Everything that it answers is untrusted.
 */

import type { InspectedDefinition } from "@toolcrib/admission";
import type { GatewayConfig, ToolServerConfig } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import { estimateTokens } from "@toolcrib/discovery";
import type { JsonObject } from "@toolcrib/json";
import { type Health, localIdentity } from "@toolcrib/tool";
import { type ContactedServer, contactServer } from "../adopted/contact-server.ts";
import type { CliContext } from "../cli-context.ts";

/** A definition that a server listed. */
export interface TriedDefinition {
  readonly kind: string;
  readonly name: string;
  /** Estimated tokens of a list with it. */
  readonly tokens: number;
  readonly definition: JsonObject;
  /** As it waits for approval; undefined for one that was accepted before. */
  readonly waiting: InspectedDefinition | undefined;
}

/** A trial in which the server listed what it offers. Disposing it stops the server. */
export interface PassedTrial extends AsyncDisposable {
  readonly kind: "passed";
  readonly server: ToolServerConfig;
  readonly contacted: ContactedServer;
  readonly definitions: readonly TriedDefinition[];
  /** Identifies the definitions that wait, for their approval. */
  readonly digest: string;
  /** Last lines of what it printed. */
  readonly log: readonly string[];
}

/** A trial in which it did not. */
export interface FailedTrial {
  readonly kind: "failed";
  readonly server: ToolServerConfig;
  readonly error: Error;
  readonly reason: string;
  readonly failure: Health["failure"];
  readonly log: readonly string[];
}

/** Most definitions that are looked at. */
const definitionsMaxCount = 2000;

/** Tries the server `id` of `config`. Containment is required, whatever the configuration prefers. */
export async function tryServer(
  context: CliContext,
  { config, files }: { readonly config: GatewayConfig; readonly files: readonly string[] },
  id: string,
): Promise<PassedTrial | FailedTrial> {
  const found = config.toolServers.find((one) => one.id === id) as ToolServerConfig;
  // Whatever its trust state says, nothing is accepted before the operator saw it.
  const server: ToolServerConfig = { ...found, firstContact: "ask" };
  const tried = {
    ...config,
    toolServers: [server],
    sandbox: { ...config.sandbox, mode: "required" as const },
  };
  let contacted: ContactedServer;
  try {
    contacted = await contactServer(context, { config: tried, files, warnings: [] }, id);
  } catch (error) {
    if (!isCodedError(error) || error.code !== "CLI_SERVER_NOT_READY") throw error;
    const { reason, failure, log } = error.data as Pick<FailedTrial, "reason" | "failure" | "log">;
    return { kind: "failed", server, error, reason, failure, log };
  }
  return {
    kind: "passed",
    server,
    contacted,
    definitions: definitionsOf(contacted, id),
    digest: contacted.gateway.approvals.definitions(id).digest,
    log: contacted.gateway.serverLog(id, 60),
    [Symbol.asyncDispose]: () => contacted[Symbol.asyncDispose](),
  };
}

/** Returns the definitions of a server: those that wait for approval, then those that were accepted before. */
export function definitionsOf(contacted: ContactedServer, id: string): readonly TriedDefinition[] {
  const waiting = contacted.gateway.approvals
    .definitions(id)
    .definitions.slice(0, definitionsMaxCount)
    .map((one) => triedOf(one.kind, one.name, one.definition, one));
  return [...waiting, ...acceptedTools(contacted, id)];
}

/** Returns the number of definitions that wait for approval and are not looked at. */
export function uncountedOf({ gateway }: ContactedServer, id: string): number {
  return Math.max(0, gateway.approvals.definitions(id).definitions.length - definitionsMaxCount);
}

/** The tools that were accepted at an earlier time. */
function acceptedTools({ gateway }: ContactedServer, id: string): readonly TriedDefinition[] {
  const identity = localIdentity("cli", "cli");
  return gateway
    .listTools(identity)
    .filter(({ namespace, isOwn }) => namespace === id && !isOwn)
    .slice(0, definitionsMaxCount)
    .flatMap(({ id: toolId }) => {
      const definition = gateway.describe(identity, toolId)?.definition as JsonObject | undefined;
      return definition === undefined
        ? []
        : [triedOf("tool", String(definition["name"]), definition, undefined)];
    });
}

function triedOf(
  kind: string,
  name: string,
  definition: JsonObject,
  waiting: InspectedDefinition | undefined,
): TriedDefinition {
  return { kind, name, tokens: estimateTokens(JSON.stringify(definition)), definition, waiting };
}

/** Whether the server answered that it needs a login with OAuth. */
export function needsLogin({ server, failure }: FailedTrial): boolean {
  const { transport } = server;
  if (transport.kind === "stdio") return false;
  // The server refused what it was given; a login would replace it.
  if (Object.keys(transport.headers).some((name) => name.toLowerCase() === "authorization")) return false;
  return failure?.code === "MCP_UNAUTHORIZED" && failure.status === 401 && failure.usesOAuth === true;
}

/** Variables that look like settings which a server asks for. */
const variablePattern =
  /\b[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){0,6}_(?:KEY|TOKEN|SECRET|PASSWORD|PAT|URL|URI|ENDPOINT|HOST|ID|USER|USERNAME|EMAIL|ACCOUNT|PROJECT|REGION|WORKSPACE|ORG)\b/g;

/** Returns the names of variables that a server printed and does not have, at most eight. They are guesses. */
export function wantedVariables(log: readonly string[], server: ToolServerConfig): readonly string[] {
  const { transport } = server;
  if (transport.kind !== "stdio") return [];
  const text = log.join("\n").slice(0, 20_000);
  const names = new Set([...text.matchAll(variablePattern)].map(([name]) => name));
  return [...names].filter((name) => !Object.hasOwn(transport.env, name)).slice(0, 8);
}
