/**
 * Things that stay in the home after entries are removed from the configuration, and nothing else uses: stored secrets,
 * pins, remembered definitions, fetched packages and switches. Removed on request only.
 */

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { digestServer, type GatewayConfig, type ToolServerConfig } from "@toolcrib/config";
import { removeFile } from "@toolcrib/files";
import type { StoredPackage } from "@toolcrib/runners";
import { openSecretStore } from "@toolcrib/secrets";
import { createPinStore, SwitchStore } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { fetchedStore, isStartedBy, namedBy, packageWordsOf } from "../sandbox/fetched-store.ts";
import { storedNames } from "../secret/secret-users.ts";

/** One thing that is left over. */
export interface LeftOver {
  readonly kind: "secret" | "pins" | "definitions" | "fetched package" | "switch";
  readonly name: string;
  /** The words of the command that removes it once the entry is gone; undefined where only `remove --purge` does. */
  readonly command?: readonly string[];
  remove(): Promise<void>;
}

/**
 * Returns what only the entries `ids` of `before` use.
 *
 * @param others the configuration without them, and other configurations of the home
 */
export async function leftOverOf(
  context: CliContext,
  before: GatewayConfig,
  others: readonly GatewayConfig[],
  ids: readonly string[],
): Promise<readonly LeftOver[]> {
  const { home } = context.options;
  const kept = others.flatMap(({ toolServers, toolspecs, disabled }) => [
    ...[...toolServers, ...disabled.toolServers],
    ...[...toolspecs, ...disabled.toolspecs],
  ]);
  const keptServers = others.flatMap(serversOf);
  const free = ids.filter((id) => !kept.some((one) => one.id === id));
  const servers = serversOf(before).filter(({ id }) => ids.includes(id));
  const digests = new Set(keptServers.map(digestServer));
  return [
    ...(await secretsOf(context, before, others)),
    ...(await pinsOf(home, free)),
    ...servers.flatMap((server) => (digests.has(digestServer(server)) ? [] : definitionsOf(home, server))),
    ...(await packagesOf(context, servers, keptServers)),
    ...(await switchesOf(home, free)),
  ];
}

function serversOf({ toolServers, disabled }: GatewayConfig): readonly ToolServerConfig[] {
  return [...toolServers, ...disabled.toolServers];
}

async function secretsOf(
  context: CliContext,
  before: GatewayConfig,
  others: readonly GatewayConfig[],
): Promise<readonly LeftOver[]> {
  const kept = new Set(storedNames(others));
  const names = [...new Set(storedNames(before))].filter((name) => !kept.has(name));
  if (names.length === 0) return [];
  const open = () =>
    openSecretStore({ home: context.options.home, env: context.env }, { now: context.now, randomBytes });
  await using store = await open();
  const stored = (await store.list()).map(({ name }) => name);
  // Those of single clients are named after the shared one.
  return stored
    .filter((name) => names.includes(name.replace(/\.id\.[0-9a-f]{32}$/, "")))
    .map((name) => ({
      kind: "secret",
      name,
      ...(/\.id\.[0-9a-f]{32}$/.test(name) ? {} : { command: ["secret", "rm", name] }),
      async remove() {
        await using own = await open();
        await own.delete(name);
      },
    }));
}

async function pinsOf(home: string, ids: readonly string[]): Promise<readonly LeftOver[]> {
  const left: LeftOver[] = [];
  const open = () => createPinStore(home, { randomBytes });
  await using store = open();
  for (const id of ids) {
    const pins = await store.get(id);
    if (pins === undefined) continue;
    const remove = async () => {
      await using own = open();
      await own.delete(id, pins.version);
    };
    left.push({ kind: "pins", name: id, remove });
  }
  return left;
}

function definitionsOf(home: string, server: ToolServerConfig): readonly LeftOver[] {
  const path = join(home, "definitions", `${digestServer(server)}.json`);
  return existsSync(path) ? [{ kind: "definitions", name: server.id, remove: () => removeFile(path) }] : [];
}

async function packagesOf(
  context: CliContext,
  servers: readonly ToolServerConfig[],
  others: readonly ToolServerConfig[],
): Promise<readonly LeftOver[]> {
  const store = fetchedStore(context);
  return (await fetchedFor(context, servers))
    .filter((one) => !others.some((other) => isStartedBy(one, other)))
    .map((one) => ({
      kind: "fetched package",
      name: one.shown,
      command: ["fetched", "remove", one.key],
      remove: () => store.remove(one),
    }));
}

/** The fetched packages that servers name, in all versions. */
async function fetchedFor(
  context: CliContext,
  servers: readonly ToolServerConfig[],
): Promise<readonly StoredPackage[]> {
  const words = servers.flatMap(packageWordsOf);
  if (words.length === 0) return [];
  return (await fetchedStore(context).list()).filter((one) => namedBy(one, words));
}

/** A fetched package of a removed entry that other entries use. */
export interface KeptPackage {
  readonly name: string;
  /** Ids of the other entries. */
  readonly usedBy: readonly string[];
}

/** Returns the fetched packages of the entries `ids` of `before` that entries of `after` use. */
export async function keptPackagesOf(
  context: CliContext,
  before: GatewayConfig,
  after: GatewayConfig,
  ids: readonly string[],
): Promise<readonly KeptPackage[]> {
  const servers = serversOf(before).filter(({ id }) => ids.includes(id));
  return (await fetchedFor(context, servers)).flatMap((one) => {
    const users = serversOf(after).filter((server) => isStartedBy(one, server));
    return users.length === 0 ? [] : [{ name: one.shown, usedBy: users.map(({ id }) => id) }];
  });
}

async function switchesOf(home: string, ids: readonly string[]): Promise<readonly LeftOver[]> {
  const store = new SwitchStore(home, { randomBytes });
  const own = (await store.list()).filter(({ kind, name }) => kind === "server" && ids.includes(name));
  return own.map(({ kind, name }) => ({
    kind: "switch",
    name,
    remove: () => store.change([], [{ kind, name }]),
  }));
}
