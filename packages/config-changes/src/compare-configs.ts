/**
 * Two configurations compared, for a gateway that runs with the first and is to run with the second: what changed, by
 * paths, what of it applies only after a restart, and the configuration that can be in force without one. Values are
 * compared as they are written, credentials included; of them, only hosts and paths that a server gained are returned.
 * Places in files do not count. Pure.
 */

import type { GatewayConfig, ToolServerConfig } from "@toolcrib/config";
import { type LoosenedServer, loosenedServers } from "./loosened-containment.ts";

type ToolspecConfig = GatewayConfig["toolspecs"][number];

/** The ways in which a running gateway can apply a changed configuration. */
export interface ConfigChange {
  /** The new configuration, with the present settings wherever a restart is needed. */
  readonly config: GatewayConfig;
  /** Paths that differ, such as `tool_servers.github` or `policy.deny`, without those of `needsRestart`. */
  readonly applied: readonly string[];
  /** Paths that differ and that need a restart. */
  readonly needsRestart: readonly string[];
  /** Servers whose containment allows more than before. Their paths are among `applied`. */
  readonly loosened: readonly LoosenedServer[];
}

/** Every section: the name in the file of one that is read when a gateway starts, or `live`. */
const sections = {
  toolServers: "live",
  toolspecs: "live",
  packages: "live",
  egress: { fixed: "egress" },
  policy: "live",
  guards: "live",
  hooks: "live",
  serve: "live",
  profiles: "live",
  toolOverrides: "live",
  audit: { fixed: "audit" },
  telemetry: { fixed: "telemetry" },
  tests: { fixed: "tests" },
  search: { fixed: "search" },
  execution: { fixed: "execution" },
  sandbox: { fixed: "sandbox" },
  registries: "live",
  dataLabels: "live",
  disabled: "live",
} as const satisfies { readonly [Key in keyof Required<GatewayConfig>]: "live" | { readonly fixed: string } };

/** Every setting of `serve`: its name in the file, and whether it is read when a gateway starts. */
const serveSettings = {
  listen: { fixed: "listen" },
  auth: { fixed: "auth" },
  oauth: { fixed: "auth" },
  mode: { live: "mode" },
  list: { live: "list" },
  results: { live: "results" },
  listWaitSeconds: { live: "list_wait_seconds" },
  sharesHome: { fixed: "share_home" },
  tools: { live: "tools" },
  allowedHosts: { fixed: "allowed_hosts" },
  allowedOrigins: { fixed: "allowed_origins" },
  limits: { fixed: "limits" },
} as const satisfies {
  readonly [Key in keyof Required<GatewayConfig["serve"]>]: { readonly [kind in "live" | "fixed"]?: string };
};

/** Members of `policy` and their names in the file. Profiles have a section of their own. */
const policyParts = {
  allow: "allow",
  deny: "deny",
  clients: "clients",
  waiveApproval: "waive_approval",
  files: "files",
  floor: "floor",
  disabled: "disabled",
} as const satisfies {
  readonly [Key in keyof Omit<Required<GatewayConfig["policy"]>, "profiles">]: string;
};

/** Compares `running` with `next`. */
export function compareConfigs(running: GatewayConfig, next: GatewayConfig): ConfigChange {
  const needsRestart = new Set<string>();
  const held: { [key: string]: unknown } = {};
  for (const [key, kind] of entriesOf(sections)) {
    if (kind === "live" || isSame(running[key], next[key])) continue;
    needsRestart.add(kind.fixed);
    held[key] = running[key];
  }
  const serve: { [key: string]: unknown } = { ...next.serve };
  for (const [key, kind] of entriesOf(serveSettings)) {
    if (!("fixed" in kind) || isSame(running.serve[key], next.serve[key])) continue;
    needsRestart.add(`serve.${kind.fixed}`);
    serve[key] = running.serve[key];
  }
  let { packages } = next;
  if (packages.maxPrograms !== running.packages.maxPrograms) {
    needsRestart.add("sandbox.max_package_programs");
    packages = { ...packages, maxPrograms: running.packages.maxPrograms };
  }
  const config = { ...next, ...held, packages, serve } as unknown as GatewayConfig;
  const applied = appliedPaths(running, config);
  return { config, applied, needsRestart: [...needsRestart], loosened: loosenedServers(running, config) };
}

/** The paths that differ. */
function appliedPaths(before: GatewayConfig, after: GatewayConfig): readonly string[] {
  const { serve, policy, packages } = after;
  const paths = [
    ...listPaths("tool_servers", before.toolServers, after.toolServers, isSameServer),
    ...listPaths("toolspecs", before.toolspecs, after.toolspecs, isSameToolspec),
    ...memberPaths("packages", before.packages.byId, packages.byId),
    ...(isSame(before.packages.others, packages.others) ? [] : ["packages"]),
    ...entriesOf(policyParts).flatMap(([key, name]) =>
      isSame(before.policy[key], policy[key]) ? [] : [`policy.${name}`],
    ),
    ...memberPaths("profiles", profilesOf(before), profilesOf(after)),
    ...(isSame(before.guards, after.guards) ? [] : ["guards"]),
    ...(isSame(before.hooks, after.hooks) ? [] : ["hooks"]),
    ...(isSame(before.toolOverrides, after.toolOverrides) ? [] : ["tools"]),
    ...entriesOf(serveSettings).flatMap(([key, kind]) =>
      "fixed" in kind || isSame(before.serve[key], serve[key]) ? [] : [`serve.${kind.live}`],
    ),
    ...(isSame(before.registries, after.registries) ? [] : ["registries"]),
    ...switchedPaths(before.disabled, after.disabled),
  ];
  // An entry that is switched off or on has left or come, too.
  return [...new Set(paths)];
}

