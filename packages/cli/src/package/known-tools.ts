/**
 * Finds the tools that exist here, as far as they are known without a gateway: by the servers, toolspecs and saved tools of
 * this home and its configuration, and by the packages. Starts nothing. A tool of a server that is there counts as
 * existing: only a call knows what the server has.
 */

import type { GatewayConfig } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import type { InstallPlan } from "@toolcrib/mcpkg-install";
import { savedNamespace } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { openSaved } from "../saved/open-saved.ts";
import { readInstalled } from "./installed-packages.ts";

/** The namespaces and the saved tools that exist here, by their ids. */
export async function knownNamespaces(context: CliContext, plan: InstallPlan): Promise<ReadonlySet<string>> {
  const [configured, saved, { packages }] = await Promise.all([
    configuredIds(context),
    savedIds(context),
    readInstalled(context),
  ]);
  const installed = [...packages, ...plan.packages].map(({ toolId }) => toolId);
  return new Set([...configured, ...saved, ...installed]);
}

/** Whether the tool `id` can exist here. */
export function isKnownTool(id: string, known: ReadonlySet<string>): boolean {
  const at = id.indexOf(":");
  const namespace = id.slice(0, Math.max(at, 0));
  return known.has(id) || (namespace !== savedNamespace && known.has(namespace));
}

/** The settings of packages; undefined without a configuration, or with one that has errors. */
export async function configuredPackages(
  context: CliContext,
): Promise<GatewayConfig["packages"] | undefined> {
  return (await readConfig(context))?.packages;
}

async function configuredIds(context: CliContext): Promise<readonly string[]> {
  const { toolServers = [], toolspecs = [] } = (await readConfig(context)) ?? {};
  return [...toolServers, ...toolspecs].map(({ id }) => id);
}

async function readConfig(context: CliContext): Promise<GatewayConfig | undefined> {
  try {
    return (await loadCliConfig(context)).config;
  } catch (error) {
    // Without a configuration, or with one that has errors, no server is known.
    if (isCodedError(error)) return undefined;
    throw error;
  }
}

async function savedIds(context: CliContext): Promise<readonly string[]> {
  try {
    await using saved = await openSaved(context);
    return (await saved.list()).map(({ name }) => `${savedNamespace}:${name}`);
  } catch (error) {
    if (isCodedError(error)) return [];
    throw error;
  }
}
