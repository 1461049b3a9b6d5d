/** Checks that the secrets, the commands and the scripts of hooks exist. Asks no hook. */

import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import type { GatewayConfig } from "@toolcrib/config";
import type { CliContext } from "../cli-context.ts";
import { type Finding, failed } from "./check.ts";
import { checkDeclared, type ResolvedProcess } from "./check-declared.ts";

/** Programs whose first argument is a script, unless it is an option. */
const interpreters = /^(?:node|python[\d.]*|ruby|perl|(?:ba|da|z)?sh)(?:\.exe)?$/i;

/** Checks the hooks of a configuration. */
export async function checkHooks(
  context: CliContext,
  { before, after }: GatewayConfig["hooks"],
): Promise<Finding[]> {
  const phases = [
    ["before_call", before],
    ["after_call", after],
  ] as const;
  const findings: Finding[] = [];
  for (const [phase, hooks] of phases) {
    for (const hook of hooks) {
      const subject = `hook ${hook.id} (${phase})`;
      const more = (process: ResolvedProcess) => missingScript(context, subject, process);
      findings.push(await checkDeclared(context, subject, { ...hook, problems: [] }, "Hook", more));
    }
  }
  return findings;
}

function missingScript(
  { directory }: CliContext,
  subject: string,
  { command, args: [script = ""], cwd }: ResolvedProcess,
): Finding | undefined {
  if (!interpreters.test(basename(command)) || script === "" || script.startsWith("-")) return undefined;
  const path = resolve(cwd ?? directory, script);
  if (isFile(path)) return undefined;
  return failed(
    subject,
    `its script ${JSON.stringify(script)} does not exist (${path}): the calls that it is about are denied`,
    cwd === undefined
      ? "write an absolute path, or cwd: with the folder of the script"
      : "correct args or cwd, or write an absolute path",
  );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() === true;
}
