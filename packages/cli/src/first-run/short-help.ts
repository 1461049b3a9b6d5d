/** The short help: what `toolcrib` without a command prints where nobody can be asked. At most 40 lines of 80 columns. */

/** Returns the lines. @param command the command itself (`ownCommand`) */
export function shortHelp(command: string): readonly string[] {
  const program = command.length > 16 ? "toolcrib" : command;
  return [
    "Toolcrib, a gateway for AI agents: one MCP endpoint in front of many tools.",
    "",
    `Usage: ${program} <command> [options]`,
    "",
    "Begin:",
    "  import               take over the servers of the clients on this machine",
    "  add NAME             add a REST API or a server",
    "  serve                start the gateway",
    "  connect --all        write the gateway into the clients",
    "",
    "Use:",
    "  status               what runs, and what is wrong",
    "  approve              look at new tools, and allow them",
    "  list, search WORDS   the tools",
    "  call TOOL [JSON]     call one",
    "  audit                what was called",
    "",
    "Repair:",
    "  doctor               check the configuration and the machine",
    "  disconnect --all     take the gateway out of the clients",
    "",
    `All commands: ${program} help. One of them: ${program} help COMMAND.`,
    `On a terminal, ${program} alone asks step by step.`,
  ];
}
