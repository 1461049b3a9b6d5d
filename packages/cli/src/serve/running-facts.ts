/** Reads what `toolcrib status` shows about a running gateway, over its control socket. */

import type { WaitingApprovals } from "@toolcrib/admission";
import { isCodedError } from "@toolcrib/diagnostics";
import type { GatewayStatus } from "@toolcrib/gateway";
import { isJsonObject } from "@toolcrib/json";
import { changedConfigFiles } from "../access/changed-files.ts";
import { getFromGateway } from "../access/gateway-api.ts";
import type { RunningGateway } from "../access/run-file.ts";
import { waitingInGateways } from "../approve/open-approvals.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { markUnmatched } from "../guards/unmatched-pauses.ts";
import { identitySecrets } from "../secret/identity-secrets.ts";

type OwnSecrets = Awaited<ReturnType<typeof identitySecrets>>;

/** Facts about a running gateway. */
export interface RunningFacts {
  readonly running: RunningGateway;
  /** Other gateways of the home. */
  readonly others: readonly RunningGateway[];
  readonly status: Omit<GatewayStatus, "pauses"> & {
    readonly pauses: Awaited<ReturnType<typeof markUnmatched>>;
  };
  /** Calls that wait for approval. */
  readonly calls: WaitingApprovals["calls"];
  /** Configuration files that changed after the start. */
  readonly changed: readonly string[];
  /** Secrets per identity. */
  readonly ownSecrets: OwnSecrets;
}

/**
 * Reads the facts.
 *
 * @param known facts about the same gateway that were read before: what only the configuration says is taken from them
 * @throws {CliError} `CLI_GATEWAY_UNUSABLE`
 */
export async function readRunning(
  context: CliContext,
  running: RunningGateway,
  others: readonly RunningGateway[],
  known?: RunningFacts,
): Promise<RunningFacts> {
  const answer = await readStatus(context, running);
  // A gateway of an earlier version has no pauses.
  const { pauses: active = [], ...rest } = answer;
  const status = { ...rest, pauses: await markUnmatched(context, active) };
  const { calls } = await waitingIn(running, others, context.signal);
  const changed = changedConfigFiles(running, answer.configuration);
  const isKnown = known?.running.pid === running.pid;
  const ownSecrets = isKnown ? known.ownSecrets : await secretsOfClients(context, running);
  return { running, others, status, calls, changed, ownSecrets };
}

/** Returns the facts as `status --json` prints them. */
export function runningJson({ running, others, status, calls, changed, ownSecrets }: RunningFacts): object {
  return {
    running: true,
    identitySecrets: ownSecrets,
    pid: running.pid,
    configFiles: running.configFiles,
    changedConfigFiles: changed,
    others: others.map(({ pid, url, startedAt, configFiles }) => ({ pid, url, startedAt, configFiles })),
    ...status,
    waitingCalls: calls,
  };
}

async function readStatus({ signal }: CliContext, running: RunningGateway): Promise<GatewayStatus> {
  const answer = await getFromGateway(running, "/api/v1/status", signal);
  if (isJsonObject(answer) && Array.isArray(answer["servers"])) return answer as unknown as GatewayStatus;
  throw new CliError(
    "CLI_GATEWAY_UNUSABLE",
    `The response of the gateway at ${running.url} has an unknown format`,
    { hint: "it may run another version: restart it" },
  );
}

/** Returns the approvals that wait. A gateway of an earlier version has none. */
async function waitingIn(
  running: RunningGateway,
  others: readonly RunningGateway[],
  signal: AbortSignal,
): Promise<Pick<WaitingApprovals, "calls">> {
  try {
    return await waitingInGateways(running, others, signal);
  } catch (error) {
    signal.throwIfAborted();
    if (isCodedError(error)) return { calls: [] };
    throw error;
  }
}

/** The secrets per identity that the running gateway uses; none where its configuration cannot be read from here. */
async function secretsOfClients(context: CliContext, { configFiles }: RunningGateway): Promise<OwnSecrets> {
  const options = { ...context.options, configFiles };
  try {
    const { config } = await loadCliConfig({ ...context, options });
    return await identitySecrets(context, config);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    return [];
  }
}
