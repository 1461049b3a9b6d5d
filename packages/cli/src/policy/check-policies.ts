/** `toolcrib policy check` and `policy schema`. They start no server. */

import { resolve } from "node:path";
import { cedarSchema, clientIdOf, parsePolicies, readPolicyFile } from "@toolcrib/cedar";
import { formatConfigReport, loadConfig } from "@toolcrib/config";
import { type Diagnostic, hasErrors, isCodedError, messageOf } from "@toolcrib/diagnostics";
import { readRegularFile } from "@toolcrib/files";
import { openAuditReader } from "@toolcrib/store";
import { findRunningGateways } from "../access/run-file.ts";
import type { CliContext } from "../cli-context.ts";
import { findConfigFiles, shortPath } from "../config/find-config-files.ts";
import { toLoadConfigDeps } from "../config/load-config-deps.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
import { safeLine } from "../output/output.ts";
import { printReport } from "../output/print-report.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { findListedTools } from "./known-test-names.ts";
import type { DecidedRecord } from "./recorded-request.ts";

/** Runs `policy check`: checks the given policy files, or those of the configuration with their lists. */
export async function checkPolicies(context: CliContext, given: readonly string[]): Promise<ExitCode> {
  const { output } = context;
  const { files, diagnostics } =
    given.length > 0 ? await checkFiles(context, given) : await checkConfigured(context);
  printReport(context, formatConfigReport(files, diagnostics));
  output.json({ ok: !hasErrors(diagnostics), files, diagnostics: diagnostics.map(toJsonDiagnostic) });
  return hasErrors(diagnostics) ? exitCodes.usage : exitCodes.done;
}

/** The files that were checked, and all findings about them. */
interface Checked {
  readonly files: readonly string[];
  readonly diagnostics: readonly Diagnostic[];
}

async function checkConfigured(context: CliContext): Promise<Checked> {
  const configFiles = configFilesFor(context);
  const recentClients = () => findRecentClients(context);
  // Without readable pins the tools are not known.
  const listedTools = () => findListedTools(context).catch(() => new Map());
  const deps = { ...toLoadConfigDeps(context), pairCache: undefined, recentClients, listedTools };
  const { value, diagnostics } = await loadConfig(configFiles, deps);
  const policyFiles = value?.policy.files.map(({ name }) => name) ?? [];
  return { files: [...configFiles, ...policyFiles], diagnostics };
}

/**
 * Returns the files of the configuration to check: those of this command, otherwise those of the running gateway.
 * Where that gateway serves others, a note names them.
 *
 * @throws {CliError} `CLI_CONFIG_NOT_FOUND`
 */
function configFilesFor(context: CliContext): readonly string[] {
  const { directory, options, output } = context;
  const running = findRunningGateways(options.home).filter(({ configFiles }) => configFiles.length > 0);
  const [first] = running;
  const shown = (files: readonly string[]) =>
    files.map((file) => safeLine(shortPath(file, directory))).join(", ");
  let files: readonly string[];
  try {
    files = findConfigFiles(context);
  } catch (error) {
    if (first === undefined || !isCodedError(error) || error.code !== "CLI_CONFIG_NOT_FOUND") throw error;
    const served = first.configFiles.map((file) => shortPath(file, directory));
    noteWrapped(
      context,
      `note: this is about ${shown(served)}, which the gateway at ${safeLine(first.url)} serves: there is no configuration here`,
    );
    return served;
  }
  const own = files.map((file) => resolve(directory, file));
  const isServed = running.some(({ configFiles }) => own.some((file) => configFiles.includes(file)));
  if (first === undefined || isServed) return files;
  const named = first.configFiles
    .map((file) => ` --config ${shellQuote(shortPath(file, directory))}`)
    .join("");
  noteWrapped(
    context,
    `${output.noteStyle("yellow", "warning")}: this is about ${shown(files)}; the gateway at ${safeLine(first.url)} serves ${shown(first.configFiles)}. To check that: ${ownCommand(context)} policy check${named}`,
  );
  return files;
}

async function checkFiles({ directory }: CliContext, files: readonly string[]): Promise<Checked> {
  const unreadable: Diagnostic[] = [];
  const sources: { name: string; text: string }[] = [];
  for (const name of files) {
    try {
      sources.push({ name, text: await readPolicyFile(resolve(directory, name), readRegularFile) });
    } catch (error) {
      const message = `Cannot read the policy file: ${messageOf(error)}`;
      unreadable.push({
        severity: "error",
        code: "CONFIG_POLICY_UNREADABLE",
        message,
        source: { name, text: "" },
      });
    }
  }
  return { files, diagnostics: [...unreadable, ...(await parsePolicies(sources)).diagnostics] };
}

/** Most records that are read for clients, and how far back. */
const recentMaxRecords = 1000;
const recentMs = 24 * 60 * 60 * 1000;

/** Returns the ids of the clients that made calls within the last day; none where the trail cannot be read. */
async function findRecentClients({ options, now }: CliContext): Promise<readonly string[]> {
  try {
    await using reader = await openAuditReader({ home: options.home });
    const type = ["call.intent", "call.denied"] as const;
    const records = await reader.list({ type, since: now() - recentMs, limit: recentMaxRecords });
    const ids = (records as readonly DecidedRecord[]).map(({ data: { client } }) =>
      clientIdOf({ issuer: client.issuer ?? "toolcrib:token", subject: client.subject ?? client.name }),
    );
    return [...new Set(ids)];
  } catch {
    return [];
  }
}

/** Runs `policy schema`. */
export async function printPolicySchema(context: CliContext): Promise<ExitCode> {
  if (context.output.isJson) context.output.json({ schema: cedarSchema });
  else context.stdout.write(cedarSchema);
  return exitCodes.done;
}
