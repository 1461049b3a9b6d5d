/**
 * `toolcrib init`: writes a commented toolcrib.yaml, with the servers of other
 * programs' files if the user names them. Overwrites nothing without `--force`,
 * starts no server, and copies no credential.
 */

import { existsSync, mkdirSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { sourceOfFile } from "@toolcrib/clients";
import { entryText, parseConfig } from "@toolcrib/config";
import { hasErrors } from "@toolcrib/diagnostics";
import { errnoOf, FilesError } from "@toolcrib/files";
import { findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { shortPath } from "../config/find-config-files.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { commandRows } from "../first-run/command-rows.ts";
import { findServers, knownSources } from "../import/find-servers.ts";
import type { ImportPlan } from "../import/import-types.ts";
import { isOwnEntry } from "../import/own-entry.ts";
import { planImport } from "../import/plan-import.ts";
import { problemLine } from "../import/show-import.ts";
import { safeLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { writeUserFile } from "../write-user-file.ts";
import { configTemplate, schemaFileName, schemaText } from "./config-template.ts";
import { yamlComment } from "./yaml-text.ts";

/** Options of the command. */
export interface InitFlags {
  readonly import?: readonly string[];
  readonly force?: boolean;
  /** Whether a guide runs the command, which says itself what comes next. @default false */
  readonly isGuided?: boolean;
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
  const imports = new Map<string, ImportPlan>();
  for (const file of flags.import ?? []) {
    const taken = [...imports.values()].flatMap(({ servers }) => servers.map(({ id }) => id));
    imports.set(file, await importFile(context, resolve(context.directory, file), folder, taken));
  }
  const text = configTemplate([...imports].flatMap(([file, imported]) => serverLines(file, imported)));
  checkWritten(path, text);
  await write(folder, path, text);
  const offered = imports.size === 0 ? await findOffered(context, folder) : [];
  const plans = [...imports];
  output.json({
    written: [path, join(folder, schemaFileName)],
    imported: plans.flatMap(([file, { servers }]) => servers.map(({ id }) => ({ file, id }))),
    leftOut: plans.flatMap(([file, { leftOut }]) =>
      leftOut.map(({ origin, reason }) => ({ file, id: origin.name, reason })),
    ),
    secrets: plans.flatMap(([, { servers }]) =>
      servers.flatMap(({ id, secrets }) =>
        secrets.map(({ name, purpose }) => ({ name, purpose: `${purpose} of ${id}` })),
      ),
    ),
    found: offered,
  });
  const shown = shortPath(path, context.directory);
  output.print(`${output.style("green", "✓")} wrote ${shown} and ${schemaFileName} (for editors)`);
  for (const [file, imported] of imports) printImport(context, file, imported);
  if (offered.length > 0) {
    output.print("", "Servers that clients on this machine have:");
    for (const { file, servers } of offered) {
      output.print(`  ${safeLine(shortPath(file, context.directory))}: ${servers.map(safeLine).join(", ")}`);
    }
    output.print(`Take them over with ${ownCommand(context)} import`);
  }
  if (flags.isGuided === true) return exitCodes.done;
  const configFlag = folder === context.directory ? "" : ` --config ${shellQuote(shown)}`;
  const command = ownCommand(context);
  if (plans.length > 0) output.print("", `Next: edit ${shown}, then ${command} serve${configFlag}`);
  else
    output.print(
      "",
      "Next:",
      ...commandRows(output, command, [
        [`add NAME${configFlag}`, "a server or REST API of the catalog; or edit the file"],
        [`serve${configFlag}`, "start the gateway"],
      ]),
    );
  return exitCodes.done;
}

/** Reads a file that the user named. @throws {CliError} `CLI_IMPORT_FAILED` */
async function importFile(
  context: CliContext,
  path: string,
  folder: string,
  taken: readonly string[],
): Promise<ImportPlan> {
  const { env, userDirectory, directory } = context;
  const found = await findServers([sourceOfFile(path, workspaceOf(path))]);
  const target = { ids: taken, entries: [], ownUrls: ownUrlsOf(context) };
  const plan = planImport(found, target, { env, userDirectory, folder }, { withDisabled: false });
  const problems = plan.problems.map((problem) => problemLine(problem, context));
  if (problems.length > 0) {
    throw new CliError("CLI_IMPORT_FAILED", `Cannot import ${shortPath(path, directory)}: it has errors`, {
      hint: problems.join("\n"),
    });
  }
  if (plan.servers.length > 0) return plan;
  const reasons = plan.leftOut.map(({ origin, reason }) => safeLine(`${origin.name}: ${reason}`)).join("; ");
  throw new CliError(
    "CLI_IMPORT_FAILED",
    existsSync(path)
      ? `Cannot import ${path}: ${reasons === "" ? "it contains no servers of a client" : `none of its servers can be imported (${reasons})`}`
      : `Cannot import ${path}: the file does not exist`,
    { hint: "choose a file in which a client lists MCP servers, such as .mcp.json" },
  );
}

/** Returns the project folder of a file: its own folder, or the parent of the settings folder of a client. */
function workspaceOf(path: string): string {
  const folder = dirname(path);
  return /^\.(?:vscode|cursor|codex|gemini|zed|amazonq)$/.test(basename(folder)) ? dirname(folder) : folder;
}

/** The files of clients with servers, for a user who named none. */
async function findOffered(
  context: CliContext,
  folder: string,
): Promise<readonly { readonly file: string; readonly servers: readonly string[] }[]> {
  const { files, servers } = await findServers(knownSources({ ...context, directory: folder }));
  const ownUrls = ownUrlsOf(context);
  const importable = servers.filter(({ server }) => !isOwnEntry(server, ownUrls));
  return files.flatMap((file) => {
    const names = importable.filter(({ origin }) => origin.file === file).map(({ server }) => server.name);
    return names.length === 0 ? [] : [{ file, servers: names }];
  });
}

/** Addresses of the gateways of this home, which their clients have as a server. */
function ownUrlsOf({ options }: CliContext): readonly string[] {
  return findRunningGateways(options.home).map(({ url }) => url);
}

function serverLines(file: string, { servers, leftOut }: ImportPlan): string[] {
  return [
    ...yamlComment(`Imported from ${file}`, "  "),
    ...servers.flatMap(({ entry }) =>
      entryText(entry)
        .split("\n")
        .map((line) => `  ${line}`),
    ),
    ...leftOut.flatMap(({ origin, reason }) =>
      yamlComment(safeLine(`Not imported: ${origin.name}. ${reason}`), "  "),
    ),
  ];
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

function printImport(context: CliContext, file: string, { servers, leftOut }: ImportPlan): void {
  const { output } = context;
  const ids = servers.map(({ id }) => id);
  output.print(
    `${output.style("green", "✓")} imported ${ids.length} of ${ids.length + leftOut.length} servers from ${file}: ${ids.join(", ")}`,
  );
  const warn = (text: string) => output.print(`${output.style("yellow", "!")} ${safeLine(text)}`);
  for (const { origin, reason } of leftOut) warn(`not imported: ${origin.name}: ${reason}`);
  for (const { id, notes } of servers) for (const note of notes) warn(`${id}: ${note}`);
  const secrets = servers.flatMap(({ id, secrets }) => secrets.map((secret) => ({ id, ...secret })));
  if (secrets.length === 0) return;
  const command = ownCommand(context);
  output.print("", "Credentials are not imported. Store each of them:");
  for (const { id, name, purpose } of secrets) {
    output.print(
      `  ${output.style("bold", name)} (${safeLine(purpose)} of ${id})`,
      "    run this, and paste the credential; it is not shown:",
      `    ${command} secret set ${shellQuote(name)}`,
    );
  }
}
