/**
 * Loads the configuration of a run from files, the environment and flags; later
 * sources override earlier ones. An invalid configuration throws one error that
 * carries every finding.
 */

import { resolve } from "node:path";
import { type GatewayConfig, type LoadConfigDeps, loadConfig, parseConfig } from "@toolcrib/config";
import { type Diagnostic, hasErrors, isCodedError, type Source } from "@toolcrib/diagnostics";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { readSwitches } from "../switches/read-switches.ts";
import { configCandidates, findConfigFiles } from "./find-config-files.ts";
import { lintArguments } from "./lint-arguments.ts";
import { lintWritePaths } from "./lint-write-paths.ts";
import { toLoadConfigDeps } from "./load-config-deps.ts";

/** Flags that override parts of the configuration. */
export interface ConfigFlags {
  /** `serve.listen` */
  readonly listen?: string;
  /** `serve.auth` */
  readonly auth?: string;
  /** `serve.mode` */
  readonly mode?: string;
}

/** Settings of `loadCliConfig` for reading files. */
export interface ConfigReading {
  /** Receives the complete paths of the files that decide about the configuration before they are read, also when it is invalid. */
  readonly watched?: Set<string>;
  /** Returns the text of a file that is not written yet. @default none */
  readonly textOf?: (path: string) => string | undefined;
  /** As in `LoadConfigDeps`. */
  readonly lintsMany?: LoadConfigDeps["lintsMany"];
  /** As in `LoadConfigDeps`. */
  readonly createdTokenName?: LoadConfigDeps["createdTokenName"];
  /** As for `pairCache` in `LoadConfigDeps`. */
  readonly writeLater?: NonNullable<LoadConfigDeps["pairCache"]>["writeLater"];
}

/** A configuration and its files. */
export interface LoadedConfig {
  readonly config: GatewayConfig;
  /** Paths of the files, for display. */
  readonly files: readonly string[];
  /** Warnings only; errors are thrown. */
  readonly warnings: readonly Diagnostic[];
}

/**
 * Loads the configuration of this run.
 *
 * @param reading how the files are read
 * @throws {CliError} `CLI_CONFIG_NOT_FOUND`, `CLI_CONFIG_INVALID` with all findings in `data.diagnostics`.
 */
export async function loadCliConfig(
  context: CliContext,
  flags: ConfigFlags = {},
  { watched = new Set(), textOf, lintsMany, createdTokenName, writeLater }: ConfigReading = {},
): Promise<LoadedConfig> {
  const watch = (path: string) => watched.add(resolve(context.directory, path));
  for (const path of configCandidates(context)) watch(path);
  const files = findConfigFiles(context);
  const overrides = overridesOf(flags, context.env);
  const switches = await readSwitches(context.options.home, watch);
  const deps = toLoadConfigDeps(context);
  const reader = textOf === undefined ? deps.readFile : readerOf(deps.readFile, textOf);
  const readFile: typeof deps.readFile = (path, maxBytes) => {
    watch(path);
    return reader(path, maxBytes);
  };
  const { value, diagnostics } = await loadConfig(
    files,
    {
      ...deps,
      readFile,
      lintsMany,
      createdTokenName,
      pairCache: deps.pairCache && { ...deps.pairCache, writeLater },
    },
    { overrides, switches },
  );
  if (value === undefined || hasErrors(diagnostics)) throw invalidConfig(files, diagnostics);
  const unshown = [...files, ...value.policy.files.map(({ path }) => path)];
  const unseen = lintArguments(context, value.toolServers, unshown);
  const unwritable = lintWritePaths(context, value.toolServers, unshown);
  return { config: value, files, warnings: [...diagnostics, ...unseen, ...unwritable] };
}

/**
 * Loads the configuration of this run, or the defaults where there is none: packages and registries need none.
 *
 * @throws {CliError} `CLI_CONFIG_INVALID`
 */
export async function loadConfigOrDefaults(
  context: CliContext,
): Promise<Pick<LoadedConfig, "config" | "files">> {
  try {
    return await loadCliConfig(context);
  } catch (error) {
    if (!isCodedError(error) || error.code !== "CLI_CONFIG_NOT_FOUND") throw error;
    const { value } = parseConfig([]);
    if (value === undefined) throw error;
    return { config: value, files: [] };
  }
}

/** Reads files, of which some have texts that are not written yet. */
function readerOf(
  readFile: LoadConfigDeps["readFile"],
  textOf: (path: string) => string | undefined,
): LoadConfigDeps["readFile"] {
  return (path, maxBytes) => {
    const text = textOf(path);
    return text === undefined
      ? readFile(path, maxBytes)
      : Promise.resolve({ bytes: new TextEncoder().encode(text), mode: undefined });
  };
}

/** Creates the error for an invalid configuration. */
export function invalidConfig(files: readonly string[], diagnostics: readonly Diagnostic[]): CliError {
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  // A flag, a variable and a file of policies are sources, too.
  const faulty = new Set(errors.flatMap(({ source }) => (source === undefined ? [] : [source.name])));
  const places = faulty.size === 0 ? files : [...faulty];
  return new CliError(
    "CLI_CONFIG_INVALID",
    `The configuration has ${errors.length === 1 ? "an error" : `${errors.length} errors`}: ${places.join(", ")}`,
    { hint: "fix the errors listed above", data: { diagnostics } },
  );
}

/** `MCP_METATOOL_TIMEOUT` (milliseconds) and `MCP_METATOOL_DEBUG`, as sources that override `execution`. */
function executionOf(env: { readonly [name: string]: string | undefined }): readonly Source[] {
  const layers: Source[] = [];
  const add = (name: string, field: string, value: unknown) =>
    layers.push({ name, text: JSON.stringify({ execution: { [field]: value } }) });
  const timeout = env["MCP_METATOOL_TIMEOUT"]?.trim() ?? "";
  if (timeout !== "")
    add("MCP_METATOOL_TIMEOUT", "timeout", /^\d+$/.test(timeout) ? Number(timeout) : timeout);
  const debug = env["MCP_METATOOL_DEBUG"]?.trim() ?? "";
  // The configuration rejects any other value and reports its position.
  if (debug !== "") add("MCP_METATOOL_DEBUG", "enableDebug", booleans.get(debug.toLowerCase()) ?? debug);
  return layers;
}

const booleans: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["false", false],
  ["0", false],
]);

/** Returns the environment and the flags as the last sources of the configuration. */
function overridesOf(
  flags: ConfigFlags,
  env: { readonly [name: string]: string | undefined },
): readonly Source[] {
  const sources: Source[] = [];
  const add = (name: string, serve: object) => sources.push({ name, text: JSON.stringify({ serve }) });
  const listen = env["TOOLCRIB_LISTEN"] ?? "";
  sources.push(...executionOf(env));
  if (listen !== "") add("TOOLCRIB_LISTEN", { listen });
  if (flags.listen !== undefined) add("--listen", { listen: flags.listen });
  if (flags.auth !== undefined) add("--auth", { auth: flags.auth });
  if (flags.mode !== undefined) add("--mode", { mode: flags.mode });
  return sources;
}
