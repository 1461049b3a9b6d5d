/** Adds an imported server to `tool_servers` of the configuration, and says what it needs. */

import { parseConfigLayer } from "@toolcrib/config";
import { type Diagnostic, formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { GivenValues, ImportedServer } from "@toolcrib/mcpkg-registry";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { invalidConfig } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { asTyped } from "../serve/source-table.ts";
import { type ConfigFile, openConfigFile, withEntry, writeConfigFile } from "../toolspec/config-file.ts";
import { configurationLines } from "../toolspec/entry-text.ts";
import { shownEntry } from "./shown-entry.ts";

/** Options of commands that import a server. */
export interface ImportServerFlags {
  readonly id?: string;
  readonly set?: readonly (readonly [string, string])[];
  readonly secret?: readonly (readonly [string, string])[];
  readonly dryRun?: boolean;
}

/** Returns the values of the flags. */
export function toGivenValues({ set = [], secret = [] }: ImportServerFlags): GivenValues {
  const values = new Map<string, string[]>();
  for (const [name, value] of set) values.set(name, [...(values.get(name) ?? []), value]);
  return { values, secrets: new Map(secret) };
}

/** Returns a valid id from the name of a server, such as `io.github.user/weather`. */
export function serverIdFrom(name: string): string {
  const last = name.split("/").at(-1) ?? name;
  const id = last
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9.-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(0, 40)
    .replace(/[-.]+$/, "");
  return id === "" ? "server" : id;
}

/** Opens the configuration for a new server. @throws {CliError} `CLI_CONFIG_INVALID`, `CLI_USAGE` for an id that is taken */
export function openConfigFor(context: CliContext, id: string): ConfigFile {
  const file = openConfigFile(context);
  const layer = parseConfigLayer({ name: file.shown, text: file.text });
  if (hasErrors(layer.diagnostics)) throw invalidConfig([file.shown], layer.diagnostics);
  if (![...layer.serverIds, ...layer.toolspecIds].some((one) => one.id === id)) return file;
  throw new CliError("CLI_USAGE", `${file.shown} already has an entry with the id ${JSON.stringify(id)}`, {
    hint: "choose another id: --id ID; or remove that entry first",
  });
}

/** An import that is ready to be written. */
export interface PreparedServer extends ImportedServer {
  /** Id of its entry. */
  readonly id: string;
  /** The imported server, for people: its name and version. */
  readonly title: string;
  /** Findings of its file. */
  readonly found: readonly Diagnostic[];
  /** Further facts for `--json`. */
  readonly facts: { readonly [name: string]: unknown };
  /** Lines for people. */
  readonly lines: readonly string[];
  /** Runs before the configuration is written. */
  readonly prepare?: () => Promise<void>;
  /** Removes what `prepare` wrote, as far as it was not there before. */
  readonly discard?: () => Promise<void>;
}

/** Returns what adds an import as it is: nothing of it runs. */
export function finishUntried(flags: ImportServerFlags): FinishImport {
  return async (context, server) =>
    await addServer(context, openConfigFor(context, server.id), server, flags);
}

/**
 * Writes the entry, and reports findings, secrets and what to try.
 *
 * @throws {CliError} `CLI_IMPORT_FAILED` with the findings, `CLI_CONFIG_NOT_EDITABLE`, `CLI_CONFIG_INVALID`
 */
async function addServer(
  context: CliContext,
  file: ConfigFile,
  server: PreparedServer,
  flags: ImportServerFlags,
): Promise<ExitCode> {
  const { output } = context;
  const { title, secrets, facts, lines } = server;
  const { entry, diagnostics } = requireEntry(server);
  const { text } = await withEntry(context, file, "tool_servers", entry);
  if (!output.isJson && diagnostics.length > 0) output.note(formatDiagnostics(diagnostics), "");
  const isDry = flags.dryRun === true;
  if (!isDry) {
    await server.prepare?.();
    await writeConfigFile(file, text);
  }
  output.json({
    ...facts,
    file: file.path,
    isWritten: !isDry,
    entry: shownEntry(entry),
    secrets,
    diagnostics: diagnostics.map(toJsonDiagnostic),
  });
  output.print(
    isDry ? `Would add ${safeLine(title)} to ${file.shown}:` : `Added ${safeLine(title)} to ${file.shown}:`,
    "",
    ...configurationLines("tool_servers", shownEntry(entry)).map((line) => safeYaml(line)),
    ...lines.map((line) => safeLine(line)),
  );
  if (secrets.length > 0) {
    output.print("", "Store each secret before the server starts:");
    for (const { name, purpose } of secrets) {
      output.print(`  ${ownCommand(context)} secret set ${shellQuote(name)}   # ${safeLine(purpose)}`);
    }
  }
  output.print(
    "",
    asTyped(
      "The server is unverified: it runs contained, and its tools wait for toolcrib approve. Read what it is before you raise trust_state.",
      context,
    ),
  );
  return exitCodes.done;
}

/** Returns the entry of an import, and all findings. @throws {CliError} `CLI_IMPORT_FAILED` with the findings */
export function requireEntry({ entry, title, found, diagnostics: own }: PreparedServer): {
  readonly entry: JsonObject;
  readonly diagnostics: readonly Diagnostic[];
} {
  const diagnostics = [...found, ...own];
  if (entry !== undefined) return { entry, diagnostics };
  throw new CliError(
    "CLI_IMPORT_FAILED",
    `Cannot import ${title}: it needs something that only you can decide`,
    {
      hint: "see the errors above; nothing was written",
      data: { diagnostics },
    },
  );
}

/** Completes an import that was read. */
export type FinishImport = (context: CliContext, server: PreparedServer) => Promise<ExitCode>;

/** Keeps the indentation of a line of YAML. */
function safeYaml(line: string): string {
  const indentation = /^ */.exec(line)?.[0] ?? "";
  return `${indentation}${safeLine(line)}`;
}
