/**
 * Opens the approvals of this home for a command: those of the running gateway, or, without one, of a
 * gateway that is started for the command. Decisions are stored in the home either way.
 */

import { randomBytes } from "node:crypto";
import type { PendingCall, WaitingApprovals, WaitingDefinitions } from "@toolcrib/admission";
import { isCodedError } from "@toolcrib/diagnostics";
import type { Gateway, GatewayStatus } from "@toolcrib/gateway";
import type { SourceStatus } from "@toolcrib/inventory";
import { CallApprovals } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";
import { getFromGateway, postToGateway } from "../access/gateway-api.ts";
import { findReachableGateways, installedIds } from "../access/open-tool-access.ts";
import type { RunningGateway } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { reasonLine } from "../output/output.ts";
import { reasonOrStep, startingText } from "../serve/starting-text.ts";
import { requireServer } from "../tools/require-server.ts";
import type { CallApprovalFacts } from "./call-approvals.ts";

/** A decision about a call. */
export type CallDecision = "approve" | "deny";

/** The approvals as the operator uses them. Disposing them stops everything that was started for them. */
export interface ApprovalAccess extends AsyncDisposable {
  waiting(): Promise<WaitingApprovals>;
  /** Returns the servers and packages that are starting, so that what they offer is not known. */
  starting(): Promise<readonly StartingSource[]>;
  /** Returns a call that waits with all of its arguments; undefined when no call with this id waits. */
  call(id: string): Promise<PendingCall | undefined>;
  /** Returns the definitions of a server or package that wait. @throws {CliError} `CLI_SERVER_NOT_FOUND`; `CLI_SERVER_NOT_READY` when none wait because it lists nothing */
  definitions(server: string): Promise<WaitingDefinitions>;
  /** Approves definitions that were shown. @param names @default all @returns the names of those that were approved */
  approve(shown: WaitingDefinitions, names: readonly string[] | undefined): Promise<readonly string[]>;
  /** Returns what decides whether calls need an approval. */
  callFacts(): Promise<CallApprovalFacts>;
  /** Decides about a call. @returns undefined when there is no call with this id to decide about */
  decide(id: string, decision: CallDecision): Promise<DecidedCall | undefined>;
}

/** A call that was decided about. */
export interface DecidedCall {
  /** Id of the tool. */
  readonly tool: string;
  /** Whether a call has used the approval that a denial ended. @default false */
  readonly isUsed?: boolean;
}

/** A source that is starting. */
export interface StartingSource {
  readonly id: string;
  /** Its current action, for people. */
  readonly step: string;
}

/** The start of the ids of calls; no id of a server contains a colon. */
export const callIdStart = "call:";

/**
 * Opens the approvals.
 *
 * @param what the server, the package or the call that the command is about; without a running gateway, only that source is started.
 * @throws {CodedError} when the gateway or the configuration cannot be used.
 */
export async function openApprovals(context: CliContext, what: string | undefined): Promise<ApprovalAccess> {
  const { options } = context;
  const [running, ...others] =
    options.configFiles.length === 0 ? await findReachableGateways(options.home) : [];
  if (running !== undefined) return ofRunning(running, others, context.signal);
  const loaded = await loadCliConfig(context);
  const { toolServers, packages } = loaded.config.disabled;
  if ([...toolServers, ...packages].some(({ id }) => id === what)) throw disabledSource(what ?? "", "server");
  const ids = [...loaded.config.toolServers.map(({ id }) => id), ...(await installedIds(context))];
  if (what !== undefined && !what.startsWith(callIdStart)) requireServer(what, ids, approvable);
  const only = what?.startsWith(callIdStart) === true ? await serverOfCall(context, what) : what;
  const { startLocalGateway } = await import("../access/local-tools.ts");
  const gateway = await startLocalGateway(context, loaded, createCommandLogger(context, "silent"), only);
  return ofLocal(gateway);
}

/** Returns the server of a call that waits; the id itself, which no server has, when no call with it waits. */
async function serverOfCall({ options, now }: CliContext, id: string): Promise<string> {
  const calls = await new CallApprovals(options.home, { now, randomBytes }).pending();
  return calls.find((one) => one.id === id)?.server ?? id;
}

/** @param others further gateways of the home, with the same calls: what one no longer has, another can have */
function ofRunning(
  running: RunningGateway,
  others: readonly RunningGateway[],
  signal: AbortSignal,
): ApprovalAccess {
  const post = (path: string, query: URLSearchParams) => postToGateway(running, `${path}?${query}`, signal);
  return {
    async waiting() {
      return await waitingInGateways(running, others, signal);
    },
    async starting() {
      const status = await getFromGateway(running, "/api/v1/status", signal);
      return startingIn(status as unknown as GatewayStatus);
    },
    async call(id) {
      const path = `/api/v1/approvals/calls?${new URLSearchParams({ id })}`;
      const answer = await getFromGateway(running, path, signal);
      const { call } = answer as { readonly call: PendingCall | null };
      if (call?.outdated === undefined) return call ?? undefined;
      const { calls } = await waitingInGateways(running, others, signal);
      const { outdated, ...whole } = call;
      return calls.find((one) => one.id === id)?.outdated === undefined ? whole : call;
    },
    async definitions(server) {
      const status = await getFromGateway(running, "/api/v1/status", signal);
      const sources = approvableIn(status as unknown as GatewayStatus);
      requireServer(
        server,
        sources.map(({ id }) => id),
        approvable,
      );
      const path = `/api/v1/servers/${encodeURIComponent(server)}/definitions`;
      const waiting = (await getFromGateway(running, path, signal)) as unknown as WaitingDefinitions;
      return requireListed(waiting, sources);
    },
    async approve({ server, digest }, names) {
      const query = new URLSearchParams({ digest });
      for (const name of names ?? []) query.append("tool", name);
      const answer = await post(`/api/v1/servers/${encodeURIComponent(server)}/approve`, query);
      return (answer as { readonly approved: readonly string[] }).approved;
    },
    async callFacts() {
      return (await getFromGateway(running, "/api/v1/policy/targets", signal)) as CallApprovalFacts;
    },
    async decide(id, decision) {
      const path = `/api/v1/approvals/calls/${decision}?${new URLSearchParams({ id })}`;
      const answer = await firstThatAccepts([running, ...others], (one) => postToGateway(one, path, signal));
      return (answer as { readonly call: DecidedCall | null }).call ?? undefined;
    },
    async [Symbol.asyncDispose]() {},
  };
}

