/**
 * Two configurations compared, for a gateway that runs with the first and is to run with the second: what changed, by
 * paths, what of it applies only after a restart, and the configuration that can be in force without one. Values are
 * compared as they are written, credentials included, and none is returned; places in files do not count. Pure.
 */

import type { GatewayConfig, ToolServerConfig, ToolspecConfig } from "./config-types.ts";

/** What a gateway can do about a changed configuration while it runs. */
export interface ConfigChange {
  /** The new configuration, with the present settings wherever a restart is needed. */
  readonly config: GatewayConfig;
  /** Paths that differ, such as `tool_servers.github` or `policy.deny`, without those of `needsRestart`. */
  readonly applied: readonly string[];
  /** Paths that differ and that need a restart. */
  readonly needsRestart: readonly string[];
}

/** Sections that are read when a gateway starts, and their names in the file. */
const fixedSections = {
  egress: "egress",
  audit: "audit",
  telemetry: "telemetry",
  tests: "tests",
  execution: "execution",
  sandbox: "sandbox",
  search: "search",
} as const satisfies { readonly [Key in keyof GatewayConfig]?: string };

/** Settings of `serve` that are read when a gateway starts. */
const fixedServe = {
  listen: "listen",
  auth: "auth",
  oauth: "auth",
  sharesHome: "share_home",
  allowedHosts: "allowed_hosts",
  allowedOrigins: "allowed_origins",
  limits: "limits",
} as const satisfies { readonly [Key in keyof GatewayConfig["serve"]]?: string };

/** Members of `serve` that change live, and their names in the file. */
const liveServe = {
  mode: "mode",
  list: "list",
  results: "results",
  listWaitSeconds: "list_wait_seconds",
  tools: "tools",
} as const satisfies { readonly [Key in keyof GatewayConfig["serve"]]?: string };

/** Members of `policy` and their names in the file. Profiles have a section of their own. */
const policyParts = {
  allow: "allow",
  deny: "deny",
  clients: "clients",
  waiveApproval: "waive_approval",
  files: "files",
  floor: "floor",
  disabled: "disabled",
} as const satisfies { readonly [Key in keyof GatewayConfig["policy"]]?: string };

/** Compares `running` with `next`. */
export function compareConfigs(running: GatewayConfig, next: GatewayConfig): ConfigChange {
  const needsRestart = new Set<string>();
  const held: { [key: string]: unknown } = {};
  for (const [key, name] of Object.entries(fixedSections) as [keyof typeof fixedSections, string][]) {
    if (isSame(running[key], next[key])) continue;
    needsRestart.add(name);
    held[key] = running[key];
  }
  const serve: { [key: string]: unknown } = { ...next.serve };
  for (const [key, name] of Object.entries(fixedServe) as [keyof typeof fixedServe, string][]) {
    if (isSame(running.serve[key], next.serve[key])) continue;
    needsRestart.add(`serve.${name}`);
    serve[key] = running.serve[key];
  }
  let { packages } = next;
  if (packages.maxPrograms !== running.packages.maxPrograms) {
    needsRestart.add("sandbox.max_package_programs");
    packages = { ...packages, maxPrograms: running.packages.maxPrograms };
  }
  const config = { ...next, ...held, packages, serve } as unknown as GatewayConfig;
  return { config, applied: appliedPaths(running, config), needsRestart: [...needsRestart] };
}

/** The paths that differ. */
function appliedPaths(before: GatewayConfig, after: GatewayConfig): readonly string[] {
  const { serve, policy, packages } = after;
  return [
    ...listPaths("tool_servers", before.toolServers, after.toolServers, isSameServer),
    ...listPaths("toolspecs", before.toolspecs, after.toolspecs, isSameToolspec),
    ...memberPaths("packages", before.packages.byId, packages.byId),
    ...(isSame(before.packages.others, packages.others) ? [] : ["packages"]),
    ...(Object.entries(policyParts) as [keyof typeof policyParts, string][]).flatMap(([key, name]) =>
      isSame(before.policy[key], policy[key]) ? [] : [`policy.${name}`],
    ),
    ...memberPaths("profiles", profilesOf(before), profilesOf(after)),
    ...(isSame(before.guards, after.guards) ? [] : ["guards"]),
    ...(isSame(before.hooks, after.hooks) ? [] : ["hooks"]),
    ...(isSame(before.toolOverrides, after.toolOverrides) ? [] : ["tools"]),
    ...(Object.entries(liveServe) as [keyof typeof liveServe, string][]).flatMap(([key, name]) =>
      isSame(before.serve[key], serve[key]) ? [] : [`serve.${name}`],
    ),
    ...(isSame(before.registries, after.registries) ? [] : ["registries"]),
    ...(isSame(idsOf(before.disabled), idsOf(after.disabled)) ? [] : ["disabled"]),
  ];
}

/** The entries that are switched off. Where they are, nothing else about them counts. */
function idsOf({ toolServers, toolspecs, packages }: GatewayConfig["disabled"]): object {
  return [toolServers.map(({ id }) => id), toolspecs.map(({ id }) => id), packages];
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
  return isSame({ ...a, pair: undefined }, { ...b, pair: undefined });
}

/**
 * Whether a running server can stay as it is under another declaration: what differs are facts about its calls and
 * definitions, and nothing that its process, its connection or what it is told depends on.
 */
export function keepsServer(running: ToolServerConfig, next: ToolServerConfig): boolean {
  return isSame(connectionOf(running), connectionOf(next));
}

/** A declaration without what is read from its files, which their digest stands for. */
function contentOf({ adopted, notEnforced: _warnings, problems: _problems, ...server }: ToolServerConfig) {
  return { ...server, adopted: adopted && { ...adopted, files: undefined } };
}

function connectionOf(server: ToolServerConfig): object {
  const { containment, labels: _labels, dataLabels: _dataLabels, ...rest } = contentOf(server);
  const { name: _name, description: _text, validation: _validation, ...more } = rest;
  const { firstContact: _first, pinsResources: _pins, trustState: _trust, ...most } = more;
  const { mutabilityClass: _class, ...connected } = most;
  const { maxExecutionSeconds: _seconds, ...effective } = containment.effective;
  return { ...connected, effective };
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
  for (const name of names) {
    const [one, other] = [(a as Members)[name], (b as Members)[name]];
    if (isPlace(name, one) && isPlace(name, other)) continue;
    if (!isSame(one, other)) return false;
  }
  return true;
}

type Members = { readonly [name: string]: unknown };

/** Whether a member is the place of its declaration. Labels and variables of these names are texts. */
function isPlace(name: string, value: unknown): boolean {
  return (name === "span" || name === "source") && typeof value === "object" && value !== null;
}
