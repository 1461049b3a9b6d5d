/**
 * `toolcrib init`: writes a commented toolcrib.yaml, with the servers of other
 * programs' files if the user names them. Overwrites nothing without `--force`,
 * starts no server, and copies no credential.
 */

import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseConfig } from "@toolcrib/config";
import { formatDiagnostics, hasErrors } from "@toolcrib/diagnostics";
import { errnoOf, FilesError } from "@toolcrib/files";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { shortPath } from "../config/find-config-files.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import type { Output } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { writeUserFile } from "../write-user-file.ts";
import { configTemplate, schemaFileName, schemaText } from "./config-template.ts";
import { findForeignFiles } from "./foreign-files.ts";
import { type ImportedServers, importServers, leftOutComments, type WantedSecret } from "./import-servers.ts";
import { yamlComment } from "./yaml-text.ts";

/** Options of the command. */
export interface InitFlags {
  readonly import?: readonly string[];
  readonly force?: boolean;
}

/** Runs the command. */
export async function writeConfig(
  context: CliContext,
  directory: string,
  flags: InitFlags,
): Promise<ExitCode> {
  const { output } = context;
  const folder = resolve(context.directory, directory);
  const path = join(folder, "toolcrib.yaml");
  if (existsSync(path) && flags.force !== true) {
    throw new CliError("CLI_FILE_EXISTS", `${shortPath(path, context.directory)} already exists`, {
      hint: "edit it, or overwrite it with --force",
    });
  }
  const imports = new Map<string, ImportedServers>();
  for (const file of flags.import ?? []) {
    imports.set(file, await importServers(resolve(context.directory, file), folder, context.env));
  }
  const text = configTemplate([...imports].flatMap(([file, imported]) => serverLines(file, imported)));
  checkWritten(path, text);
  await write(folder, path, text);
  const offered = imports.size === 0 ? await findForeignFiles(folder, context) : [];
  output.json({
    written: [path, join(folder, schemaFileName)],
    imported: [...imports].flatMap(([file, { ids }]) => ids.map((id) => ({ file, id }))),
    leftOut: [...imports].flatMap(([file, { leftOut }]) => leftOut.map((one) => ({ file, ...one }))),
    secrets: [...imports.values()].flatMap(({ secrets }) => secrets),
    found: offered.map(({ path: file, owner, serverIds }) => ({ file, owner, servers: serverIds })),
  });
  const shown = shortPath(path, context.directory);
  output.print(`${output.style("green", "✓")} wrote ${shown} and ${schemaFileName} (for editors)`);
  for (const [file, imported] of imports) printImport(context, file, imported);
  const commandInit = `${ownCommand(context)} init${directory === "." ? "" : ` ${shellQuote(directory)}`}`;
  if (offered.length > 0) {
    output.print("", "Servers of other programs that can be imported:");
    for (const { path: file, owner, serverIds } of offered) {
      const source = shellQuote(shortPath(file, context.directory));
      output.print(
        `  ${output.style("bold", owner)}: ${serverIds.join(", ")}`,
        `    ${commandInit} --force --import ${source}`,
      );
    }
  }
  const configFlag = folder === context.directory ? "" : ` --config ${shellQuote(shown)}`;
  output.print("", `Next: edit ${shown}, then ${ownCommand(context)} serve${configFlag}`);
  return exitCodes.done;
}

function serverLines(file: string, imported: ImportedServers): string[] {
  return [...yamlComment(`Imported from ${file}`, "  "), ...imported.lines, ...leftOutComments(imported)];
}

/** Checks that the text is a valid configuration. Several files can have servers with the same id. */
function checkWritten(path: string, text: string): void {
  const { diagnostics } = parseConfig([{ name: path, text }]);
  if (!hasErrors(diagnostics)) return;
  throw new CliError(
    "CLI_IMPORT_FAILED",
    "Cannot import: the servers together are not a valid configuration",
    {
      hint: "import fewer files at once, or fix the errors listed above",
      data: { diagnostics },
    },
  );
}

async function write(folder: string, path: string, text: string): Promise<void> {
  try {
    mkdirSync(folder, { recursive: true });
    await writeUserFile(path, text);
    await writeUserFile(join(folder, schemaFileName), schemaText());
  } catch (cause) {
    throw new CliError(
      "CLI_FILE_UNUSABLE",
      `Cannot write to ${folder}: ${cause instanceof FilesError ? cause.errno : errnoOf(cause)}`,
      { cause },
    );
  }
}

function printImport(context: CliContext, file: string, imported: ImportedServers): void {
  const { output } = context;
  const { ids, leftOut, secrets, warnings } = imported;
  output.print(
    `${output.style("green", "✓")} imported ${ids.length} of ${ids.length + leftOut.length} servers from ${file}: ${ids.join(", ")}`,
  );
  for (const { id, reason } of leftOut)
    output.print(`${output.style("yellow", "!")} not imported: ${id}: ${reason}`);
  if (warnings.length > 0) output.note(formatDiagnostics(warnings), "");
  if (secrets.length > 0) {
    output.print("", "Credentials are not imported. Store each of them:");
    for (const secret of secrets) printSecret(context, output, secret);
  }
}

function printSecret(context: CliContext, output: Output, { kind, name, purpose }: WantedSecret): void {
  output.print(`  ${output.style("bold", name)} (${purpose})`);
  if (kind === "env") {
    output.print("    set this variable in the environment that starts Toolcrib");
    return;
  }
  output.print(
    "    run this, and paste the credential; it is not shown:",
    `    ${ownCommand(context)} secret set ${shellQuote(name)}`,
  );
}