/** Returns what waits. A call is outdated when it is so in every gateway of the home. */
export async function waitingInGateways(
  running: RunningGateway,
  others: readonly RunningGateway[],
  signal: AbortSignal,
): Promise<WaitingApprovals> {
  const waitingIn = async (one: RunningGateway) =>
    (await getFromGateway(one, "/api/v1/approvals", signal)) as unknown as WaitingApprovals;
  const waiting = await waitingIn(running);
  if (others.length === 0 || waiting.calls.every(({ outdated }) => outdated === undefined)) return waiting;
  const settled = await Promise.allSettled(others.map(waitingIn));
  signal.throwIfAborted();
  const current = settled
    .flatMap((one) => (one.status === "fulfilled" ? one.value.calls : []))
    .filter(({ outdated }) => outdated === undefined);
  const calls = waiting.calls.map((call) =>
    call.outdated === undefined ? call : (current.find(({ id }) => id === call.id) ?? call),
  );
  return { ...waiting, calls };
}

/** Returns the first answer of a gateway in which the call is not outdated. @throws the refusal of the first one */
async function firstThatAccepts<R>(
  [first, ...others]: readonly RunningGateway[],
  ask: (one: RunningGateway) => Promise<R>,
): Promise<R | undefined> {
  if (first === undefined) return undefined;
  try {
    return await ask(first);
  } catch (error) {
    if (!isCodedError(error) || error.code !== "APPROVAL_OUTDATED" || others.length === 0) throw error;
    return await firstThatAccepts(others, ask).catch(() => {
      throw error;
    });
  }
}

/** A source whose definitions can wait for approval. */
interface ApprovableSource extends Pick<SourceStatus, "id" | "health" | "tools"> {
  readonly kind: "server" | "package";
}

/** The kinds of these sources, for messages. */
const approvable = "tool server or package";

/** Returns the sources whose definitions can wait. A gateway of an earlier version has no packages. */
function approvableIn({
  servers,
  packages = [],
}: Pick<GatewayStatus, "servers"> & Partial<Pick<GatewayStatus, "packages">>): readonly ApprovableSource[] {
  return [
    ...servers.map((one) => ({ ...one, kind: "server" as const })),
    ...packages.map((one) => ({ ...one, kind: "package" as const })),
  ];
}

function startingIn(status: Parameters<typeof approvableIn>[0]): readonly StartingSource[] {
  return approvableIn(status)
    .filter(({ health, tools }) => health.state === "starting" && tools === 0)
    .map(({ id, health }) => ({ id, step: startingText(health) }));
}

/** @throws {CliError} `CLI_SERVER_NOT_READY` */
function requireListed(
  waiting: WaitingDefinitions,
  sources: readonly ApprovableSource[],
): WaitingDefinitions {
  const { kind, health, tools } = sources.find(({ id }) => id === waiting.server) ?? {};
  const isListed = waiting.definitions.length > 0 || tools !== 0;
  if (isListed || health === undefined || health.state === "ready" || health.state === "idle") return waiting;
  if (health.state === "disabled") throw disabledSource(waiting.server, kind ?? "server");
  const why = reasonOrStep(health);
  const reason = why === undefined ? "" : `: ${reasonLine(why)}`;
  throw new CliError(
    "CLI_SERVER_NOT_READY",
    `The tools of "${waiting.server}" are not known: the ${kind} is ${health.state}${reason}`,
    { hint: "try again when it is ready; see toolcrib status" },
  );
}

/** The error about a server that is switched off: nothing of it is known, and nothing of it is used. */
function disabledSource(id: string, kind: ApprovableSource["kind"]): CliError {
  return new CliError(
    "CLI_SERVER_NOT_READY",
    `The ${kind} "${id}" is disabled: it does not run, and none of its tools waits`,
    {
      hint: `toolcrib enable server ${id} starts it; then toolcrib approve ${id} shows its tools`,
    },
  );
}

function ofLocal(gateway: Gateway): ApprovalAccess {
  const { approvals } = gateway;
  const operator = localIdentity("cli", "cli");
  return {
    waiting: () => approvals.waiting(),
    starting: async () => startingIn(gateway.sources()),
    call: (id) => approvals.call(id),
    definitions: async (server) =>
      requireListed(approvals.definitions(server), approvableIn(gateway.sources())),
    approve: ({ server, digest }, names) => approvals.approveDefinitions(server, digest, operator, names),
    callFacts: async () => gateway.policySituation(),
    decide: (id, decision) =>
      approvals.decideCall(id, decision === "approve" ? "approved" : "denied", operator),
    [Symbol.asyncDispose]: () => gateway[Symbol.asyncDispose](),
  };
}
