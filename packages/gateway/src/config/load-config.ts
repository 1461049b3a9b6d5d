/**
 * Configuration from texts (`parseConfig`) and from files (`loadConfig`). All
 * problems of all files come back together; neither throws for bad input.
 */

import { type Diagnostic, hasErrors, type Source } from "@toolcrib/diagnostics";
import { explainFileFailure } from "@toolcrib/secrets";
import { configFileUnreadable, configSyntax } from "./codes.ts";
import { parseConfigLayer } from "./config-layer.ts";
import { configMaxBytes } from "./config-tree.ts";
import { createPairReader, type LoadToolspecsDeps, loadLayerFiles } from "./load-toolspecs.ts";
import { type ConfigResult, mergeConfigs } from "./merge-configs.ts";
import { openPairCache } from "./pair-cache.ts";
import { tooLarge } from "./parse-tree.ts";
import type { FileContent } from "./read-file.ts";
import { toDiagnostic } from "./reporter.ts";

/**
 * Read `sources` as one configuration, composed left to right (`mergeConfigs`).
 *
 * Each source is YAML or JSON, Toolcrib's own or that of another MCP host.
 * Flags and the environment take part as a last source, such as
 * `{ name: "--listen", text: '{"serve": {"listen": "127.0.0.1:0"}}' }`.
 *
 * Reads no file: entries of `toolspecs` come without their pairs, which a
 * gateway needs to offer them (`loadConfig`).
 */
export function parseConfig(sources: readonly Source[]): ConfigResult {
  return mergeConfigs(sources.map(parseConfigLayer));
}

/** What `loadConfig` needs of the world. */
export type LoadConfigDeps = LoadToolspecsDeps;

/** How `loadConfig` composes. */
export interface LoadConfigOptions {
  /** Composed after the files: flags and environment. @default none */
  readonly overrides?: readonly Source[];
}

/**
 * Read the files at `paths`, then as `parseConfig`, then the files that they
 * name: manifests, toolspecs, certificates. Files that cannot be read are among
 * the problems.
 */
export async function loadConfig(
  paths: readonly string[],
  deps: LoadConfigDeps,
  options: LoadConfigOptions = {},
): Promise<ConfigResult> {
  const read = await Promise.all(paths.map((path) => readSource(path, deps)));
  const unreadable = read.flatMap((result) => ("diagnostic" in result ? [result.diagnostic] : []));
  const sources = read.flatMap((result) => ("source" in result ? [result.source] : []));
  const layers = [...sources, ...(options.overrides ?? [])].map(parseConfigLayer);
  const { pairCache } = deps;
  const cache =
    pairCache === undefined || layers.every(({ toolspecs }) => toolspecs.length === 0)
      ? undefined
      : await openPairCache(pairCache.folder, pairCache.version, deps.readFile);
  const readPair = createPairReader(deps, cache);
  const loaded = await Promise.all(layers.map((layer) => loadLayerFiles(layer, readPair, deps)));
  await cache?.save();
  const certificates = new Map(loaded.flatMap((one) => [...one.certificates]));
  const { value, diagnostics } = mergeConfigs(
    loaded.map(({ layer }) => layer),
    certificates,
  );
  const all = [...unreadable, ...diagnostics];
  return { value: hasErrors(all) ? undefined : value, diagnostics: all };
}

type ReadResult = { readonly source: Source } | { readonly diagnostic: Diagnostic };

async function readSource(path: string, deps: LoadConfigDeps): Promise<ReadResult> {
  const nameless: Source = { name: path, text: "" };
  let content: FileContent;
  try {
    content = await deps.readFile(path, configMaxBytes);
  } catch (error) {
    const problem = {
      code: configFileUnreadable,
      message: `Cannot read the configuration: ${explainFileFailure(error)}`,
      hint: "check the path, and that the user who runs Toolcrib can read the file",
    };
    return { diagnostic: toDiagnostic(problem, nameless) };
  }
  if (content.bytes.length > configMaxBytes) return { diagnostic: toDiagnostic(tooLarge(), nameless) };
  try {
    return { source: { name: path, text: new TextDecoder("utf-8", { fatal: true }).decode(content.bytes) } };
  } catch {
    const problem = {
      code: configSyntax,
      message: "Cannot read the configuration: it is not text in UTF-8",
      hint: "store the file as UTF-8",
    };
    return { diagnostic: toDiagnostic(problem, nameless) };
  }
}
