/**
 * `toolcrib init`: writes a commented toolcrib.yaml, with the servers of other
 * programs' files when they are named. Overwrites nothing without `--force`,
 * starts nothing, and takes no credential over.
 */

import { existsSync, mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { configJsonSchemaText, parseConfig } from "@toolcrib/config";
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
import { configTemplate, schemaFileName } from "./config-template.ts";
import { findForeignFiles } from "./foreign-files.ts";
import { type ImportedServers, importServers, leftOutComments, type WantedSecret } from "./import-servers.ts";
import { yamlComment } from "./yaml-text.ts";

/** Its options. */
export interface InitFlags {
  readonly import?: readonly string[];
  readonly force?: boolean;
}

/** Run the command. */
export async function writeConfig(
  context: CliContext,
  directory: string,
  flags: InitFlags,
): Promise<ExitCode> {
  const { output } = context;
  const folder = resolve(context.directory, directory);
  const path = join(folder, "toolcrib.yaml");
  if (existsSync(path) && flags.force !== true) {
    throw new CliError("CLI_FILE_EXISTS", `${shortPath(path, context.directory)} is there already`, {
      hint: "overwrite it with --force, or add to it what you need",
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
    output.print("", "Servers of other programs that can be taken over:");
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
  return [...yamlComment(`Taken over from ${file}`, "  "), ...imported.lines, ...leftOutComments(imported)];
}

/** What is written must be a sound configuration; what several files make of one id is found here too. */
function checkWritten(path: string, text: string): void {
  const { diagnostics } = parseConfig([{ name: path, text }]);
  if (!hasErrors(diagnostics)) return;
  throw new CliError(
    "CLI_IMPORT_FAILED",
    "Cannot import: the servers do not make a sound configuration together",
    {
      hint: "import fewer files at once, or mend what is listed above in them",
      data: { diagnostics },
    },
  );
}

async function write(folder: string, path: string, text: string): Promise<void> {
  try {
    mkdirSync(folder, { recursive: true });
    await writeUserFile(path, text);
    await writeUserFile(join(folder, schemaFileName), configJsonSchemaText());
  } catch (cause) {
    throw new CliError(
      "CLI_FILE_UNUSABLE",
      `Cannot write in ${folder}: ${cause instanceof FilesError ? cause.errno : errnoOf(cause)}`,
      { cause },
    );
  }
}

function printImport(context: CliContext, file: string, imported: ImportedServers): void {
  const { output } = context;
  const { ids, leftOut, secrets, warnings } = imported;
  output.print(
    `${output.style("green", "✓")} took over ${ids.length} of ${ids.length + leftOut.length} servers of ${file}: ${ids.join(", ")}`,
  );
  for (const { id, reason } of leftOut)
    output.print(`${output.style("yellow", "!")} left out ${id}: ${reason}`);
  if (warnings.length > 0) output.note(formatDiagnostics(warnings), "");
  if (secrets.length > 0) {
    output.print("", "Credentials are not taken over. Put each where it is looked for:");
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
