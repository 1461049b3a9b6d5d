/** The repairs of `toolcrib doctor --fix`: shows all, asks once, makes each, and reports those that fail. */

import { messageOf } from "@toolcrib/diagnostics";
import type { CliContext } from "../cli-context.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import type { Finding, Repair } from "./check.ts";

/** Makes the repairs of findings if the user agrees. @returns those that were made */
export async function makeRepairs(
  context: CliContext,
  findings: readonly Finding[],
  { yes }: { readonly yes?: boolean },
): Promise<{ readonly done: ReadonlySet<Repair> }> {
  const { output } = context;
  // One repair can remove the cause of several findings.
  const repairs = [...new Set(findings.flatMap(({ repair }) => (repair === undefined ? [] : [repair])))];
  const done = new Set<Repair>();
  if (repairs.length === 0) {
    output.print("", "Nothing can be repaired automatically.");
    return { done };
  }
  output.print("", output.style("bold", "Repairs"), ...repairs.map(({ does }) => `  ${safeLine(does)}`));
  if (yes !== true && !(await isAgreed(context))) return { done };
  for (const repair of repairs) {
    try {
      await repair.run();
      done.add(repair);
      output.print(`${output.style("green", "✓")} done: ${safeLine(repair.does)}`);
    } catch (error) {
      output.print(
        `${output.style("red", "✗")} not done: ${safeLine(repair.does)}: ${safeLine(messageOf(error))}`,
      );
    }
  }
  return { done };
}

async function isAgreed(context: CliContext): Promise<boolean> {
  if (!canAsk(context)) {
    context.output.note("Nothing was changed: there is no terminal to ask; add --yes");
    return false;
  }
  return /^(?:y|yes)$/i.test(await askLine("Make these repairs? [y/N] ", context));
}
