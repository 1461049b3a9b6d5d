/** `toolcrib config check` and `toolcrib config schema`. Neither starts anything. */

import { hasErrors } from "@toolcrib/diagnostics";
import {
  configJsonSchema,
  configJsonSchemaText,
  formatConfigReport,
  loadConfig,
  readRegularFile,
} from "@toolcrib/gateway";
import type { Command } from "commander";
import type { CommandContext, RunCommand } from "../command-context.ts";
import { findConfigFiles } from "../config/find-config-files.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { toJsonDiagnostic } from "../output/report-error.ts";

export function addConfigCommand(program: Command, run: RunCommand): void {
  const config = program.command("config").description("check the configuration, or print its JSON Schema");
  config
    .command("check")
    .description("print OK for each sound file, or every problem with its place (exit code 2)")
    .argument("[files...]", "files that compose left to right (default: the configuration of this folder)")
    .action((files: string[], _flags, command: Command) =>
      run(command, (context) => checkConfig(context, files)),
    );
  config
    .command("schema")
    .description("print the JSON Schema of toolcrib.yaml")
    .action((_flags, command: Command) =>
      run(command, async ({ output, world }) => {
        if (output.isJson) output.json(configJsonSchema());
        else world.stdout.write(configJsonSchemaText());
        return exitCodes.done;
      }),
    );
}

async function checkConfig(context: CommandContext, given: readonly string[]): Promise<ExitCode> {
  const { output } = context;
  const files = given.length > 0 ? given : findConfigFiles(context);
  const { diagnostics } = await loadConfig(files, { readFile: readRegularFile });
  output.print(formatConfigReport(files, diagnostics));
  const isFaulty = (file: string) =>
    diagnostics.some(({ severity, source }) => severity === "error" && source?.name === file);
  output.json({
    ok: !hasErrors(diagnostics),
    files: files.map((file) => ({ file, ok: !isFaulty(file) })),
    diagnostics: diagnostics.map(toJsonDiagnostic),
  });
  return hasErrors(diagnostics) ? exitCodes.usage : exitCodes.done;
}
