/** Finds the implementations of an installed package that run on this machine, as it is configured, with the reasons. */

import { access } from "node:fs/promises";
import { isCodedError } from "@toolcrib/diagnostics";
import { type Manifest, reachOf } from "@toolcrib/mcpkg";
import type { InstalledPackage } from "@toolcrib/mcpkg-install";
import { SecretScrubber } from "@toolcrib/redaction";
import { createTestHistory } from "@toolcrib/store";
import { endpointUrlOf } from "../http/package-http.ts";
import type { PackageConfig, PackagesConfig } from "../installed/package-config.ts";
import type { PackagesContext } from "../installed/packages-context.ts";
import { PackagePrograms, type ProgramsContext } from "../local/package-programs.ts";
import { createMachine } from "./machine.ts";
import { measurementsOf } from "./measurements.ts";
import { candidatesOf, selectImplementations, type Verdict } from "./select.ts";

/** A package, and how it is configured. */
export interface JudgedPackage extends Pick<InstalledPackage, "approvedTools"> {
  /** Folder of the package. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly config: PackageConfig;
  /** Digest of the archive: only runs of its tests count. */
  readonly digest: string;
}

/** The settings that the decision needs. */
interface JudgeConfig {
  readonly config: Pick<PackagesContext["config"], "execution">;
}

/** Dependencies of the decision. */
export interface JudgeDeps extends JudgeConfig {
  readonly machine: PackagesContext["machine"];
  readonly programs: Pick<PackagePrograms, "startOf">;
  readonly home: string;
  readonly randomBytes: PackagesContext["randomBytes"];
}

/** Judges the implementations of a package; runtimes are asked in the sandbox of the package. */
export async function judgePackage(
  { folder, manifest, config, digest, approvedTools }: JudgedPackage,
  { machine, programs, home, randomBytes, config: { execution } }: JudgeDeps,
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
  const measurements =
    candidates.length > 1 ? await measured(toolId, digest, { home, randomBytes }) : undefined;
  return await selectImplementations(candidates, found, {
    language,
    implementation,
    measurements,
    programs: { refusal },
  });
}

/** The results of the tests of each implementation; nothing where their history cannot be read: a package runs without it. */
async function measured(
  toolId: string,
  digest: string,
  { home, randomBytes }: Pick<JudgeDeps, "home" | "randomBytes">,
): Promise<ReturnType<typeof measurementsOf> | undefined> {
  try {
    return measurementsOf(await createTestHistory(home, { randomBytes }).list(toolId), digest);
  } catch (error) {
    if (isCodedError(error)) return undefined;
    throw error;
  }
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
export function packageConfigOf<Config extends PackageConfig>(
  { packages }: { readonly packages: Pick<PackagesConfig<Config>, "byId" | "others"> },
  toolId: string,
): Config {
  const { byId, others } = packages;
  return Object.hasOwn(byId, toolId) ? (byId[toolId] ?? others) : others;
}

/** Explains the choice among the implementations of a package outside of a gateway, as `toolcrib info --why` does. */
export async function explainPackage(
  one: Omit<JudgedPackage, "config">,
  context: Omit<ProgramsContext, "record" | "scrubber"> & Pick<PackagesContext, "machine"> & JudgeConfig,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  await using programs = new PackagePrograms({ ...context, record() {}, scrubber: new SecretScrubber() });
  const config = packageConfigOf(context.config, one.manifest.toolId);
  return await judgePackage({ ...one, config }, { ...context, programs }, signal);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
