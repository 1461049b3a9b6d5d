/**
 * Composes several files into one configuration, left to right. A later tool
 * server replaces an earlier one with the same id and keeps its position; other
 * sections are merged field by field, and lists are replaced. Each layer must be
 * valid on its own and so must the result; a finding about two files names both.
 * No I/O.
 */

import type { PolicyFile } from "@toolcrib/cedar";
import { type Diagnostic, hasErrors } from "@toolcrib/diagnostics";
import { toAuditConfig } from "./audit-shape.ts";
import type { ConfigLayer, ServerDeclaration, ToolspecDeclaration } from "./config-layer.ts";
import type { GatewayConfig, Switches, ToolServerConfig, ToolspecConfig } from "./config-types.ts";
import {
  containmentParts,
  effectiveContainment,
  judgedParts,
  needsSandbox,
  notEnforcedOf,
} from "./containment.ts";
import { toOverridesConfig, toProfilesConfig } from "./discovery-shape.ts";
import type { ConfigDocument } from "./document-shape.ts";
import { toEgressConfig } from "./egress-shape.ts";
import { toExecutionConfig } from "./execution-shape.ts";
import { toGuardsConfig } from "./guards-shape.ts";
import { toHooksConfig } from "./hooks-shape.ts";
import { type HasCommand, lintCommands } from "./lint-commands.ts";
import { lintExposure, lintResourceHost } from "./lint-exposure.ts";
import { lintIds } from "./lint-ids.ts";
import { lintProfiles } from "./lint-profiles.ts";
import { lintRules } from "./lint-rules.ts";
import { toPackagesConfig } from "./packages-shape.ts";
import { lintFloor, mergedFloor } from "./policy-floor.ts";
import { toRegistriesConfig } from "./registries-shape.ts";
import { toSearchConfig } from "./search-shape.ts";
import { toPolicyConfig, toServeConfig } from "./section-config.ts";
import { toTelemetryConfig } from "./telemetry-shape.ts";
import { everyMsOf } from "./tests-interval.ts";

