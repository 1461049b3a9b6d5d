/** Prints the help of a command, or a topic that belongs to no single command. */

import { didYouMean } from "@toolcrib/diagnostics";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { type ExitCode, exitCodeMeanings, exitCodes, unknownNames } from "../exit-codes.ts";
import { wrapText } from "../explain/wrap-text.ts";
import { createProgram, helpTextOf } from "../program.ts";

/** Topics with their texts. */
const topics: { readonly [name: string]: () => string } = {
  "exit-codes": () =>
    [
      "Exit codes",
      "",
      ...exitCodeMeanings.flatMap(({ code, meaning }) => {
        const [first = "", ...rest] = wrapText(meaning, 72, "");
        return [`${String(code).padStart(5)}  ${first}`, ...rest.map((line) => `       ${line}`)];
      }),
      "",
      "Unknown names",
      "",
      ...unknownNames.flatMap(({ what, outcome }) => wrapText(`${what}: ${outcome}`, 76, "  ")),
    ].join("\n"),
  environment: () =>
    [
      "Environment variables (flags override them; they override the configuration)",
      "",
      "  TOOLCRIB_HOME           Toolcrib's home directory (--home)",
      "  TOOLCRIB_LISTEN         address and port to listen on (serve --listen)",
      "  TOOLCRIB_LOG_LEVEL      debug, info, warn, error or silent (--log-level)",
      "  TOOLCRIB_TOKEN          a bearer token for serve, besides <home>/tokens",
      "  MCP_METATOOL_TIMEOUT    time limit of a composite tool in milliseconds",
      "                          (execution.timeout)",
      "  MCP_METATOOL_DEBUG      true: errors of composite tools include their stack",
      "                          (execution.enableDebug)",
      "  TOOLCRIB_SECRET_<NAME>  the value of secret_key_ref: <name>",
      "  TOOLCRIB_SECRETS_KEY    the key of the secret store, or keychain:<name>, its",
      "                          entry in the keychain",
      "  TOOLCRIB_CATALOG        a catalog folder instead of the one of the command",
      "  NO_COLOR, FORCE_COLOR   never or always use colors",
    ].join("\n"),
  configuration: () =>
    [
      "Configuration files",
      "",
      "  1. every file given with --config; later files override earlier ones",
      "  2. otherwise toolcrib.yaml (or .yml, .json) in the working directory",
      "  3. otherwise toolcrib.yaml in Toolcrib's home",
      "",
      "Toolcrib reads .mcp.json and the files of other programs only if you name them:",
      "toolcrib --config .mcp.json list",
      "",
      "list, search, describe and call use the running gateway of this home, unless",
      "--config is given. If no gateway is running, they start the configured servers",
      "and stop them at the end.",
    ].join("\n"),
};

/** Prints the help of the command or topic that `words` name. @throws {CliError} `CLI_USAGE` for an unknown name */
export async function printHelp(context: CliContext, words: readonly string[]): Promise<ExitCode> {
  const text = await helpText(context, words);
  context.output.json({ help: text });
  if (!context.output.isJson) context.stdout.write(`${text}\n`);
  return exitCodes.done;
}

async function helpText(context: CliContext, words: readonly string[]): Promise<string> {
  const [first] = words;
  const topic = first !== undefined && Object.hasOwn(topics, first) ? topics[first] : undefined;
  if (topic !== undefined) return topic();
  let command = createProgram(context, await context.loadCommands(), async () => {});
  for (const word of words) {
    const next = command.commands.find((one) => one.name() === word);
    if (next === undefined) {
      const names = [...command.commands.map((one) => one.name()), ...Object.keys(topics)];
      throw new CliError("CLI_USAGE", `No help topic or command is named "${word}"`, {
        hint: didYouMean(word, names) ?? "see toolcrib --help",
      });
    }
    command = next;
  }
  return helpTextOf(command);
}
