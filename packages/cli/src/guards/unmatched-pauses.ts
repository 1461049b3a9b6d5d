/**
 * Finds pauses that match nothing known, which are most often misspelled: such a pause stops nothing while its operator
 * believes that it does. What exists is known from the running gateways of the home, or, without one, from the
 * configuration. Only reads. A new pause of a server or of one tool that does not exist is taken back. A client or a pattern
 * is only marked: an identity provider can have the client, and a pattern is also for what comes. Where the names are
 * not known, nothing is taken back and nothing is said.
 */

import type { PolicyConfig } from "@toolcrib/config";
import { isCodedError, nearestName } from "@toolcrib/diagnostics";
import type { GatewayStatus } from "@toolcrib/gateway";
import { PauseSet, type PauseTarget } from "@toolcrib/guards";
import { findUnmatchedRules, type PolicyTarget } from "@toolcrib/policy";
import { localIdentity } from "@toolcrib/tool";
import { getFromGateway } from "../access/gateway-api.ts";
import { findReachableGateways, installedIds, missingOf } from "../access/open-tool-access.ts";
import { statesOf } from "../access/server-states.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { knownClients } from "../policy/client-identity.ts";
import { entriesOf } from "../switches/config-entries.ts";

/** The names that pauses can have. */
interface Known {
  /** Servers and toolspecs. */
  readonly sources: readonly string[];
  /** Those whose tools are not known, or not all of them. */
  readonly unlisted: ReadonlySet<string>;
  readonly targets: readonly Pick<PolicyTarget, "id" | "wireName" | "server">[];
  readonly clients: readonly string[];
}

/** Namespaces of Toolcrib's own tools and of saved tools. */
const ownNamespaces = ["toolcrib", "saved"] as const;

/** Returns the pauses, each that matches nothing known with a `warning` that says why. Rejects only when the command is interrupted. */
export async function markUnmatched<P extends PauseTarget>(
  context: CliContext,
  pauses: readonly P[],
): Promise<readonly (P & { readonly warning?: string })[]> {
  if (pauses.every(({ kind }) => kind === "all")) return pauses;
  const known = await findKnown(context);
  if (known === undefined) return pauses;
  return pauses.map((pause) => {
    const warning = problemOf(pause, known);
    return warning === undefined ? pause : { ...pause, warning };
  });
}

/** Why a new pause matches nothing. */
export interface UnmatchedPause {
  readonly warning: string;
  /** The error `CLI_SERVER_NOT_FOUND` or `CLI_TOOL_NOT_FOUND`, for a server or one tool that does not exist. */
  readonly refusal: CliError | undefined;
}

/** Returns why a new pause matches nothing; undefined where it does, or where that is not known. Rejects only when the command is interrupted. */
export async function findUnmatched(
  context: CliContext,
  { kind, name }: PauseTarget,
): Promise<UnmatchedPause | undefined> {
  if (kind === "all") return undefined;
  const known = await findKnown(context);
  const warning = known === undefined ? undefined : problemOf({ kind, name }, known);
  if (known === undefined || warning === undefined) return undefined;
  if (kind !== "server" && (kind !== "tool" || /[*?]/.test(name))) return { warning, refusal: undefined };
  const [reason = warning, near] = warning.split("; ");
  const code = kind === "server" ? "CLI_SERVER_NOT_FOUND" : "CLI_TOOL_NOT_FOUND";
  const list =
    kind === "tool"
      ? "toolcrib list shows the names"
      : known.sources.length === 0
        ? "there is no server; toolcrib import and toolcrib add bring some"
        : `the ids are ${known.sources.slice(0, 20).join(", ")}`;
  const refusal = new CliError(code, `Nothing was paused: ${reason}`, { hint: near ?? list });
  return { warning, refusal };
}

function problemOf({ kind, name }: PauseTarget, known: Known): string | undefined {
  switch (kind) {
    case "all":
      return undefined;
    case "server":
      return unlessKnown(name, namespacesOf(known), `no server is called "${name}"`);
    case "tool":
      return toolProblem(name, known);
    case "client":
      return unlessKnown(
        name,
        known.clients,
        `no client is called "${name}", it has no token and no entry in policy.clients`,
      );
  }
}

function unlessKnown(name: string, known: readonly string[], reason: string): string | undefined {
  return known.includes(name) ? undefined : withHint(reason, suggestion(nearestName(name, known)));
}

