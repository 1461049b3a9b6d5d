/** The facts about an installed package, and its details for the status. */

import type { SourceDetails, SourceFacts } from "@toolcrib/inventory";
import { type Manifest, programsOf } from "@toolcrib/mcpkg";
import type { InstalledPackage } from "@toolcrib/mcpkg-install";
import { endpointHostOf, endpointUrlOf } from "../http/package-http.ts";
import { candidatesOf } from "../implementations/select.ts";
import type { PackagePrograms } from "../local/package-programs.ts";
import type { PackageConfig } from "./package-config.ts";

/** Milliseconds of a call of an endpoint whose manifest names no timeout. @limit program */
const timeoutDefaultMs = 30_000;
/** Milliseconds of a call of a chain: its steps have deadlines of their own. @limit program */
const chainTimeoutMs = 300_000;

/** A package that is offered. */
export interface FactsOfPackage {
  readonly installed: InstalledPackage;
  readonly manifest: Manifest;
  readonly config: PackageConfig;
  readonly programs: Pick<PackagePrograms, "stateOf">;
  /** Ends its quarantine. @returns whether it was quarantined */
  readonly release: () => Promise<boolean>;
  /** Whether it is there for its tests only, so that nothing about it waits for an approval. */
  readonly isTrial: boolean;
}

/** Milliseconds until a call of a package is failed: what its manifest says, and at most what the operator allows. */
export function packageDeadlineMs(manifest: Manifest, { declared, effective }: PackageConfig): number {
  if (manifest.chain !== undefined) return (declared.maxExecutionSeconds ?? chainTimeoutMs / 1000) * 1000;
  const timeouts = candidatesOf(manifest).map(({ endpoint }) => endpoint.timeoutMs ?? timeoutDefaultMs);
  return Math.min(Math.max(...timeouts), effective.maxExecutionSeconds * 1000);
}

/** The kind of execution of a package, as status and policies name it. */
function transportOf(manifest: Manifest): "chain" | "http" | "local" | "starlark" {
  if (manifest.chain !== undefined) return "chain";
  if (hasPrograms(manifest)) return "local";
  return isProgramOnly(manifest) ? "starlark" : "http";
}

/** Whether Starlark programs are all that runs. */
function isProgramOnly(manifest: Manifest): boolean {
  return programsOf(manifest).length > 0 && programsOf(manifest).length === candidatesOf(manifest).length;
}

function hasPrograms(manifest: Manifest): boolean {
  return candidatesOf(manifest).some(({ endpoint }) => endpoint.type === "local");
}

/** The facts about a package. */
export function packageFacts(one: FactsOfPackage): Partial<SourceFacts> {
  const { installed, manifest, config, programs } = one;
  const { toolId, folder } = installed;
  const isLocal = hasPrograms(manifest);
  const owner = { toolId, folder, config };
  const transport = transportOf(manifest);
  return {
    configured: { group: "packages", transport, details: () => detailsOf(one), release: one.release },
    backendKind: "provider",
    isSingleTool: true,
    coercesArguments: isProgramOnly(manifest),
    deadlineMs: packageDeadlineMs(manifest, config),
    deadlineSetting: `containment.max_execution_seconds of the package "${toolId}", or a lower timeoutMs in its manifest,`,
    containment: () =>
      isLocal ? (programs.stateOf(owner)?.tier ?? "sandbox") : transport === "http" ? "egress" : undefined,
    trust: {
      trustState: config.trustState,
      mutabilityClass: config.mutabilityClass,
      // Its programs are processes of this machine, and its requests pass the egress.
      transport: "stdio",
      denied: [],
    },
    pinning: one.isTrial
      ? undefined
      : { trustState: config.trustState, firstContact: config.firstContact, pinsResources: false },
    labels: config.labels,
    dataLabels: config.dataLabels,
    egressHosts: egressHostsOf(one),
  };
}

/** Hosts that a package connects to; undefined for programs that may reach any. */
function egressHostsOf({ manifest, config }: FactsOfPackage): readonly string[] | undefined {
  const { networkEgress, egressAllow } = config.effective;
  const isOpen = hasPrograms(manifest) && networkEgress === "allow";
  if (isOpen) return undefined;
  const hosts = candidatesOf(manifest).flatMap(({ endpoint }) =>
    endpoint.type === "http" ? (endpointHostOf(endpointUrlOf(endpoint.url, config)) ?? []) : [],
  );
  return [
    ...new Set([...hosts, ...(hasPrograms(manifest) && networkEgress === "scoped" ? egressAllow : [])]),
  ];
}

function detailsOf(one: FactsOfPackage): SourceDetails {
  const { installed, manifest, config, programs } = one;
  const { effective, trustState, mutabilityClass, credentials } = config;
  const hosts = egressHostsOf(one);
  const state = hasPrograms(manifest) ? programs.stateOf({ ...installed, config }) : undefined;
  return {
    name: manifest.name,
    version: manifest.version,
    trustState,
    mutabilityClass,
    ...(hosts === undefined ? {} : { hosts }),
    credentials: Object.entries(credentials).map(([id, ref]) => ({
      id,
      secret: ref.kind === "file" ? `file:${ref.path}` : ref.name,
    })),
    ...(state === undefined
      ? {}
      : {
          containment: {
            networkEgress: effective.networkEgress,
            filesystemWrite: effective.filesystemWrite,
            maxExecutionSeconds: effective.maxExecutionSeconds,
            tier: state.tier,
            ...(state.reason === undefined ? {} : { uncontainedReason: state.reason }),
            enforced: state.notEnforced.length === 0,
            enforcedParts: [...state.enforced, "max_execution_seconds" as const],
            notEnforcedParts: state.notEnforced,
            judgedParts: [],
          },
        }),
  };
}
