/**
 * Configuration from texts (`parseConfig`) and from files (`loadConfig`). All
 * problems of all files come back together; neither throws for bad input.
 */

import { type Diagnostic, hasErrors, type Source } from "@toolcrib/diagnostics";
import { documentMaxBytes, notUtf8, toDiagnostic, tooLarge } from "@toolcrib/document";
import type { FileContent } from "@toolcrib/files";
import { explainFileFailure } from "@toolcrib/secrets";
import { configKind } from "./config-kind.ts";
import { parseConfigLayer } from "./config-layer.ts";
import type { LoadToolspecsDeps } from "./load-toolspecs.ts";
import { type ConfigResult, mergeConfigs } from "./merge-configs.ts";

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
  return mergeConfigs(sources.map((source) => parseConfigLayer(source)));
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
  const all = [...sources, ...(options.overrides ?? [])];
  const parsed = all.map((source) => parseConfigLayer(source));
  const namesFiles = parsed.some(
    ({ toolspecs, sections }) => toolspecs.length > 0 || sections.egress?.ca_files !== undefined,
  );
  // What reads them is loaded where there are any.
  const { layers, certificates } = namesFiles
    ? await (await import("./load-toolspecs.ts")).loadFilesOf(parsed, deps)
    : { layers: parsed, certificates: undefined };
  const { value, diagnostics } = mergeConfigs(layers, certificates);
  const findings = [...unreadable, ...diagnostics];
  return { value: hasErrors(findings) ? undefined : value, diagnostics: findings };
}

type ReadResult = { readonly source: Source } | { readonly diagnostic: Diagnostic };

async function readSource(path: string, deps: LoadConfigDeps): Promise<ReadResult> {
  const nameless: Source = { name: path, text: "" };
  let content: FileContent;
  try {
    content = await deps.readFile(path, documentMaxBytes);
  } catch (error) {
    const problem = {
      code: "CONFIG_FILE_UNREADABLE",
      message: `Cannot read the configuration: ${explainFileFailure(error)}`,
      hint: "check the path, and that the user who runs Toolcrib can read the file",
    };
    return { diagnostic: toDiagnostic(problem, nameless) };
  }
  if (content.bytes.length > documentMaxBytes)
    return { diagnostic: toDiagnostic(tooLarge(configKind), nameless) };
  try {
    return { source: { name: path, text: new TextDecoder("utf-8", { fatal: true }).decode(content.bytes) } };
  } catch {
    return { diagnostic: toDiagnostic(notUtf8(configKind), nameless) };
  }
}