/** The entries that are switched off in one configuration only. Where they are, nothing else about them counts. */
function switchedPaths(
  before: GatewayConfig["disabled"],
  after: GatewayConfig["disabled"],
): readonly string[] {
  const offIn = ({ toolServers, toolspecs, packages }: GatewayConfig["disabled"]) =>
    new Set([
      ...toolServers.map(({ id }) => `tool_servers.${id}`),
      ...toolspecs.map(({ id }) => `toolspecs.${id}`),
      ...packages.map(({ id }) => `packages.${id}`),
    ]);
  return [...offIn(before).symmetricDifference(offIn(after))];
}

function entriesOf<Table extends object>(table: Table): [keyof Table, Table[keyof Table]][] {
  return Object.entries(table) as [keyof Table, Table[keyof Table]][];
}

/** Each profile with what it contains. */
function profilesOf({ profiles, policy }: GatewayConfig): { readonly [name: string]: unknown } {
  return Object.fromEntries(
    Object.entries(profiles).map(([name, one]) => [name, [one, policy.profiles?.[name]]]),
  );
}

function listPaths<One extends { readonly id: string }>(
  section: string,
  before: readonly One[],
  after: readonly One[],
  isSameOne: (a: One, b: One) => boolean,
): readonly string[] {
  const known = new Map(before.map((one) => [one.id, one]));
  const kept = new Set(after.map(({ id }) => id));
  const paths = [
    ...before.filter(({ id }) => !kept.has(id)),
    ...after.filter((one) => {
      const earlier = known.get(one.id);
      return earlier === undefined || !isSameOne(earlier, one);
    }),
  ].map(({ id }) => `${section}.${id}`);
  const order = (list: readonly One[], other: ReadonlyMap<string, One> | ReadonlySet<string>) =>
    list.flatMap(({ id }) => (other.has(id) ? [id] : [])).join(" ");
  return paths.length === 0 && order(before, kept) !== order(after, known) ? [section] : paths;
}

function memberPaths(
  section: string,
  before: { readonly [name: string]: unknown },
  after: { readonly [name: string]: unknown },
): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].flatMap((name) => (isSame(before[name], after[name]) ? [] : [`${section}.${name}`]));
}

/** Whether two declarations of a server say the same. */
export function isSameServer(a: ToolServerConfig, b: ToolServerConfig): boolean {
  return isSame(contentOf(a), contentOf(b));
}

/** Whether two declarations of a toolspec say the same, and their files do. */
export function isSameToolspec(a: ToolspecConfig, b: ToolspecConfig): boolean {
  return isSame({ ...a, isOff: undefined, pair: undefined }, { ...b, isOff: undefined, pair: undefined });
}

/**
 * Whether a running server can stay as it is under another declaration: what differs are facts about its calls and
 * definitions, and nothing that its process, its connection or its settings depend on.
 */
export function keepsServer(running: ToolServerConfig, next: ToolServerConfig): boolean {
  return isSame(connectionOf(running), connectionOf(next));
}

/**
 * A declaration without what is read from its files, which their digest stands for, and without `enabled`: a switch can
 * have enabled it already.
 */
function contentOf(declared: ToolServerConfig) {
  const { adopted, isOff: _isOff, notEnforced: _warnings, problems: _problems, ...server } = declared;
  return { ...server, adopted: adopted && { ...adopted, files: undefined } };
}

function connectionOf(server: ToolServerConfig): object {
  const { containment, labels: _labels, dataLabels: _dataLabels, ...rest } = contentOf(server);
  const { name: _name, description: _text, validation: _validation, ...more } = rest;
  const { firstContact: _first, pinsResources: _pins, trustState: _trust, ...most } = more;
  const { mutabilityClass: _class, ...connected } = most;
  const { maxExecutionSeconds: _seconds, ...effective } = containment.effective;
  // Another trust can put a process whose declared containment is the same into a sandbox.
  return { ...connected, effective, needsSandbox: containment.needsSandbox };
}

/** Whether two parts of configurations say the same, wherever they are written. */
export function isSameConfig(a: object, b: object): boolean {
  return isSame(a, b);
}

/** Compares values by content, without the places at which they are written. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  const arePlaced = isPlaced(a as Members) && isPlaced(b as Members);
  for (const name of names) {
    if (arePlaced && (name === "span" || name === "source")) continue;
    if (!isSame((a as Members)[name], (b as Members)[name])) return false;
  }
  return true;
}

type Members = { readonly [name: string]: unknown };

/**
 * Whether `value` is a declaration with a place: an entry with the source and span of its text, or a text with a span.
 * Clients, variables, headers and arguments can be called `source` or `span`, too; what they contain counts.
 */
function isPlaced({ id, kind, span, source }: Members): boolean {
  if (!hasOnly(span, "start", "end", "number")) return false;
  if (source !== undefined) return typeof id === "string" && hasOnly(source, "name", "text", "string");
  return kind === "literal" || kind === "secret" || kind === "template";
}

function hasOnly(value: unknown, first: string, second: string, type: "number" | "string"): boolean {
  if (typeof value !== "object" || value === null) return false;
  const members = value as Members;
  return (
    Object.keys(members).length === 2 && typeof members[first] === type && typeof members[second] === type
  );
}
