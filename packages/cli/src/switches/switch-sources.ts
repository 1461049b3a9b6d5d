/** `toolcrib enable` and `toolcrib disable`: servers and tools switched without editing files, and the list of those that are off. */

import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { loadConfigOrDefaults } from "../config/load-cli-config.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { safeLine } from "../output/output.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import { type Effect, switchNow } from "./open-switches.ts";

/** The words of the command line. */
export interface SwitchWords {
  readonly kind: string | undefined;
  readonly names: readonly string[];
}

/** Most names of one command. */
const maxNames = 200;

/** Runs `enable` or, where `isEnabled` is false, `disable`. */
export async function switchSources(
  context: CliContext,
  { kind, names }: SwitchWords,
  { isEnabled }: { readonly isEnabled: boolean },
): Promise<ExitCode> {
  const { output } = context;
  const verb = isEnabled ? "enable" : "disable";
  if (kind === undefined && !isEnabled) return await listDisabled(context);
  if ((kind !== "server" && kind !== "tool") || names.length === 0) {
    throw new CliError("CLI_USAGE", `Nothing was ${verb}d: name what to ${verb}`, {
      hint:
        kind === undefined || kind === "server" || kind === "tool"
          ? `write toolcrib ${verb} server ID, or toolcrib ${verb} tool NAME`
          : `did you mean toolcrib ${verb} ${/__|:/.test(kind) ? "tool" : "server"} ${shellQuote(kind)}?`,
    });
  }
  if (names.length > maxNames)
    throw new CliError("CLI_USAGE", `Nothing was ${verb}d: ${names.length} names are more than ${maxNames}`, {
      hint: 'use a pattern, such as "github:*"',
    });
  const outcome = await switchNow(context, { kind, names, isEnabled });
  output.json(outcome);
  const past = isEnabled ? "Enabled" : "Disabled";
  for (const name of outcome.changed)
    output.print(`${past} ${kind} "${safeLine(name)}"${effects[outcome.effect]}`);
  for (const name of outcome.unchanged)
    output.print(`${kind === "server" ? "Server" : "Tool"} "${safeLine(name)}" is already ${verb}d`);
  if (outcome.changed.length > 0 && !isEnabled)
    output.print(
      `${ownCommand(context)} enable ${kind} ${names.map(shellQuote).join(" ")} enables ${names.length === 1 ? "it" : "them"} again`,
    );
  return exitCodes.done;
}

const effects: { readonly [E in Effect]: string } = {
  "at start": "",
  soon: "; the running gateway takes it over within a second",
  "after a restart": "; restart the gateway to apply it",
};

/** Prints what is off: by a switch, or by its file. */
async function listDisabled(context: CliContext): Promise<ExitCode> {
  const { output } = context;
  const { config } = await loadConfigOrDefaults(context);
  const { toolServers, toolspecs, packages } = config.disabled;
  const tools = config.policy.disabled ?? [];
  const servers = [...toolServers, ...toolspecs, ...packages].map(({ id, isOff = false }) => ({
    id,
    isOffInFile: isOff,
  }));
  output.json({ servers, tools });
  if (servers.length + tools.length === 0) output.print("Nothing is disabled");
  for (const { id, isOffInFile } of servers)
    output.print(
      `${output.style("yellow", "disabled")} server "${safeLine(id)}"${isOffInFile ? " (its entry says enabled: false)" : ""}`,
    );
  for (const name of tools) output.print(`${output.style("yellow", "disabled")} tool "${safeLine(name)}"`);
  return exitCodes.done;
}
