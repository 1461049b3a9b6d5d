/** `toolcrib help [TOPIC]`: the help of a command, or a topic that belongs to no single one. */

import { nearestName } from "@toolcrib/diagnostics";
import type { Command } from "commander";
import { CliError } from "../cli-error.ts";
import type { RunCommand } from "../command-context.ts";
import { exitCodeMeanings, exitCodes } from "../exit-codes.ts";

/** Topics with their texts. */
const topics: { readonly [name: string]: () => string } = {
  "exit-codes": () =>
    [
      "Exit codes",
      "",
      ...exitCodeMeanings.map(({ code, meaning }) => `${String(code).padStart(5)}  ${meaning}`),
    ].join("\n"),
  environment: () =>
    [
      "Environment variables (flags override them, they override the configuration)",
      "",
      "  TOOLCRIB_HOME           Toolcrib's home directory (--home)",
      "  TOOLCRIB_LISTEN         address and port to listen on (serve --listen)",
      "  TOOLCRIB_LOG_LEVEL      debug, info, warn, error or silent (--log-level)",
      "  TOOLCRIB_TOKEN          a bearer token that serve accepts besides those in <home>/tokens,",
      "                          and that the other commands send to the running gateway",
      "  MCP_METATOOL_TIMEOUT    milliseconds that a composite tool may take (execution.timeout)",
      "  MCP_METATOOL_DEBUG      true: errors of composite tools carry their stack (execution.enableDebug)",
      "  TOOLCRIB_SECRET_<NAME>  the value of secret_key_ref: <name>",
      "  TOOLCRIB_SECRETS_KEY    the key of the secret store, or keychain:<name>, its entry in the keychain",
      "  TOOLCRIB_CATALOG        the folder of a catalogue of your own, in place of the one that came with the command",
      "  NO_COLOR, FORCE_COLOR   colours never or always",
    ].join("\n"),
  configuration: () =>
    [
      "Which configuration is read",
      "",
      "  1. every file given with --config; later files override earlier ones",
      "  2. else toolcrib.yaml (or .yml, .json) in the working directory",
      "  3. else toolcrib.yaml in Toolcrib's home",
      "",
      ".mcp.json and the files of other programs are read only when they are named: toolcrib --config .mcp.json list.",
      "list, search, describe and call use the gateway that runs for this home, if there is one and no --config is",
      "given; else they start the configured servers for as long as they need them.",
    ].join("\n"),
};

export function addHelpCommand(program: Command, run: RunCommand): void {
  program
    .command("help")
    .description(`print help about a command or a topic (${Object.keys(topics).join(", ")})`)
    .argument("[topic...]", "command or topic")
    .action((words: string[], _flags, command: Command) =>
      run(command, async ({ output, world }) => {
        const text = helpText(program, words);
        if (output.isJson) output.json({ help: text.trimEnd() });
        else world.stdout.write(`${text.trimEnd()}\n`);
        return exitCodes.done;
      }),
    );
}

function helpText(program: Command, words: readonly string[]): string {
  const [first] = words;
  const topic = first !== undefined && Object.hasOwn(topics, first) ? topics[first] : undefined;
  if (topic !== undefined) return topic();
  let command = program;
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) {
      const names = [...command.commands.map((one) => one.name()), ...Object.keys(topics)];
      const near = nearestName(word, names);
      throw new CliError("CLI_USAGE", `There is no help about "${word}"`, {
        hint: near === undefined ? "see toolcrib --help" : `did you mean ${near}?`,
      });
    }
    command = next;
  }
  return command.helpInformation();
}
