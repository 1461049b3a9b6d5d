/** Which implementations of an installed package run on this machine, as it is configured, and why. */

import { access } from "node:fs/promises";
import type { GatewayConfig, PackageConfig } from "@toolcrib/config";
import { type Manifest, reachOf } from "@toolcrib/mcpkg";
import type { InstalledPackage } from "@toolcrib/mcpkg-install";
import { candidatesOf, createMachine, selectImplementations, type Verdict } from "@toolcrib/mcpkg-runtime";
import { SecretScrubber } from "@toolcrib/redaction";
import type { SourceContext } from "../sources/open-sources.ts";
import { endpointUrlOf } from "./package-http.ts";
import { PackagePrograms, type ProgramsContext } from "./package-programs.ts";

/** A package, and how it is configured. */
export interface JudgedPackage extends Pick<InstalledPackage, "approvedTools"> {
  /** Folder of the package. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly config: PackageConfig;
}

/** What the decision needs. */
export interface JudgeDeps {
  readonly machine: SourceContext["machine"];
  readonly config: Pick<GatewayConfig, "execution">;
  readonly programs: Pick<PackagePrograms, "startOf">;
}

/** Judges the implementations of a package; runtimes are asked in the sandbox of the package. */
export async function judgePackage(
  { folder, manifest, config, approvedTools }: JudgedPackage,
  { machine, programs, config: { execution } }: JudgeDeps,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  const { toolId } = manifest;
  const start = programs.startOf({ toolId, folder, config });
  const candidates = candidatesOf(manifest).map((candidate) => {
    const { endpoint } = candidate;
    if (endpoint.type !== "http") return candidate;
    return { ...candidate, endpoint: { ...endpoint, url: endpointUrlOf(endpoint.url, config) } };
  });
  const { language, implementation } = config;
  const found = createMachine({ ...machine, start, exists, signal });
  const refusal = refusalOfPrograms(manifest, approvedTools, execution.isEnabled);
  return await selectImplementations(candidates, found, { language, implementation, programs: { refusal } });
}

/** Returns why the Starlark programs of a package may not run: no program reaches more than was approved. */
function refusalOfPrograms(
  manifest: Manifest,
  approvedTools: readonly string[],
  isEnabled: boolean | undefined,
): string | undefined {
  if (isEnabled === false) return "it is a Starlark program, and execution.enabled is false";
  const approved = new Set(approvedTools);
  const missing = reachOf(manifest).filter((id) => !approved.has(id));
  if (missing.length === 0) return undefined;
  const more = missing.length > shownMax ? ` and ${missing.length - shownMax} more` : "";
  return `its program can call ${missing.slice(0, shownMax).join(", ")}${more}, which was not approved: install it again`;
}

/** Most tools in one reason. */
const shownMax = 10;

/** The settings of a package in a configuration. */
export function packageConfigOf(
  { packages }: Pick<GatewayConfig, "packages">,
  toolId: string,
): PackageConfig {
  const { byId, others } = packages;
  return Object.hasOwn(byId, toolId) ? (byId[toolId] ?? others) : others;
}

/** Explains the choice among the implementations of a package outside of a gateway, as `toolcrib info --why` does. */
export async function explainPackage(
  one: Omit<JudgedPackage, "config">,
  context: Omit<ProgramsContext, "record" | "scrubber"> & Pick<SourceContext, "machine">,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  await using programs = new PackagePrograms({ ...context, record() {}, scrubber: new SecretScrubber() });
  const config = packageConfigOf(context.config, one.manifest.toolId);
  return await judgePackage(
    { ...one, config },
    { machine: context.machine, programs, config: context.config },
    signal,
  );
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
