/** Checks that the secrets, the commands and the scripts of hooks exist. Asks no hook. */

import type { GatewayConfig } from "@toolcrib/config";
import type { CliContext } from "../cli-context.ts";
import { missingScript } from "../config/lint-hook-scripts.ts";
import { type Finding, failed } from "./check.ts";
import { checkDeclared, type ResolvedProcess } from "./check-declared.ts";

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
      const more = (process: ResolvedProcess) => {
        const missing = missingScript(context, process);
        return missing && failed(subject, missing.message, missing.fix);
      };
      findings.push(await checkDeclared(context, subject, { ...hook, problems: [] }, "Hook", more));
    }
  }
  return findings;
}
