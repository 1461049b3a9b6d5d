/** Which implementations of an installed package run on this machine, as it is configured, and why. */

import { access } from "node:fs/promises";
import type { GatewayConfig, PackageConfig } from "@toolcrib/config";
import { isCodedError } from "@toolcrib/diagnostics";
import type { Manifest } from "@toolcrib/mcpkg";
import {
  candidatesOf,
  createMachine,
  measurementsOf,
  selectImplementations,
  type Verdict,
} from "@toolcrib/mcpkg-runtime";
import { SecretScrubber } from "@toolcrib/redaction";
import { createTestHistory } from "@toolcrib/store";
import type { SourceContext } from "../sources/open-sources.ts";
import { endpointUrlOf } from "./package-http.ts";
import { PackagePrograms, type ProgramsContext } from "./package-programs.ts";

/** A package, and how it is configured. */
export interface JudgedPackage {
  /** Folder of the package. */
  readonly folder: string;
  readonly manifest: Manifest;
  readonly config: PackageConfig;
  /** Digest of the archive: only runs of its tests count. */
  readonly digest: string;
}

/** What the decision needs. */
export interface JudgeDeps {
  readonly machine: SourceContext["machine"];
  readonly programs: Pick<PackagePrograms, "startOf">;
  readonly home: string;
  readonly randomBytes: SourceContext["randomBytes"];
}

/** Judges the implementations of a package; runtimes are asked in the sandbox of the package. */
export async function judgePackage(
  { folder, manifest, config, digest }: JudgedPackage,
  { machine, programs, home, randomBytes }: JudgeDeps,
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
  const measurements =
    candidates.length > 1 ? await measured(toolId, digest, { home, randomBytes }) : undefined;
  return await selectImplementations(candidates, found, { language, implementation, measurements });
}

/** What the tests say about each implementation; nothing where their history cannot be read: a package runs without it. */
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
  const { machine, home, randomBytes } = context;
  return await judgePackage({ ...one, config }, { machine, programs, home, randomBytes }, signal);
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
