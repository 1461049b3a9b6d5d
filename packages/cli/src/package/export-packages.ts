/**
 * `toolcrib export`: the tools of the installed packages for a runtime of models: those that the gateway lists for the
 * operator, unless all are asked for. Hidden characters are removed, as they are from lists.
 */

import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { isCodedError } from "@toolcrib/diagnostics";
import { replaceFile } from "@toolcrib/files";
import { type JsonObject, SchemaValidator } from "@toolcrib/json";
import { type ExportFormat, exportTools } from "@toolcrib/mcpkg";
import { type InstalledPackage, openInstalledPackage } from "@toolcrib/mcpkg-install";
import { testSummaryOf } from "@toolcrib/mcpkg-runtime";
import { stripHiddenValue } from "@toolcrib/redaction";
import { createTestHistory, type TestHistory } from "@toolcrib/store";
import { findReachableGateway } from "../access/open-tool-access.ts";
import { openRemoteTools } from "../access/remote-tools.ts";
import type { ToolAccess } from "../access/tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { loadCliConfig } from "../config/load-cli-config.ts";
import { createCommandLogger } from "../create-command-logger.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { usableInstalled } from "./installed-packages.ts";

/** Options of the command. */
export interface ExportFlags {
  readonly format?: ExportFormat;
  readonly all?: boolean;
  readonly out?: string;
  readonly examplesLength?: number;
}

/** Runs the command. */
export async function exportPackages(context: CliContext, flags: ExportFlags): Promise<ExitCode> {
  const { output, directory, options } = context;
  const history = createTestHistory(options.home, { randomBytes });
  const validator = new SchemaValidator();
  const packages = [];
  const all = await usableInstalled(context);
  const listed = flags.all === true || all.length === 0 ? undefined : await listedPackages(context);
  const wanted = all.filter(({ toolId }) => listed === undefined || listed.has(toolId));
  const leftOut = all.filter((one) => !wanted.includes(one)).map(({ toolId }) => toolId);
  for (const installed of wanted) {
    const found = openInstalledPackage(installed, validator);
    const testSummary = flags.format === undefined ? await summaryOf(context, history, installed) : undefined;
    packages.push({ found, testSummary });
  }
  const {
    document: exported,
    names,
    notes: exportNotes,
  } = exportTools(packages, {
    format: flags.format,
    ...(flags.examplesLength === undefined ? {} : { examplesMaxLength: flags.examplesLength }),
  });
  const document = stripHiddenValue(exported);
  const notes = [
    ...exportNotes,
    ...(document === exported ? [] : ["hidden characters were removed from names, descriptions or schemas"]),
    ...(leftOut.length === 0
      ? []
      : [
          `left out, because the gateway does not list them for you: ${leftOut.join(", ")} (--all exports them too)`,
        ]),
  ];
  const text = `${JSON.stringify(document, undefined, 2)}\n`;
  if (flags.out === undefined) {
    context.stdout.write(text);
  } else {
    await replaceFile({ randomBytes }, resolve(directory, flags.out), text, {
      mode: 0o644,
      keepPermissions: true,
      followSymlink: true,
    });
    output.json({ file: flags.out, tools: names, notes });
    output.print(`Wrote ${safeLine(flags.out)}: ${names.length} ${names.length === 1 ? "tool" : "tools"}`);
  }
  if (!output.isJson) for (const note of notes) output.note(safeLine(note));
  return exitCodes.done;
}

/**
 * The toolIds of the packages that the running gateway lists for the operator, or one that is started without other
 * servers. Undefined without a configuration: no policy applies then.
 */
async function listedPackages(context: CliContext): Promise<ReadonlySet<string> | undefined> {
  const { options, signal } = context;
  const running = options.configFiles.length === 0 ? await findReachableGateway(options.home) : undefined;
  let opened: ToolAccess;
  try {
    opened =
      running === undefined ? await openPackagesAlone(context) : await openRemoteTools(running, signal);
  } catch (error) {
    if (isCodedError(error) && error.code === "CLI_CONFIG_NOT_FOUND") return undefined;
    throw error;
  }
  await using access = opened;
  const [tools, servers] = await Promise.all([access.list(), access.servers()]);
  const packages = new Set(servers.filter(({ kind }) => kind === "package").map(({ id }) => id));
  return new Set(tools.map(({ namespace }) => namespace).filter((id) => packages.has(id)));
}

async function openPackagesAlone(context: CliContext): Promise<ToolAccess> {
  const loaded = await loadCliConfig(context);
  const config = { ...loaded.config, toolServers: [], toolspecs: [] };
  const { openLocalTools } = await import("../access/local-tools.ts");
  return await openLocalTools(
    context,
    { ...loaded, config },
    createCommandLogger(context, "silent"),
    undefined,
  );
}

async function summaryOf(
  { output }: CliContext,
  history: TestHistory,
  { toolId, digest }: InstalledPackage,
): Promise<JsonObject | undefined> {
  try {
    return testSummaryOf(await history.list(toolId), digest);
  } catch (error) {
    if (!isCodedError(error)) throw error;
    output.note(`The results of the tests of ${toolId} are left out: ${error.message}`);
    return undefined;
  }
}
