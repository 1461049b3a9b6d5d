/** An entry of an index: one version of a package, with what search and resolution need of it. Pure. */

import {
  archiveNameOf,
  type Endpoint,
  type Manifest,
  type OpenedPackage,
  type PackageReach,
  packageReach,
} from "@toolcrib/mcpkg";

/** Where a tool runs. An absent member is not restricted. */
export interface EntryImplementation {
  /** Such as `javascript`, `python` or `dotnet`. */
  readonly language?: string;
  readonly runtime?: string;
  /** Such as `linux-x64`. */
  readonly platforms?: readonly string[];
}

/** One version of a package in a registry. */
export interface IndexEntry {
  readonly toolId: string;
  readonly version: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly tags: readonly string[];
  readonly license?: string;
  /** Name of the publisher as the manifest states it, which nobody checks. */
  readonly publisher?: string;
  /** The kinds of execution of the tool: the types of its endpoints, or `chain`. */
  readonly kinds: readonly string[];
  readonly implementations: readonly EntryImplementation[];
  /** Tools that a chain calls. */
  readonly needs: readonly string[];
  /** Its reach, by its manifest; absent in an entry of an earlier version. */
  readonly reach?: PackageReach & {
    /** The number of tools that are left out. @default 0 */
    readonly moreTools?: number;
  };
  /** Names of the tests. */
  readonly tests: readonly string[];
  /** The beginning of each example. */
  readonly examples: readonly string[];
  /** Digest of the archive, as `digestArchive` gives it. */
  readonly digest: string;
  /** Size of the archive. */
  readonly bytes: number;
  /** Id of the key that signed the package; absent for an unsigned one. */
  readonly publisherKey?: string;
  /** ISO 8601. */
  readonly addedAt: string;
  /** Present where the version was withdrawn: ranges do not select it. */
  readonly yanked?: { readonly at: string; readonly reason?: string };
}

/** Longest part of one example, of all examples, and most names of tests that an entry has. */
const exampleMaxChars = 1000;
const examplesMaxChars = 2000;
const testsMaxCount = 50;
/** Most tools that an entry names; a list of an index has at most 512 items. */
const toolsMaxCount = 500;

/** Returns the entry of a package. */
export function toEntry(opened: OpenedPackage, bytes: number, addedAt: string): IndexEntry {
  const { manifest, tests, signature, digest } = opened;
  const { toolId, version, name, description, capabilities, meta = {}, chain = [] } = manifest;
  const publisher = meta.publisher?.name ?? meta.publisher?.id;
  return {
    toolId,
    version,
    name,
    description,
    capabilities,
    tags: meta.tags ?? [],
    ...(meta.license === undefined ? {} : { license: meta.license }),
    ...(publisher === undefined ? {} : { publisher }),
    kinds: kindsOf(manifest),
    implementations: implementationsOf(manifest),
    needs: [...new Set(chain.map(({ tool }) => tool))],
    reach: reachFor(manifest),
    tests: [...tests.values()].slice(0, testsMaxCount).map((test) => test.name),
    examples: examplesOf(opened),
    digest,
    bytes,
    ...(signature.kind === "signed" ? { publisherKey: signature.keyId } : {}),
    addedAt,
  };
}

/** Returns the path of the archive of an entry in its registry, with `/` between its parts. */
export function archivePathOf(entry: Pick<IndexEntry, "toolId" | "version">): string {
  return `packages/${archiveNameOf(entry)}`;
}

function reachFor(manifest: Manifest): NonNullable<IndexEntry["reach"]> {
  const reach = packageReach(manifest);
  const { tools } = reach;
  if (tools.length <= toolsMaxCount) return reach;
  return { ...reach, tools: tools.slice(0, toolsMaxCount), moreTools: tools.length - toolsMaxCount };
}

function kindsOf({ endpoint, implementations = [], chain }: Manifest): readonly string[] {
  const endpoints = [
    ...(endpoint === undefined ? [] : [endpoint]),
    ...implementations.map((one) => one.endpoint),
  ];
  return [...new Set([...endpoints.map(({ type }) => type), ...(chain === undefined ? [] : ["chain"])])];
}

/** An endpoint runs like an implementation; what is not said of an implementation follows from its endpoint. */
function implementationsOf({ endpoint, implementations = [] }: Manifest): readonly EntryImplementation[] {
  const own = implementations.map(({ language, runtime, platforms, endpoint: its }) =>
    toImplementation({ language: language ?? languageOf(its), runtime, platforms }),
  );
  return endpoint === undefined ? own : [...own, toImplementation({ language: languageOf(endpoint) })];
}

function toImplementation({
  language,
  runtime,
  platforms,
}: {
  readonly language?: string | undefined;
  readonly runtime?: string | undefined;
  readonly platforms?: readonly string[] | undefined;
}): EntryImplementation {
  return {
    ...(language === undefined ? {} : { language }),
    ...(runtime === undefined ? {} : { runtime }),
    ...(platforms === undefined ? {} : { platforms }),
  };
}

const languages: ReadonlyMap<string, string> = new Map([
  ["node", "javascript"],
  ["python", "python"],
  ["python3", "python"],
  ["dotnet", "dotnet"],
]);

function languageOf(endpoint: Endpoint): string | undefined {
  if (endpoint.type === "starlark") return "starlark";
  if (endpoint.type === "http") return undefined;
  return languages.get(endpoint.command.trim().split(/\s+/, 1)[0] ?? "");
}

function examplesOf({ manifest, files }: OpenedPackage): readonly string[] {
  let left = examplesMaxChars;
  const texts: string[] = [];
  for (const path of manifest.examples ?? []) {
    const bytes = files.get(path)?.bytes;
    if (bytes === undefined || left <= 0) continue;
    const start = new TextDecoder().decode(bytes.subarray(0, exampleMaxChars * 4));
    const text = start.slice(0, Math.min(exampleMaxChars, left)).toWellFormed();
    left -= text.length;
    texts.push(text);
  }
  return texts;
}
