/**
 * `toolcrib add`: adds an API of the catalog. It shows the hosts and credentials of
 * the API, stores its secrets, adds an entry to the configuration without changing
 * anything else in it, and prints what to try. A second run finds the existing
 * entry and adds missing secrets.
 */

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  appendToolspecEntry,
  configJsonSchemaText,
  loadConfig,
  parseConfigLayer,
  type ToolspecDeclaration,
} from "@toolcrib/config";
import { hasErrors } from "@toolcrib/diagnostics";
import { errnoOf, FilesError } from "@toolcrib/files";
import type { JsonObject } from "@toolcrib/json";
import { inputSchemaOf, type ToolspecTool } from "@toolcrib/toolspec";
import { findRunningGateway } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { configFileNames, shortPath } from "../config/find-config-files.ts";
import { invalidConfig } from "../config/load-cli-config.ts";
import { toLoadConfigDeps } from "../config/load-config-deps.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { configTemplate, schemaFileName } from "../init/config-template.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { writeUserFile } from "../write-user-file.ts";
import { type CatalogEntry, findEntries, parseEntryName, readEntries, readEntry } from "./catalog.ts";
import { configurationLines, factLines, headingLines } from "./entry-text.ts";
import { type ObtainedSecret, obtainSecrets, type WantedSecret, wantedSecrets } from "./obtain-secrets.ts";

/** Options of the command. */
export interface AddFlags {
  readonly id?: string;
  readonly secret?: readonly (readonly [credential: string, name: string])[];
  readonly withoutSecrets?: boolean;
  readonly variable?: readonly (readonly [name: string, value: string])[];
  readonly allTools?: boolean;
  readonly yes?: boolean;
}

/** Runs the command. */
export async function addToolspec(
  context: CliContext,
  requested: string | undefined,
  flags: AddFlags,
): Promise<ExitCode> {
  const { output } = context;
  const { entry, version } = await chooseEntry(context, requested);
  const { manifest } = entry;
  const file = openConfigFile(context);
  const id = flags.id ?? manifest.name;
  const present = presentEntry(file, id, manifest.name);
  output.print(...headingLines(entry, output), "", ...factLines(entry, output), "");
  const names = present === undefined ? new Map(flags.secret ?? []) : namesOf(present, flags);
  const wanted = wantedSecrets(entry, id, names);
  // Check that the entry can be written before the user types a secret.
  const text =
    present === undefined
      ? await withEntry(
          context,
          file,
          toEntry(entry, {
            id,
            version,
            wanted,
            flags,
            variables: await chooseVariables(context, entry, flags),
          }),
        )
      : undefined;
  if (text !== undefined && flags.yes !== true && canAsk(context)) await confirm(context, file.shown);
  const secrets = await obtainSecrets(context, entry, wanted, { isLater: flags.withoutSecrets === true });
  if (text !== undefined) await write(file, text);
  reportDone(context, { entry, id, file, secrets, isNew: present === undefined, flags });
  return exitCodes.done;
}

/** Finds the entry for a name or for search words, and the requested version. */
async function chooseEntry(
  context: CliContext,
  requested: string | undefined,
): Promise<{ readonly entry: CatalogEntry; readonly version: string | undefined }> {
  const isAsking = canAsk(context);
  if (requested === undefined && !isAsking) {
    throw new CliError("CLI_USAGE", "The name of the API is missing", {
      hint: "see toolcrib add --list, or find one with toolcrib catalog search WORDS",
    });
  }
  const text = requested ?? (await askLine("Which API? (a name, or what it should do) ", context));
  const { name, version } = parseEntryName(text);
  const entries = await readEntries(context);
  const isName = version !== undefined || entries.some(({ manifest }) => manifest.name === name);
  const hits = isName ? [] : findEntries(entries, name, 8);
  if (hits.length === 0) return { entry: await readEntry(context, name, version), version };
  if (isAsking) return { entry: await chooseHit(context, hits), version };
  const names = hits.map(({ manifest }) => manifest.name);
  throw new CliError("CLI_TOOLSPEC_NOT_FOUND", `The catalog has no toolspec ${JSON.stringify(name)}`, {
    hint: names.length === 1 ? `did you mean ${names[0]}?` : `did you mean one of ${names.join(", ")}?`,
  });
}

