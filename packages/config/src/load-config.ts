/**
 * Reads a configuration from texts (`parseConfig`) and from files (`loadConfig`).
 * Both return all findings of all files together and never throw for invalid
 * input.
 */

import { type Diagnostic, hasErrors, type Source } from "@toolcrib/diagnostics";
import { documentMaxBytes, notUtf8, toDiagnostic, tooLarge } from "@toolcrib/document";
import type { FileContent } from "@toolcrib/files";
import { explainFileFailure } from "@toolcrib/secrets";
import { configKind } from "./config-kind.ts";
import { parseConfigLayer } from "./config-layer.ts";
import type { Switches } from "./config-types.ts";
import type { HasCommand } from "./lint-commands.ts";
import type { LoadToolspecsDeps } from "./load-toolspecs.ts";
import { type ConfigResult, mergeConfigs } from "./merge-configs.ts";

/**
 * Parses `sources` as one configuration, composed left to right (`mergeConfigs`).
 *
 * Each source is YAML or JSON, in Toolcrib's own format or that of another MCP
 * host. Flags and the environment are passed as the last source, such as
 * `{ name: "--listen", text: '{"serve": {"listen": "127.0.0.1:0"}}' }`.
 *
 * Reads no file: entries of `toolspecs` have no pairs, and a gateway does not
 * offer them. Use `loadConfig` to read the pairs.
 */
export function parseConfig(sources: readonly Source[]): ConfigResult {
  return mergeConfigs(sources.map((source) => parseConfigLayer(source)));
}

/** Dependencies of `loadConfig`. */
export interface LoadConfigDeps extends LoadToolspecsDeps {
  /** Returns the names of the existing tokens, for warnings about `policy.clients`. @default not known: no warnings */
  readonly tokenNames?: (() => readonly string[]) | undefined;
  /** Name of the token that the gateway creates and gives out when it starts, where it accepts tokens. @default none */
  readonly createdTokenName?: string | undefined;
  /** Returns whether the machine has a command, for warnings. @default not known: no warnings */
  readonly hasCommand?: HasCommand | undefined;
  /** Returns the names of the tools that tool servers listed last, by their ids, for warnings about patterns. @default not known */
  readonly listedTools?: (() => Promise<ReadonlyMap<string, readonly string[]>>) | undefined;
}

/** Options of `loadConfig`. */
export interface LoadConfigOptions {
  /** Sources that are composed after the files, such as flags and environment. @default none */
  readonly overrides?: readonly Source[];
  /** Switches of the operator. @default none */
  readonly switches?: Switches | undefined;
}

/**
 * Reads the files at `paths`, parses them like `parseConfig`, then reads the
 * files that they name: manifests, toolspecs, certificates. Files that cannot be
 * read are reported as findings.
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
    ({ toolspecs, servers, sections }) =>
      toolspecs.length > 0 ||
      servers.some(({ adopted }) => adopted !== undefined) ||
      sections.egress?.ca_files !== undefined,
  );
  // Loaded on demand: most configurations name no files.
  const { layers, certificates } = namesFiles
    ? await (await import("./load-toolspecs.ts")).loadFilesOf(parsed, deps)
    : { layers: parsed, certificates: undefined };
  const namesPolicies = layers.some(({ sections }) => sections.policy?.files !== undefined);
  const policies = namesPolicies
    ? await (await import("./load-policies.ts")).loadPolicyFiles(layers, deps)
    : undefined;
  const { value, diagnostics } = mergeConfigs(layers, {
    certificates,
    policyFiles: policies?.files,
    tokenNames: deps.tokenNames?.(),
    hasCommand: deps.hasCommand,
    switches: options.switches,
    listedTools: await deps.listedTools?.(),
  });
  const findings = [...unreadable, ...diagnostics, ...(policies?.diagnostics ?? [])];
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
