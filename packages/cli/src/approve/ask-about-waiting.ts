/**
 * Asks the operator on the terminal of `serve` about the definitions that wait for approval, once for each
 * server, so that nobody ends with a gateway that lists nothing. Without a terminal, or in its background, where
 * the system would stop the gateway for everybody, nothing is asked: `toolcrib approve` decides at any time.
 */

import type { Gateway } from "@toolcrib/gateway";
import { localIdentity } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { isInForeground } from "../prompt/is-in-foreground.ts";
import { ownCommand } from "../serve/own-command.ts";
import { printCallApprovals, toolsWithCallApproval } from "./call-approvals.ts";
import { countedOf, printDefinition } from "./print-definition.ts";

/** Asks about the servers whose definitions wait now. Ends early when the command is interrupted. */
export async function askAboutWaiting(
  context: CliContext,
  gateway: Pick<Gateway, "approvals" | "policySituation">,
): Promise<void> {
  if (!canAsk(context) || !context.output.isTerminal) return;
  if (gateway.approvals.servers().length === 0 || !(await isInForeground(context))) return;
  try {
    for (const { server } of gateway.approvals.servers()) await askAboutServer(context, gateway, server);
  } catch (error) {
    if (!context.signal.aborted) throw error;
  }
}

async function askAboutServer(
  context: CliContext,
  gateway: Pick<Gateway, "approvals" | "policySituation">,
  server: string,
): Promise<void> {
  const { output } = context;
  const { approvals } = gateway;
  const name = safeLine(server);
  for (;;) {
    const { digest, definitions } = approvals.definitions(server);
    if (definitions.length === 0) return;
    const marked = definitions.filter(({ findings }) => findings.length > 0).length;
    const warning = marked === 0 ? "" : ` (${marked} suspicious)`;
    const question = `Approve ${countedOf(definitions)} of ${name}${warning}? [y]es, [s]how, [N]o: `;
    const answer = (await askLine(question, context)).toLowerCase();
    if (answer === "s" || answer === "show") {
      for (const definition of definitions) printDefinition(output, definition);
      continue;
    }
    if (answer !== "y" && answer !== "yes") {
      output.print(`Not approved; decide later with ${ownCommand(context)} approve ${name}`);
      return;
    }
    const approved = await approvals.approveDefinitions(server, digest, localIdentity("cli", "cli"));
    output.print(`Approved ${countedOf(definitions, approved.length)} of ${name}`);
    const asked = toolsWithCallApproval(server, approved, gateway.policySituation());
    printCallApprovals(context, server, asked, approved.length);
    return;
  }
}
