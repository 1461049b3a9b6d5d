/**
 * Warns about scripts of hooks that do not exist: their interpreter starts, fails, and every call that the hook is about
 * is denied. Reads the file system, and starts nothing.
 */

import { statSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import type { GatewayConfig } from "@toolcrib/config";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { toDiagnostic } from "@toolcrib/document";
import type { CliContext } from "../cli-context.ts";

/** Programs whose first argument is a script, unless it is an option. */
const interpreters = /^(?:node|python[\d.]*|ruby|perl|(?:ba|da|z)?sh)(?:\.exe)?$/i;

/** The process of a hook, with its values. */
interface HookProcess {
  readonly command: string;
  readonly args: readonly string[];
  /** @default the folder of the command line */
  readonly cwd?: string | undefined;
}

/** Returns why the script of a hook is not found, without its subject, and what to do; undefined where nothing is wrong. */
export function missingScript(
  { directory }: Pick<CliContext, "directory">,
  { command, args: [script = ""], cwd }: HookProcess,
): { readonly message: string; readonly fix: string } | undefined {
  if (!interpreters.test(basename(command)) || script === "" || script.startsWith("-")) return undefined;
  const path = resolve(cwd ?? directory, script);
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === true) return undefined;
  return {
    message: `its script ${JSON.stringify(script)} does not exist (${path}): the calls that it is about are denied`,
    fix:
      cwd === undefined
        ? "write an absolute path, or cwd: with the folder of the script"
        : "correct args or cwd, or write an absolute path",
  };
}

/** Returns a warning for each hook whose script does not exist. Values that only a start knows are not checked. */
export function lintHookScripts(
  context: Pick<CliContext, "directory">,
  { before, after }: GatewayConfig["hooks"],
): readonly Diagnostic[] {
  const phases = [
    ["before_call", before],
    ["after_call", after],
  ] as const;
  return phases.flatMap(([phase, hooks]) =>
    hooks.flatMap(({ id, transport, source }): readonly Diagnostic[] => {
      if (transport.kind !== "stdio") return [];
      const { command, cwd } = transport;
      const [script] = transport.args;
      if (command.kind !== "literal" || script?.kind !== "literal") return [];
      if (cwd !== undefined && cwd.kind !== "literal") return [];
      const folder = dirname(resolve(context.directory, source.name));
      const missing = missingScript(context, {
        command: command.text,
        args: [script.text],
        cwd: cwd && resolve(folder, cwd.text),
      });
      if (missing === undefined) return [];
      const problem = {
        severity: "warning",
        code: "CONFIG_COMMAND_NOT_FOUND",
        message: `hook ${id} (${phase}): ${missing.message}`,
        hint: missing.fix,
        span: script.span,
      } as const;
      return [toDiagnostic(problem, source)];
    }),
  );
}
