/** `toolcrib sandbox check`: shows what this machine can enforce, found by trying it. */

import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { createSandboxes } from "./create-sandboxes.ts";

/** Runs the command. The exit code is that of something unavailable when no tier works. */
export async function checkSandbox(context: CliContext): Promise<ExitCode> {
  const { output } = context;
  const tiers = await createSandboxes(context).check();
  const best = tiers.find(({ isAvailable }) => isAvailable);
  output.json({ tier: best?.id ?? null, tiers });
  for (const { id, isAvailable, problems, features } of tiers) {
    const state = isAvailable ? output.style("green", "available") : output.style("red", "not available");
    output.print(`${output.style("bold", id)}: ${state}`);
    for (const { reason, fix } of problems) output.print(`  ${safeLine(reason)}`, `  fix: ${safeLine(fix)}`);
    output.print("");
    if (!isAvailable) continue;
    output.table(
      [{ title: "CONTAINED" }, { title: "" }, { title: "BY", canShrink: true }],
      features.map(({ name, isEnforced, by }) => [name, isEnforced ? "yes" : "no", by]),
    );
    output.print("");
  }
  output.print(
    best === undefined
      ? "Servers that need a sandbox do not start here, unless sandbox.mode is preferred."
      : `Servers that need a sandbox run in ${best.id}.`,
  );
  return best === undefined ? exitCodes.unavailable : exitCodes.done;
}
