/** Packages, registries and places for the tests of installation. */

import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { SchemaValidator } from "@toolcrib/json";
import {
  newPublisherKey,
  type PackageFiles,
  parsePackage,
  readPrivateKey,
  signPackage,
  writeArchive,
} from "@toolcrib/mcpkg";
import {
  type Allowances,
  applyInstall,
  type FetchBytes,
  type InstallPlan,
  type PackageResolver,
  parseSource,
  planInstall,
} from "@toolcrib/mcpkg-install";
import type { TemporaryDirectory } from "@toolcrib/testing";

export const validator = new SchemaValidator();
/** The key of the publisher of most packages, and that of somebody else. */
export const key = readPrivateKey(newPublisherKey());
export const otherKey = readPrivateKey(newPublisherKey());

const messageSchema = {
  type: "object",
  properties: { message: { type: "string" } },
  required: ["message"],
};

/** The parts of a sample package. */
export interface Sample {
  readonly toolId?: string;
  readonly version?: string;
  /** The tools that its chain calls. @default it has an endpoint */
  readonly chain?: readonly string[];
  /** Further files. */
  readonly files?: { readonly [path: string]: string | Uint8Array };
  readonly executable?: string;
  /** `undefined`: unsigned. @default `key` */
  readonly signer?: typeof key | undefined;
  readonly description?: string;
}

/** Returns the files of a package; signed where a signer is given. */
export function packageFiles(sample: Sample = {}): PackageFiles {
  const { toolId = "demo.echo", version = "1.0.0", chain, files = {}, executable } = sample;
  const run =
    chain === undefined
      ? { endpoint: { type: "http", method: "POST", url: "https://example.com/mcp/echo" } }
      : {
          chain: chain.map((tool, index) => ({
            step: `step${index}`,
            tool,
            inputMapping: { message: "$.input.message" },
            outputKey: `out${index}`,
          })),
        };
  const manifest = {
    toolId,
    name: toolId,
    version,
    description: sample.description ?? "A tool.",
    capabilities: ["demo"],
    ...run,
    input_schema: messageSchema,
    output_schema: messageSchema,
  };
  const contents = { "manifest.json": JSON.stringify(manifest, undefined, 1), ...files };
  const plain = new Map(
    Object.entries(contents).map(([path, content]) => {
      const bytes = typeof content === "string" ? Buffer.from(content) : content;
      return [path, { bytes, isExecutable: path === executable }];
    }),
  );
  const signer = "signer" in sample ? sample.signer : key;
  if (signer === undefined) return plain;
  const { value } = parsePackage(plain, validator);
  if (value === undefined) throw new Error("The sample is not valid");
  return signPackage(value, signer);
}

/** Returns the archive of a package. */
export function archiveOf(sample: Sample = {}): Uint8Array {
  return writeArchive(packageFiles(sample));
}

/** A home, a project, and what a test installs there. */
export interface TestPlace {
  readonly home: string;
  readonly project: string;
}

/** Returns the places below `directory`; the project exists. */
export function placeIn(directory: TemporaryDirectory): TestPlace {
  mkdirSync(directory.join("project"), { recursive: true });
  return { home: directory.join("home"), project: directory.join("project") };
}

/** Options of `install`. */
export interface TestInstall {
  readonly allowed?: Allowances;
  readonly resolver?: PackageResolver;
  readonly fetchBytes?: FetchBytes;
  readonly requiredKey?: string;
  readonly isLocked?: boolean;
  /** Installs for the user. @default false */
  readonly isForUser?: boolean;
  readonly steps?: Parameters<typeof applyInstall>[0]["steps"];
  /** @default `changeDeps` */
  readonly deps?: Parameters<typeof applyInstall>[0];
}

/** The dependencies of changes. */
export const changeDeps = { randomBytes, now: () => 1_700_000_000_000, validator };

/** Plans the installation of `sources`. */
export function plan(
  { home, project }: TestPlace,
  sources: readonly string[],
  { allowed = {}, isForUser = false, resolver, fetchBytes, requiredKey, isLocked }: TestInstall = {},
): Promise<InstallPlan> {
  const deps = {
    validator,
    resolver,
    fetchBytes:
      fetchBytes ??
      (async () => {
        throw new Error("This test fetches nothing");
      }),
  };
  return planInstall(deps, {
    home,
    project: isForUser ? undefined : project,
    sources: sources.map((source) => parseSource(source, project)),
    allowed,
    signal: new AbortController().signal,
    ...(requiredKey === undefined ? {} : { requiredKey }),
    ...(isLocked === undefined ? {} : { isLocked }),
  });
}

/** Installs `sources`, which are archives in the folder of the project, other paths, URLs or toolIds. */
export async function install(
  place: TestPlace,
  sources: readonly (Uint8Array | string)[],
  options: TestInstall = {},
): Promise<InstallPlan> {
  const paths = sources.map((source, index) => {
    if (typeof source === "string") return source;
    const path = `${place.project}/../archive-${index}.mcpkg`;
    writeFileSync(path, source);
    return path;
  });
  const planned = await plan(place, paths, options);
  const { deps = changeDeps, steps } = options;
  await applyInstall({ ...deps, ...(steps && { steps }) }, planned);
  return planned;
}
