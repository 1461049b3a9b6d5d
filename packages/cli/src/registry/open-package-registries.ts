/** The registries of a command: those of the configuration, or the ones that `--registry` names. */

import { randomBytes } from "node:crypto";
import { join, resolve } from "node:path";
import type { GatewayConfig } from "@toolcrib/config";
import {
  isRegistryPath,
  isRegistryUrl,
  openRegistries,
  type PackageRegistries,
  type RegistryPlace,
  type RegistrySource,
  readRegistryUrl,
  type SendRegistryRequest,
  showPlace,
} from "@toolcrib/mcpkg-registry";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { openDownloads } from "../egress/open-downloads.ts";
import { safeLine } from "../output/output.ts";

/** Options of commands that read registries. */
export interface RegistryFlags {
  /** Names of the configuration, URLs or folders. @default all of the configuration */
  readonly registry?: readonly string[];
  readonly offline?: boolean;
  readonly timeout?: number;
}

/** Registries that a command uses. */
export interface OpenedRegistries extends AsyncDisposable {
  readonly registries: PackageRegistries;
}

/**
 * Reads the registries of a command.
 *
 * @throws {CliError} `CLI_USAGE` for a name that is not known, `CLI_CONFIG_INVALID`; as `openRegistries`
 */
export async function openPackageRegistries(
  context: CliContext,
  flags: RegistryFlags,
): Promise<OpenedRegistries> {
  const { config } = await loadConfigOrDefaults(context);
  const sources = sourcesOf(context, config, flags);
  if (sources.length === 0) {
    throw new CliError("CLI_USAGE", "No registry of packages is configured", {
      hint: "name one with --registry FOLDER or --registry URL, or add it to toolcrib.yaml: registries: [{ name: NAME, url: … }]",
    });
  }
  const downloads = await openDownloads(context, config.egress, "registry");
  try {
    const send: SendRegistryRequest = (request) =>
      new URL(request.url).protocol === "http:"
        ? downloads.fromLoopback(request)
        : downloads.fromHost(request);
    const deps = { home: context.options.home, now: context.now, randomBytes, send };
    const registries = await openRegistries(deps, sources, {
      signal: context.signal,
      isOffline: flags.offline === true,
      ...(flags.timeout === undefined ? {} : { timeoutMs: flags.timeout, archiveTimeoutMs: flags.timeout }),
    });
    return { registries, [Symbol.asyncDispose]: () => downloads[Symbol.asyncDispose]() };
  } catch (error) {
    await downloads[Symbol.asyncDispose]();
    throw error;
  }
}

/**
 * Returns the names of the registries of a command, in their order; none where no registry is configured or named.
 *
 * @throws {CliError} `CLI_USAGE`, `CLI_CONFIG_INVALID`
 */
export async function registryNamesOf(context: CliContext, flags: RegistryFlags): Promise<readonly string[]> {
  return sourcesOf(context, (await loadConfigOrDefaults(context)).config, flags).map(({ name }) => name);
}

/** Reports copies that are used, keys that were accepted, and registries that cannot be used. */
export function noteRegistries({ output }: CliContext, { opened, failed }: PackageRegistries): void {
  for (const { source, statement, isFirstUse, replacedKeyId, stale } of opened) {
    const name = safeLine(source.name);
    if (isFirstUse) {
      output.note(
        `First use of the registry ${name}: its key ${statement.keyId} counts from now on; compare it with the one that its operator states`,
      );
    }
    if (replacedKeyId !== undefined) {
      output.note(
        `The key of the registry ${name} was replaced: ${statement.keyId} counts from now on, which ${replacedKeyId} signed${source.keyId === undefined ? "" : `; write it into the configuration: key: ${statement.keyId}`}`,
      );
    }
    if (stale !== undefined) {
      const at = new Date(stale.checkedAtMs).toISOString();
      output.note(`Using the copy of the registry ${name} of ${at}: ${safeLine(stale.reason)}`);
    }
  }
  for (const { source, error } of failed) {
    output.note(
      `The registry ${safeLine(source.name)} is left out: ${safeLine(error.message)} (${error.code})`,
      ...(error.hint === undefined ? [] : [`  hint: ${safeLine(error.hint)}`]),
    );
  }
}

function sourcesOf(
  context: CliContext,
  { registries }: Pick<GatewayConfig, "registries">,
  { registry: wanted }: RegistryFlags,
): readonly RegistrySource[] {
  const configured = registries.map(({ name, url, folder, keyId }): RegistrySource => {
    const place: RegistryPlace =
      url === undefined ? { kind: "folder", path: absolute(context, folder ?? "") } : readRegistryUrl(url);
    return { name, place, keyId };
  });
  if (wanted === undefined) return configured;
  return wanted.map((text) => {
    const named = configured.find(({ name }) => name === text);
    if (named !== undefined) return named;
    const place = placeOf(context, text, configured);
    // The key of the configuration counts, however the registry is named.
    return configured.find((one) => showPlace(one.place) === showPlace(place)) ?? { name: text, place };
  });
}

function placeOf(context: CliContext, text: string, configured: readonly RegistrySource[]): RegistryPlace {
  if (isRegistryUrl(text)) return readRegistryUrl(text);
  if (isRegistryPath(text)) return { kind: "folder", path: absolute(context, text) };
  const names = configured.map(({ name }) => name);
  throw new CliError("CLI_USAGE", `No registry of the configuration has the name "${text}"`, {
    hint: `${names.length === 0 ? "it has none" : `it has ${names.join(", ")}`}; write a folder as ./${text}`,
  });
}

/**
 * Returns the folder of a registry that a command changes: the name of one in the configuration, or a path.
 *
 * @throws {CliError} `CLI_USAGE` for a URL or the name of a registry with a URL
 */
export async function registryFolderOf(context: CliContext, text: string): Promise<string> {
  const fail = (what: string) =>
    new CliError("CLI_USAGE", `Cannot change ${what}: only a folder can be changed`, {
      hint: "change the folder that the web server serves, and copy it there",
    });
  if (isRegistryUrl(text)) throw fail(text);
  if (!isRegistryPath(text)) {
    const named = (await loadConfigOrDefaults(context)).config.registries.find(({ name }) => name === text);
    if (named?.url !== undefined) throw fail(`the registry ${text}, which is at ${named.url}`);
    if (named?.folder !== undefined) return absolute(context, named.folder);
  }
  return absolute(context, text);
}

function absolute({ directory, userDirectory }: CliContext, path: string): string {
  return /^~[\\/]/.test(path) ? join(userDirectory, path.slice(2)) : resolve(directory, path);
}