/** A configuration, or the findings about it. */
export interface ConfigResult {
  /** `undefined` when `diagnostics` contains an error. */
  readonly value: GatewayConfig | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** Files that layers name, and that were read. */
interface FilesOfConfig {
  /** Contents of the files that `egress.ca_files` names, by their paths. */
  readonly certificates: ReadonlyMap<string, string>;
  /** The files that `policy.files` names, by their paths there. */
  readonly policyFiles: ReadonlyMap<string, PolicyFile>;
}

/** Facts about the machine that the layers refer to. */
export interface ConfigFacts {
  /** @default none */
  readonly certificates?: FilesOfConfig["certificates"] | undefined;
  /** @default none */
  readonly policyFiles?: FilesOfConfig["policyFiles"] | undefined;
  /** Names of the existing tokens. @default not known */
  readonly tokenNames?: readonly string[] | undefined;
  /** Whether the machine has a command. @default not known: no warnings */
  readonly hasCommand?: HasCommand | undefined;
  /** Switches of the operator. @default none */
  readonly switches?: Switches | undefined;
  /** Names of the tools that tool servers listed last, by their ids. @default not known */
  readonly listedTools?: ReadonlyMap<string, readonly string[]> | undefined;
}

/** Composes `layers`, from left to right. */
export function mergeConfigs(
  layers: readonly ConfigLayer[],
  {
    certificates = new Map(),
    policyFiles = new Map(),
    tokenNames,
    hasCommand,
    switches = noSwitches,
    listedTools = new Map(),
  }: ConfigFacts = {},
): ConfigResult {
  const findings = layers.flatMap((layer) => layer.diagnostics);
  for (const layer of layers) findings.push(...lintComposed([layer]));
  const rules = lintRules(layers, tokenNames, listedTools);
  findings.push(...lintComposed(layers), ...lintProfiles(layers), ...rules);
  findings.push(...lintResourceHost(layers));
  if (hasCommand !== undefined) findings.push(...lintCommands(layers, hasCommand));
  const diagnostics = withoutRepeats(findings);
  return {
    value: hasErrors(diagnostics) ? undefined : composed(layers, { certificates, policyFiles }, switches),
    diagnostics,
  };
}

function lintComposed(layers: readonly ConfigLayer[]): Diagnostic[] {
  return [...lintIds(layers), ...lintFloor(layers, mergedServers(layers)), ...lintExposure(layers)];
}

const noSwitches: Switches = { servers: new Map(), tools: [] };

function composed(
  layers: readonly ConfigLayer[],
  { certificates, policyFiles }: FilesOfConfig,
  switches: Switches,
): GatewayConfig {
  const sections = mergedSections(layers);
  const rules = toPolicyConfig(sections.policy, mergedFloor(layers), sections.profiles, policyFiles);
  const policy = switches.tools.length === 0 ? rules : { ...rules, disabled: switches.tools };
  const serve = toServeConfig(sections.serve);
  const toolServers = mergedServers(layers).map((server) => completed(server, policy.floor));
  const toolspecs = mergedToolspecs(layers);
  const maxPrograms = sections.sandbox?.max_package_programs ?? 16;
  const settings = toPackagesConfig(sections.packages, policy.floor, maxPrograms);
  const isOn = ({ id, isOff = false }: { readonly id: string; readonly isOff?: boolean }) =>
    switches.servers.get(id) ?? !isOff;
  const ids = new Set([...toolServers, ...toolspecs].map(({ id }) => id));
  const packages = switchedPackages(settings, switches, ids);
  return {
    toolServers: toolServers.filter(isOn),
    toolspecs: toolspecs.filter(isOn),
    packages,
    disabled: {
      toolServers: toolServers.filter((one) => !isOn(one)),
      toolspecs: toolspecs.filter((one) => !isOn(one)),
      packages: Object.keys(packages.byId)
        .filter((id) => packages.byId[id]?.isEnabled === false)
        .map((id) => ({ id, isOff: settings.byId[id]?.isEnabled === false })),
    },
    dataLabels: [
      ...new Set(
        [...toolServers, ...toolspecs, ...Object.values(settings.byId)].flatMap(
          ({ dataLabels }) => dataLabels,
        ),
      ),
    ].sort(),
    egress: toEgressConfig(sections.egress, certificates),
    policy,
    guards: toGuardsConfig(sections.guards),
    hooks: toHooksConfig(sections.hooks),
    serve,
    profiles: toProfilesConfig(sections.profiles, serve),
    toolOverrides: toOverridesConfig(sections.tools),
    audit: toAuditConfig(sections.audit),
    telemetry: toTelemetryConfig(sections.telemetry),
    tests: { everyMs: everyMsOf(sections.tests?.every) },
    execution: toExecutionConfig(sections.execution),
    sandbox: {
      mode: sections.sandbox?.mode ?? "required",
      registryHosts: (sections.sandbox?.registry_hosts ?? []).map((host) => host.toLowerCase()),
      totals: toTotals(sections.sandbox),
    },
    registries: toRegistriesConfig(sections.registries),
    search: toSearchConfig(sections.search),
  };
}

/** Returns the settings of packages with those that the operator switched. @param taken ids of servers and toolspecs */
function switchedPackages(
  packages: GatewayConfig["packages"],
  { servers }: Switches,
  taken: ReadonlySet<string>,
): GatewayConfig["packages"] {
  const switched = [...servers].filter(([id]) => id.includes(".") && !taken.has(id));
  if (switched.length === 0) return packages;
  const byId = new Map(Object.entries(packages.byId));
  for (const [id, isEnabled] of switched) byId.set(id, { ...(byId.get(id) ?? packages.others), isEnabled });
  return { ...packages, byId: Object.fromEntries(byId) };
}

function toTotals(document: ConfigDocument["sandbox"]): GatewayConfig["sandbox"]["totals"] {
  const { total_memory_mb: memory, total_processes: processes, max_sandboxes: sandboxes } = document ?? {};
  return {
    ...(memory === undefined ? {} : { memoryBytes: memory * 1024 * 1024 }),
    ...(processes === undefined ? {} : { processes }),
    ...(sandboxes === undefined ? {} : { sandboxes }),
  };
}

/** Returns the servers: later ones replace earlier ones with the same id in their position, new ones follow at the end. */
export function mergedServers(layers: readonly ConfigLayer[]): readonly ServerDeclaration[] {
  const byId = new Map<string, ServerDeclaration>();
  // A Map keeps the position of a key that is set again.
  for (const layer of layers) for (const server of layer.servers) byId.set(server.id, server);
  return [...byId.values()];
}

/** Merges toolspecs like `mergedServers`. */
function mergedToolspecs(layers: readonly ConfigLayer[]): readonly ToolspecConfig[] {
  const byId = new Map<string, ToolspecDeclaration>();
  for (const layer of layers) for (const one of layer.toolspecs) byId.set(one.id, one);
  return [...byId.values()].map(({ node: _node, isIdGiven: _isIdGiven, ...config }) => config);
}

function completed(server: ServerDeclaration, floor: GatewayConfig["policy"]["floor"]): ToolServerConfig {
  const { declared, node: _node, ...rest } = server;
  const effective = effectiveContainment(declared, server.trustState, floor);
  const judged = judgedParts(server, declared, effective, floor);
  return {
    ...rest,
    containment: {
      declared,
      effective,
      needsSandbox: needsSandbox(server, effective),
      ...containmentParts(server, effective),
      judged,
    },
    notEnforced: notEnforcedOf(server, declared, effective, judged),
  };
}

function mergedSections(layers: readonly ConfigLayer[]): ConfigLayer["sections"] {
  return layers.reduce<ConfigLayer["sections"]>(
    (below, layer) => mergedValue(below, layer.sections) as ConfigLayer["sections"],
    {},
  );
}

/** Merges maps field by field and replaces every other value; an `undefined` in `above` keeps the value of `below`. */
function mergedValue(below: unknown, above: unknown): unknown {
  if (above === undefined) return below;
  if (!isPlainMap(below) || !isPlainMap(above)) return above;
  const names = new Set([...Object.keys(below), ...Object.keys(above)]);
  return Object.fromEntries(
    [...names].map((name) => [name, mergedValue(ownValue(below, name), ownValue(above, name))]),
  );
}

type PlainMap = { readonly [name: string]: unknown };

function isPlainMap(value: unknown): value is PlainMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function ownValue(map: PlainMap, name: string): unknown {
  return Object.hasOwn(map, name) ? map[name] : undefined;
}

function withoutRepeats(findings: readonly Diagnostic[]): Diagnostic[] {
  const seen = new Map<string, Diagnostic>();
  for (const finding of findings) {
    const identity = JSON.stringify([finding.code, finding.source?.name, finding.span, finding.message]);
    if (!seen.has(identity)) seen.set(identity, finding);
  }
  return [...seen.values()];
}
