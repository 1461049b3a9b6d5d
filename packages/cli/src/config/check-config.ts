/** `toolcrib config check` and `toolcrib config schema`. They start no server. */

import { configJsonSchema, formatConfigReport, loadConfig } from "@toolcrib/config";
import { hasErrors } from "@toolcrib/diagnostics";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { findExecutable } from "../find-executable.ts";
import { schemaText } from "../init/config-template.ts";
import { noteWrapped } from "../output/note-wrapped.ts";
import { safeLine } from "../output/output.ts";
import { printReport } from "../output/print-report.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";
import { findListedTools } from "../policy/known-test-names.ts";
import { ownCommand } from "../serve/own-command.ts";
import { findConfigFiles } from "./find-config-files.ts";
import { lintArguments } from "./lint-arguments.ts";
import { lintHookScripts } from "./lint-hook-scripts.ts";
import { lintReferences } from "./lint-references.ts";
import { lintWritePaths } from "./lint-write-paths.ts";
import { toLoadConfigDeps } from "./load-config-deps.ts";
import { serversWithUnknownTools } from "./unknown-tools.ts";

/** Runs `config check`. */
export async function checkConfig(context: CliContext, given: readonly string[]): Promise<ExitCode> {
  const { output } = context;
  const files = given.length > 0 ? given : findConfigFiles(context);
  // Without readable pins the tools are not known.
  const listed = await findListedTools(context).catch(() => new Map<string, readonly string[]>());
  // A check writes nothing, not even a cache.
  const { value, diagnostics: found } = await loadConfig(files, {
    ...toLoadConfigDeps(context),
    pairCache: undefined,
    listedTools: async () => listed,
    hasCommand: (command, { path = context.env["PATH"] ?? "", directory = context.directory }) =>
      findExecutable(command, { path, directory, platform: context.platform }) !== undefined,
  });
  const unshown = [...files, ...(value?.policy.files ?? []).map(({ path }) => path)];
  const diagnostics = [
    ...found,
    ...lintArguments(context, value?.toolServers ?? [], unshown),
    ...lintWritePaths(context, value?.toolServers ?? [], unshown),
    ...(value === undefined ? [] : lintHookScripts(context, value.hooks)),
    ...(value === undefined ? [] : await lintReferences(context, value)),
  ];
  printReport(context, formatConfigReport(files, diagnostics));
  const unknown = value === undefined ? [] : serversWithUnknownTools(value, listed);
  if (unknown.length > 0) {
    noteWrapped(
      context,
      `note: patterns are not compared with the tools of ${unknown.map(safeLine).join(", ")}, which are not known before a gateway of this home listed them: ${ownCommand(context)} list`,
    );
  }
  const isFaulty = (file: string) =>
    diagnostics.some(({ severity, source }) => severity === "error" && source?.name === file);
  output.json({
    ok: !hasErrors(diagnostics),
    files: files.map((file) => ({ file, ok: !isFaulty(file) })),
    diagnostics: diagnostics.map(toJsonDiagnostic),
  });
  return hasErrors(diagnostics) ? exitCodes.usage : exitCodes.done;
}

/** Runs `config schema`. */
export async function printSchema(context: CliContext): Promise<ExitCode> {
  const { output } = context;
  if (output.isJson) output.json(configJsonSchema());
  else context.stdout.write(schemaText());
  return exitCodes.done;
}