function suggestion(near: string | undefined): string | undefined {
  return near === undefined ? undefined : `did you mean "${near}"?`;
}

function withHint(reason: string, hint: string | undefined): string {
  return hint === undefined ? reason : `${reason}; ${hint}`;
}

function toolProblem(name: string, known: Known): string | undefined {
  const { targets, unlisted } = known;
  const pause = { kind: "tool", name, pausedBy: operator, pausedAt: 0 } as const;
  const set = new PauseSet([pause]);
  const isStopped = ({ id, wireName, server }: Known["targets"][number]) =>
    set.find({ id, wireName, server: server.id, identity: operator }, 0) !== undefined;
  if (targets.some(isStopped)) return undefined;
  const namespaces = namespacesOf(known);
  const byNamespace = Map.groupBy(targets, ({ id }) => id.slice(0, id.indexOf(":")));
  const namesIn = (namespace: string) =>
    unlisted.has(namespace) ? undefined : (byNamespace.get(namespace) ?? []);
  const [finding] = findUnmatchedRules([name], { namespaces, namesIn });
  // A pattern for all namespaces is a precaution in a rule, and stops nothing in a pause.
  const isForAll = /^[^:_]*[*?]/.test(name) && unlisted.size === 0 && !/^[^:]*:resources\//.test(name);
  if (finding === undefined && !isForAll) return undefined;
  return withHint(`no tool, resource or prompt matches "${name}"`, finding?.hint);
}

function namespacesOf({ sources, targets }: Known): readonly string[] {
  const ofTargets = targets.map(({ id }) => id.slice(0, id.indexOf(":")));
  return [...new Set([...sources, ...ofTargets, ...ownNamespaces])];
}

const operator = localIdentity("cli", "cli");

/** Returns what the gateways of the home have, or what the configuration has; undefined where neither can be read. */
async function findKnown(context: CliContext): Promise<Known | undefined> {
  try {
    const running = await findReachableGateways(context.options.home);
    if (running.length === 0) return await configured(context);
    const all = await Promise.all(running.map((one) => inGateway(context, one)));
    return {
      sources: all.flatMap(({ sources }) => sources),
      unlisted: new Set(all.flatMap(({ unlisted }) => [...unlisted])),
      targets: all.flatMap(({ targets }) => targets),
      clients: all.flatMap(({ clients }) => clients),
    };
  } catch (error) {
    context.signal.throwIfAborted();
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

async function inGateway(context: CliContext, running: Parameters<typeof getFromGateway>[0]): Promise<Known> {
  const [status, situation] = (await Promise.all([
    getFromGateway(running, "/api/v1/status", context.signal),
    getFromGateway(running, "/api/v1/policy/targets", context.signal),
  ])) as unknown as [GatewayStatus, Partial<{ targets: PolicyTarget[]; policy: PolicyConfig }>];
  const { servers, toolspecs = [], packages = [], waiting = [], quarantined } = status;
  const states = statesOf({ servers, toolspecs, packages });
  const sources = states.map(({ id }) => id);
  const unlisted = [
    ...missingOf(states).map(({ id }) => id),
    ...waiting.map(({ server }) => server),
    ...quarantined.map(({ id }) => id.split(":")[0] ?? id),
    // A gateway of an earlier version does not list them.
    ...(situation.targets === undefined ? sources : []),
  ];
  const { targets = [], policy } = situation;
  return { sources, unlisted: new Set(unlisted), targets, clients: clientsOf(context, policy) };
}

async function configured(context: CliContext): Promise<Known> {
  const { config } = await loadCliConfig(context);
  const entries = [...entriesOf(config), ...config.disabled.packages];
  const sources = [...entries.map(({ id }) => id), ...(await installedIds(context))];
  const unlisted = new Set([...sources, ...ownNamespaces]);
  return { sources, unlisted, targets: [], clients: clientsOf(context, config.policy) };
}

/** Returns the names and subjects of clients. */
function clientsOf(context: CliContext, policy: Pick<PolicyConfig, "clients"> | undefined): string[] {
  const clients = policy?.clients ?? {};
  const subjects = Object.values(clients).flatMap(({ identity }) => identity?.subject ?? []);
  return [...knownClients(context, { policy: { clients } }), ...subjects];
}
