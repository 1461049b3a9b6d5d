/**
 * Everything that the policy decides about: tools, resources and prompts of the
 * running gateway, or of a gateway that is started for the command.
 */

import type { GatewayConfig } from "@toolcrib/config";
import { isJsonObject } from "@toolcrib/json";
import type { PolicyTarget } from "@toolcrib/policy";
import { getFromGateway, listTimeoutMs } from "../access/gateway-api.ts";
import { startLocalGateway } from "../access/local-tools.ts";
import { findReachableGateway } from "../access/open-tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";

/** What a question about the policy needs. */
export interface PolicySituation {
  /** The configuration as its files are now. */
  readonly config: GatewayConfig;
  readonly targets: readonly PolicyTarget[];
}

/**
 * Reads the configuration of this run, and asks the running gateway of the home for what it has. Without one, the
 * command starts the servers itself. With `--config`, the targets are still those of the running gateway, so that a
 * changed policy can be compared with what runs.
 *
 * @throws {CodedError} when the gateway or the configuration cannot be used.
 */
export async function openPolicySituation(context: CliContext): Promise<PolicySituation> {
  const running = await findReachableGateway(context.options.home);
  const loaded = await loadCliConfig(withFilesOf(context, running?.configFiles ?? []));
  if (running !== undefined) {
    const answer = await getFromGateway(running, "/api/v1/policy/targets", context.signal, listTimeoutMs);
    const targets = isJsonObject(answer) ? answer["targets"] : undefined;
    if (!Array.isArray(targets)) {
      const message = `The gateway at ${running.url} does not report what its policy decides about`;
      throw new CliError("CLI_GATEWAY_UNUSABLE", message, { hint: "it may run another version: restart it" });
    }
    return { config: loaded.config, targets: targets as unknown as readonly PolicyTarget[] };
  }
  const logger = createCommandLogger(context, "silent");
  await using gateway = await startLocalGateway(context, loaded, logger, undefined);
  return { config: loaded.config, targets: gateway.policyTargets() };
}

/** Returns the context with the configuration of the running gateway, unless `--config` names another one. */
function withFilesOf(context: CliContext, files: readonly string[]): CliContext {
  const { options } = context;
  if (options.configFiles.length > 0 || files.length === 0) return context;
  return { ...context, options: { ...options, configFiles: files } };
}

/** Finds a target by its id or its wire name. */
export function findTarget(targets: readonly PolicyTarget[], name: string): PolicyTarget | undefined {
  return targets.find(({ id, wireName }) => id === name || wireName === name);
}
