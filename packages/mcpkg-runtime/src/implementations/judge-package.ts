/** Which implementations of an installed package run on this machine, as it is configured, and why. */

import { access } from "node:fs/promises";
import type { Manifest } from "@toolcrib/mcpkg";
import { SecretScrubber } from "@toolcrib/redaction";
import { endpointUrlOf } from "../http/package-http.ts";
import type { PackageConfig, PackagesConfig } from "../installed/package-config.ts";
import type { PackagesContext } from "../installed/packages-context.ts";
import { PackagePrograms, type ProgramsContext } from "../local/package-programs.ts";
import { createMachine } from "./machine.ts";
import { candidatesOf, selectImplementations, type Verdict } from "./select.ts";

/** A package, and how it is configured. */
export interface JudgedPackage {
  /** Folder of the package. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly config: PackageConfig;
}

/** What the decision needs. */
export interface JudgeDeps {
  readonly machine: PackagesContext["machine"];
  readonly programs: Pick<PackagePrograms, "startOf">;
}

/** Judges the implementations of a package; runtimes are asked in the sandbox of the package. */
export async function judgePackage(
  { folder, manifest, config }: JudgedPackage,
  { machine, programs }: JudgeDeps,
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
  return await selectImplementations(candidates, found, { language, implementation });
}

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
  context: Omit<ProgramsContext, "record" | "scrubber"> & Pick<PackagesContext, "machine">,
  signal: AbortSignal,
): Promise<readonly Verdict[]> {
  await using programs = new PackagePrograms({ ...context, record() {}, scrubber: new SecretScrubber() });
  const config = packageConfigOf(context.config, one.manifest.toolId);
  return await judgePackage({ ...one, config }, { machine: context.machine, programs }, signal);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
