/**
 * The configuration file that `toolcrib add` and `toolcrib import` edit. It adds one entry, changes
 * nothing else, and never writes a configuration that would be invalid.
 */

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  appendEntry,
  type EntrySection,
  type GatewayConfig,
  loadConfig,
  parseConfigLayer,
  type ServerDeclaration,
  type ToolspecDeclaration,
} from "@toolcrib/config";
import { hasErrors } from "@toolcrib/diagnostics";
import { errnoOf, FilesError } from "@toolcrib/files";
import type { JsonObject } from "@toolcrib/json";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { configFileNames, shortPath } from "../config/find-config-files.ts";
import { invalidConfig } from "../config/load-cli-config.ts";
import { toLoadConfigDeps } from "../config/load-config-deps.ts";
import { configTemplate, schemaFileName, schemaText } from "../init/config-template.ts";
import { writeUserFile } from "../write-user-file.ts";
import { configurationLines } from "./entry-text.ts";

/** The configuration file for the entry. */
export interface ConfigFile {
  readonly path: string;
  /** The path for display. */
  readonly shown: string;
  /** The current content, or the initial content of a new file. */
  readonly text: string;
  readonly isNew: boolean;
}

/** Opens the last file of `--config`, otherwise the existing file, otherwise a new file in this folder. */
export function openConfigFile(context: CliContext): ConfigFile {
  const { options } = context;
  const given = options.configFiles.at(-1);
  const found = [context.directory, options.home]
    .flatMap((folder) => configFileNames.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
  const path =
    given === undefined
      ? (found ?? join(context.directory, "toolcrib.yaml"))
      : resolve(context.directory, given);
  const shown = shortPath(path, context.directory);
  if (!existsSync(path)) return { path, shown, text: configTemplate([]), isNew: true };
  try {
    return { path, shown, text: readFileSync(path, "utf8"), isNew: false };
  } catch (cause) {
    throw new CliError(
      "CLI_FILE_UNUSABLE",
      `Cannot read ${shown}: ${(cause as NodeJS.ErrnoException).code}`,
      {
        cause,
      },
    );
  }
}

/** Returns the existing entry `id`. @throws {CliError} `CLI_CONFIG_INVALID`, `CLI_USAGE` if the id belongs to something else */
export function presentEntry(
  { shown, text }: ConfigFile,
  id: string,
  name: string,
): ToolspecDeclaration | undefined {
  const layer = parseConfigLayer({ name: shown, text });
  if (hasErrors(layer.diagnostics)) throw invalidConfig([shown], layer.diagnostics);
  const isTaken = layer.serverIds.some((server) => server.id === id);
  const present = layer.toolspecs.find((toolspec) => toolspec.id === id);
  const isSame = present?.reference.kind === "catalog" && present.reference.name === name;
  if (!isTaken && (present === undefined || isSame)) return present;
  throw new CliError("CLI_USAGE", `${shown} already uses the id ${JSON.stringify(id)} for something else`, {
    hint: "choose another id: --id ID",
  });
}

/**
 * Returns the text of `file` with `entry` added.
 *
 * @throws {CliError} `CLI_CONFIG_NOT_EDITABLE`; `CLI_CONFIG_INVALID` if the configuration would be invalid.
 */
export async function withEntry(
  context: CliContext,
  file: ConfigFile,
  section: EntrySection,
  entry: JsonObject,
): Promise<{ readonly text: string; readonly config: GatewayConfig }> {
  return await withEntries(context, file, section, [entry]);
}

/** Returns the text of `file` with all entries added. @throws {CliError} as `withEntry` */
export async function withEntries(
  context: CliContext,
  file: ConfigFile,
  section: EntrySection,
  entries: readonly JsonObject[],
): Promise<{ readonly text: string; readonly config: GatewayConfig }> {
  const text = appendEntry(file.text, section, ...entries);
  if (text === undefined) {
    const message = `Cannot add to ${file.shown}: the notation of its ${section} cannot be edited automatically`;
    const [title = "", ...lines] = entries.flatMap((entry, at) =>
      configurationLines(section, entry).slice(at === 0 ? 0 : 1),
    );
    throw new CliError("CLI_CONFIG_NOT_EDITABLE", message, {
      hint: `add this yourself:\n${[title, ...lines].join("\n")}`,
    });
  }
  return { text, config: await checkConfigText(context, file, text) };
}

/** Returns the existing server `id` that adopts `reference`. @throws {CliError} as `presentEntry` */
export function presentServer(
  { shown, text }: ConfigFile,
  id: string,
  reference: string,
): ServerDeclaration | undefined {
  const layer = parseConfigLayer({ name: shown, text });
  if (hasErrors(layer.diagnostics)) throw invalidConfig([shown], layer.diagnostics);
  const present = layer.servers.find((server) => server.id === id);
  const isTaken = [...layer.serverIds, ...layer.toolspecIds].some((one) => one.id === id);
  const isSame = present?.adopted?.reference.replace(/@[0-9.]+$/, "") === reference.replace(/@[0-9.]+$/, "");
  if (!isTaken || isSame) return present;
  throw new CliError("CLI_USAGE", `${shown} already uses the id ${JSON.stringify(id)} for something else`, {
    hint: "choose another id: --id ID",
  });
}

/** Writes `text` to `file`. A new file gets the JSON Schema for editors next to it. */
export async function writeConfigFile(file: ConfigFile, text: string): Promise<void> {
  try {
    if (file.isNew) {
      mkdirSync(dirname(file.path), { recursive: true });
      await writeUserFile(join(dirname(file.path), schemaFileName), schemaText());
    }
    await writeUserFile(file.path, text);
  } catch (cause) {
    const errno = cause instanceof FilesError ? cause.errno : errnoOf(cause);
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot write ${file.shown}: ${errno}`, { cause });
  }
}

/**
 * Returns the configuration with `text` as the content of `file`.
 *
 * @throws {CliError} `CLI_CONFIG_INVALID` if the files together are invalid
 */
export async function checkConfigText(
  context: CliContext,
  file: ConfigFile,
  text: string,
): Promise<GatewayConfig> {
  const { options } = context;
  const deps = toLoadConfigDeps(context);
  const files = options.configFiles.length > 1 ? options.configFiles : [file.shown];
  const { value, diagnostics } = await loadConfig(files, {
    ...deps,
    readFile: (path, maxBytes) =>
      resolve(context.directory, path) === file.path
        ? Promise.resolve({ bytes: new TextEncoder().encode(text), mode: undefined })
        : deps.readFile(path, maxBytes),
    pairCache: undefined,
  });
  if (value === undefined || hasErrors(diagnostics)) throw invalidConfig(files, diagnostics);
  return value;
}

/**
 * Returns the absolute paths of the configuration files, one that is not written yet too, and of the policy files: the
 * sandbox of the server hides them, and the `.env` files beside them.
 */
export function configFilesOf(
  { directory, options }: CliContext,
  { path }: Pick<ConfigFile, "path">,
  { policy }: Pick<GatewayConfig, "policy">,
): readonly string[] {
  const given = options.configFiles.map((one) => resolve(directory, one));
  return [...new Set([...given, path, ...policy.files.map((one) => one.path)])];
}
