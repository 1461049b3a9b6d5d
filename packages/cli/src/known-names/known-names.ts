/**
 * Names that a command line can contain, from the running gateway or from files of the home and the configuration.
 * Reads only; starts nothing.
 */

import { closeSync, fstatSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";
import { isJsonObject } from "@toolcrib/json";
import { getFromGateway } from "../access/gateway-api.ts";
import { findRunningGateways, type RunningGateway } from "../access/run-file.ts";
import type { NameKind } from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { cachedNames } from "./name-cache.ts";

/** Returns the names of `kind`. May reject. */
export function namesOfKind(context: CliContext, kind: NameKind): Promise<readonly string[]> {
  return sources[kind](context);
}

const sources: { readonly [Kind in NameKind]: (context: CliContext) => Promise<readonly string[]> } = {
  server: serverNames,
  tool: toolNames,
  disabledTool: disabledTools,
  source: async (context) => [...(await serverNames(context)), ...(await packageNames(context))],
  package: packageNames,
  profile: (context) =>
    cachedNames(context, "profile", async () => Object.keys((await configOf(context)).profiles)),
  client: (context) => cachedNames(context, "client", () => clientNames(context)),
  program: async () => (await import("@toolcrib/clients")).clientPrograms.map(({ id }) => id),
  saved: async ({ options }) => namesIn(join(options.home, "tools")),
  token: async ({ options }) => namesIn(join(options.home, "tokens")),
  secret: secretNames,
  call: async ({ options }) => recentCalls(options.home),
  code: async () => Object.keys((await import("../explain/meanings.ts")).meanings),
};

/** The running gateway, unless the command line names a configuration. */
function gatewayOf({ options }: CliContext): RunningGateway | undefined {
  return options.configFiles.length > 0 ? undefined : findRunningGateways(options.home)[0];
}

async function serverNames(context: CliContext): Promise<readonly string[]> {
  const running = gatewayOf(context);
  if (running !== undefined) {
    const status = await getFromGateway(running, "/api/v1/status", context.signal);
    if (!isJsonObject(status)) return [];
    return [...fieldsOf(status["servers"], "id"), ...fieldsOf(status["toolspecs"], "id")];
  }
  return await cachedNames(context, "server", async () => {
    const { entriesOf } = await import("../switches/config-entries.ts");
    return entriesOf(await configOf(context)).map(({ id }) => id);
  });
}

async function toolNames(context: CliContext): Promise<readonly string[]> {
  const running = gatewayOf(context);
  if (running !== undefined) {
    const answer = await getFromGateway(running, "/api/v1/tools", context.signal);
    return fieldsOf(answer, "wireName");
  }
  return await cachedNames(context, "tool", () => rememberedNames(context));
}

async function rememberedNames(context: CliContext): Promise<readonly string[]> {
  const { toolServers, toolspecs } = await configOf(context);
  const { rememberedTools } = await import("./remembered-tools.ts");
  const { toWireName } = await import("@toolcrib/inventory");
  const remembered = await rememberedTools(context.options.home, toolServers);
  const described = toolspecs.flatMap(({ id, pair }) =>
    (pair?.toolspec.tools ?? []).map((tool) => toWireName(id, tool.name)),
  );
  return [...[...remembered.values()].flat().map(({ wireName }) => wireName), ...described];
}

async function disabledTools({ options }: CliContext): Promise<readonly string[]> {
  const { readSwitches } = await import("../switches/read-switches.ts");
  return (await readSwitches(options.home)).tools;
}

async function packageNames(context: CliContext): Promise<readonly string[]> {
  const { installedIds } = await import("../access/open-tool-access.ts");
  return await installedIds(context);
}

async function clientNames(context: CliContext): Promise<readonly string[]> {
  const { knownClients } = await import("../policy/client-identity.ts");
  return knownClients(context, await configOf(context));
}

async function secretNames({ options, env, now }: CliContext): Promise<readonly string[]> {
  const { openSecretStore } = await import("@toolcrib/secrets");
  const { randomBytes } = await import("node:crypto");
  await using store = await openSecretStore({ home: options.home, env }, { now, randomBytes });
  return (await store.list()).map(({ name }) => name);
}

async function configOf(context: CliContext) {
  const { loadCliConfig } = await import("../config/load-cli-config.ts");
  return (await loadCliConfig(context)).config;
}

/** The text field `name` of each entry of a list. */
function fieldsOf(list: unknown, name: string): readonly string[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one) => {
    const value: unknown = isJsonObject(one) ? one[name] : undefined;
    return typeof value === "string" ? [value] : [];
  });
}

/** Names of files and folders, without extensions. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => /^\w/.test(name) && !name.endsWith(".tmp"))
      .map((name) => name.replace(/\.(?:json|star)$/, ""));
  } catch {
    return [];
  }
}

/** Bytes at the end of the newest segment that are searched for calls. */
const trailBytes = 64 * 1024;
/** Calls that are offered, the last one first. */
const maxCalls = 30;

/** Ids of the last calls on the audit trail. */
function recentCalls(home: string): readonly string[] {
  const folder = join(home, "audit");
  const newest = namesIn(folder).length === 0 ? undefined : readdirSync(folder).sort().at(-1);
  if (newest === undefined) return [];
  const descriptor = openSync(join(folder, newest), "r");
  try {
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, trailBytes));
    readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    const ids = [...bytes.toString("utf8").matchAll(/"callId":"([^"\\]{1,100})"/g)].map(([, id = ""]) => id);
    return [...new Set(ids.reverse())].slice(0, maxCalls);
  } finally {
    closeSync(descriptor);
  }
}