async function chooseHit(context: CliContext, hits: readonly CatalogEntry[]): Promise<CatalogEntry> {
  const { output } = context;
  output.note(
    ...hits.map(
      ({ manifest }, at) => `  ${at + 1}  ${manifest.name}  ${safeLine(manifest.description ?? "")}`,
    ),
  );
  for (;;) {
    const answer = await askLine(`Which one? (1 to ${hits.length}, or Enter to stop) `, context);
    if (answer === "") throw new CliError("CLI_INTERRUPTED", "Nothing was added");
    const hit = hits.find(({ manifest }, at) => manifest.name === answer || String(at + 1) === answer);
    if (hit !== undefined) return hit;
  }
}

/** The configuration file for the entry. */
interface ConfigFile {
  readonly path: string;
  /** The path for display. */
  readonly shown: string;
  /** The current content, or the initial content of a new file. */
  readonly text: string;
  readonly isNew: boolean;
}

/** Opens the last file of `--config`, otherwise the existing file, otherwise a new file in this folder. */
function openConfigFile(context: CliContext): ConfigFile {
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
function presentEntry(
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

/** Returns the names of the secrets of an existing entry. Only named and stored secrets have one. */
function namesOf(present: ToolspecDeclaration, { secret = [] }: AddFlags): ReadonlyMap<string, string> {
  if (secret.length > 0) {
    throw new CliError("CLI_USAGE", `${JSON.stringify(present.id)} already is in the configuration`, {
      hint: "change its credentials there, or omit --secret",
    });
  }
  return new Map(
    Object.entries(present.credentials).flatMap(([id, ref]) =>
      ref.kind === "named" || ref.kind === "store" ? [[id, ref.name] as const] : [],
    ),
  );
}

async function chooseVariables(
  context: CliContext,
  { toolspec }: CatalogEntry,
  flags: AddFlags,
): Promise<{ readonly [name: string]: string }> {
  const { output } = context;
  const declared = toolspec.variables ?? {};
  const given = new Map(flags.variable ?? []);
  const unknown = [...given.keys()].find((name) => !Object.hasOwn(declared, name));
  if (unknown !== undefined) {
    const known = Object.keys(declared).join(", ");
    throw new CliError("CLI_USAGE", `It has no variable ${JSON.stringify(unknown)}`, {
      hint: known === "" ? "omit --variable: it has none" : `its variables are ${known}`,
    });
  }
  for (const [name, { description, default: fallback }] of Object.entries(declared)) {
    if (given.has(name) || fallback !== undefined) continue;
    if (!canAsk(context) || flags.yes === true) {
      throw new CliError("CLI_USAGE", `It needs a value for its variable ${JSON.stringify(name)}`, {
        hint: `give it: --variable ${name}=VALUE${description === undefined ? "" : ` (${safeLine(description)})`}`,
      });
    }
    if (description !== undefined) output.note(safeLine(description));
    given.set(name, await askLine(`${name}: `, context));
  }
  return Object.fromEntries(given);
}

async function confirm(context: CliContext, shown: string): Promise<void> {
  const answer = await askLine(`Add it to ${shown}? [Y/n] `, context);
  if (!/^(?:y|yes)?$/i.test(answer)) throw new CliError("CLI_INTERRUPTED", "Nothing was added");
}

/** The choices of the operator for an entry. */
interface Chosen {
  readonly id: string;
  readonly version: string | undefined;
  readonly wanted: readonly WantedSecret[];
  readonly flags: AddFlags;
}

function toEntry(
  { manifest, toolspec }: CatalogEntry,
  {
    id,
    version,
    flags,
    variables,
    wanted,
  }: Chosen & { readonly variables: { readonly [name: string]: string } },
): JsonObject {
  const hasDefaults = (manifest.tools ?? []).some((tool) => tool.default === true);
  const credentials = wanted.map(
    ({ credential, name }) => [credential.id, { secret_key_ref: name }] as const,
  );
  return {
    name: toolspec.name,
    ...(version === undefined ? {} : { version }),
    ...(id === manifest.name ? {} : { id }),
    ...(credentials.length === 0 ? {} : { credentials: Object.fromEntries(credentials) }),
    ...(Object.keys(variables).length === 0 ? {} : { variables }),
    ...(flags.allTools === true || !hasDefaults ? { tools: "all" } : {}),
  };
}

/**
 * Returns the text of `file` with `entry` added.
 *
 * @throws {CliError} `CLI_CONFIG_NOT_EDITABLE`; `CLI_CONFIG_INVALID` if the configuration would be invalid.
 */
async function withEntry(context: CliContext, file: ConfigFile, entry: JsonObject): Promise<string> {
  const text = appendToolspecEntry(file.text, entry);
  if (text === undefined) {
    const message = `Cannot add to ${file.shown}: the notation of its toolspecs cannot be edited automatically`;
    throw new CliError("CLI_CONFIG_NOT_EDITABLE", message, {
      hint: `add this yourself:\n${configurationLines(entry).join("\n")}`,
    });
  }
  await checkWhole(context, file, text);
  return text;
}

async function write(file: ConfigFile, text: string): Promise<void> {
  try {
    if (file.isNew) {
      mkdirSync(dirname(file.path), { recursive: true });
      await writeUserFile(join(dirname(file.path), schemaFileName), configJsonSchemaText());
    }
    await writeUserFile(file.path, text);
  } catch (cause) {
    const errno = cause instanceof FilesError ? cause.errno : errnoOf(cause);
    throw new CliError("CLI_FILE_UNUSABLE", `Cannot write ${file.shown}: ${errno}`, { cause });
  }
}

/** @throws {CliError} `CLI_CONFIG_INVALID` if the files together are invalid with `text` as the content of `file`. */
async function checkWhole(context: CliContext, file: ConfigFile, text: string): Promise<void> {
  const { options } = context;
  const deps = toLoadConfigDeps(context);
  const files = options.configFiles.length > 1 ? options.configFiles : [file.shown];
  const { diagnostics } = await loadConfig(files, {
    ...deps,
    readFile: (path, maxBytes) =>
      resolve(context.directory, path) === file.path
        ? Promise.resolve({ bytes: new TextEncoder().encode(text), mode: undefined })
        : deps.readFile(path, maxBytes),
    pairCache: undefined,
  });
  if (hasErrors(diagnostics)) throw invalidConfig(files, diagnostics);
}

function reportDone(
  context: CliContext,
  done: {
    readonly entry: CatalogEntry;
    readonly id: string;
    readonly file: ConfigFile;
    readonly secrets: readonly ObtainedSecret[];
    readonly isNew: boolean;
    readonly flags: AddFlags;
  },
): void {
  const { output, options } = context;
  const { entry, id, file, secrets, isNew, flags } = done;
  const command = ownCommand(context);
  const offered = offeredTools(entry, flags);
  output.json({
    id,
    name: entry.manifest.name,
    version: entry.manifest.version,
    file: file.path,
    result: isNew ? "added" : "present",
    secrets,
    tools: offered.map(({ name }) => `${id}__${name}`),
  });
  const check = output.style("green", "✓");
  for (const { name, result } of secrets) {
    if (result === "kept") output.print(`${check} stored the secret ${name}`);
    if (result === "found") output.print(`${check} found the secret ${name}`);
    if (result === "missing") {
      output.print(
        `${output.style("yellow", "!")} store its secret: ${command} secret set ${shellQuote(name)}`,
      );
    }
  }
  output.print(`${check} ${isNew ? `added ${id} to ${file.shown}` : `${id} is in ${file.shown}`}`);
  const configFlag = options.configFiles.map((path) => ` --config ${shellQuote(path)}`).join("");
  output.print("", output.style("bold", "Try"), `  ${command} list --server ${id}${configFlag}`);
  const example = offered.find(({ method }) => method === "GET") ?? offered[0];
  if (example !== undefined)
    output.print(`  ${command} call ${id}__${example.name}${argumentWords(example)}${configFlag}`);
  if (isNew && findRunningGateway(options.home) !== undefined) {
    output.print("", "Restart the running gateway to use it.");
  }
}

function offeredTools({ manifest, toolspec }: CatalogEntry, flags: AddFlags): readonly ToolspecTool[] {
  const isDefault = new Set(
    (manifest.tools ?? []).filter((tool) => tool.default === true).map(({ name }) => name),
  );
  if (flags.allTools === true || isDefault.size === 0) return toolspec.tools;
  return toolspec.tools.filter(({ name }) => isDefault.has(name));
}

/** Returns the required arguments of a tool with placeholders. */
function argumentWords(tool: ToolspecTool): string {
  const { required } = inputSchemaOf(tool) as { readonly required?: readonly string[] };
  return (required ?? []).map((name) => ` --arg ${shellQuote(`${name}=…`)}`).join("");
}
