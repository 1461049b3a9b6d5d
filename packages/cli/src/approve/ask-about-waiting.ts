/**
 * Asks the operator on the terminal of `serve` about the definitions that wait for approval, once for each
 * server, so that nobody ends with a gateway that lists nothing. Without a terminal, or in its background, where
 * the system would stop the gateway for everybody, nothing is asked: `toolcrib approve` decides at any time.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import type { Gateway } from "@toolcrib/gateway";
import { localIdentity } from "@toolcrib/tool";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { safeLine } from "../output/output.ts";
import { askLine, canAsk } from "../prompt/ask-line.ts";
import { isInForeground } from "../prompt/is-in-foreground.ts";
import { ownCommand } from "../serve/own-command.ts";
import { printCallApprovals, toolsWithCallApproval } from "./call-approvals.ts";
import { countedOf, printDefinition } from "./print-definition.ts";

/**
 * Asks about the servers whose definitions wait now.
 *
 * @throws {CliError} `CLI_INTERRUPTED` for Ctrl-C and Ctrl-D, which answer nothing
 */
export async function askAboutWaiting(
  context: CliContext,
  gateway: Pick<Gateway, "approvals" | "policySituation">,
): Promise<void> {
  if (!canAsk(context) || !context.output.isTerminal) return;
  if (gateway.approvals.servers().length === 0 || !(await isInForeground(context))) return;
  for (const { server } of gateway.approvals.servers()) await askAboutServer(context, gateway, server);
}

async function askAboutServer(
  context: CliContext,
  gateway: Pick<Gateway, "approvals" | "policySituation">,
  server: string,
): Promise<void> {
  const { output } = context;
  const { approvals } = gateway;
  const name = safeLine(server);
  for (let isFirst = true; ; isFirst = false) {
    // The server can have left the configuration since the question before.
    const isWaiting = approvals.servers().some((one) => one.server === server);
    const { digest, definitions } = isWaiting ? approvals.definitions(server) : nothing;
    if (definitions.length === 0) {
      if (!isFirst) output.print(`Nothing of ${name} waits for approval any more`);
      return;
    }
    const marked = definitions.filter(({ findings }) => findings.length > 0).length;
    const warning = marked === 0 ? "" : ` (${marked} suspicious)`;
    const question = `Approve ${countedOf(definitions)} of ${name}${warning}? [y]es, [s]how, [N]o: `;
    const answer = (await askAbout(context, question, name)).toLowerCase();
    if (answer === "s" || answer === "show") {
      for (const definition of definitions) printDefinition(output, definition);
      continue;
    }
    if (answer !== "y" && answer !== "yes") {
      output.print(`Not approved; decide later with ${ownCommand(context)} approve ${name}`);
      return;
    }
    const approved = await approveShown(gateway, server, digest);
    if (approved === undefined) {
      output.print(`Nothing was approved: what waits of ${name} changed in the meantime`);
      continue;
    }
    output.print(`Approved ${countedOf(definitions, approved.length)} of ${name}`);
    const asked = toolsWithCallApproval(server, approved, gateway.policySituation());
    printCallApprovals(context, server, asked, approved.length);
    return;
  }
}

/** Asks. @throws {CliError} `CLI_INTERRUPTED`, which says what stays: nobody must take the entry for undone */
async function askAbout(context: CliContext, question: string, name: string): Promise<string> {
  try {
    return await askLine(question, context);
  } catch (error) {
    if (!isCodedError(error) || error.code !== "CLI_INTERRUPTED") throw error;
    throw new CliError(
      "CLI_INTERRUPTED",
      `${error.message}: nothing of ${name} was approved; its entry stays in the configuration`,
      { hint: `${ownCommand(context)} approve ${name}`, cause: error },
    );
  }
}

const nothing = { digest: "", definitions: [] };

/** Approves what was shown. @returns the names; undefined where other definitions wait by now */
async function approveShown(
  { approvals }: Pick<Gateway, "approvals">,
  server: string,
  digest: string,
): Promise<readonly string[] | undefined> {
  try {
    return await approvals.approveDefinitions(server, digest, localIdentity("cli", "cli"));
  } catch (error) {
    const isOutdated =
      isCodedError(error) && (error.code === "APPROVAL_OUTDATED" || error.code === "SERVER_NOT_FOUND");
    if (!isOutdated) throw error;
    return undefined;
  }
}
