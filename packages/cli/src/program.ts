/** The command as commander has it: how help looks, where it goes, and what is common to all verbs. */

import { styleText } from "node:util";
import { Command } from "commander";
import type { RunCommand } from "./command-context.ts";
import { addGlobalOptions } from "./global-options.ts";
import { addCommands } from "./grammar.ts";
import { version } from "./version.ts";
import type { OutputStream, World } from "./world.ts";

/** Build the grammar; `run` runs the handlers. What is wrong with a command line is thrown (`CommanderError`). */
export function createProgram(world: World, run: RunCommand): Command {
  const program = new Command("toolcrib")
    .description("The tool crib for AI agents: one MCP endpoint in front of many tools.")
    .usage("<command> [options]")
    .version(version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print help")
    .helpCommand(false)
    .exitOverride()
    .configureOutput(outputOf(world))
    .configureHelp({
      showGlobalOptions: true,
      styleTitle: (title) => styleText("bold", title, { validateStream: false }),
      styleCommandText: (name) => styleText("cyan", name, { validateStream: false }),
      styleSubcommandTerm: (term) => styleText("cyan", term, { validateStream: false }),
      styleOptionTerm: (term) => styleText("cyan", term, { validateStream: false }),
    });
  addGlobalOptions(program);
  addCommands(program, run);
  program.addHelpText(
    "after",
    "\nExit codes: 0 done, 1 failed, 2 wrong usage or configuration, 3 denied, 4 not found,\n5 unavailable or timed out (toolcrib help exit-codes).",
  );
  return program;
}

function outputOf(world: World) {
  const { stdout, stderr } = world;
  const widthOf = (stream: OutputStream) => (stream.isTTY === true ? stream.columns || 80 : 80);
  const hasColors = (stream: OutputStream) =>
    !world.args.includes("--no-color") &&
    styleText("bold", "x", { stream: stream as NodeJS.WriteStream }) !== "x";
  return {
    writeOut: (text: string) => void stdout.write(text),
    writeErr: (text: string) => void stderr.write(text),
    // Wrong usage is reported like every other error (`main.ts`).
    outputError: () => {},
    getOutHelpWidth: () => widthOf(stdout),
    getErrHelpWidth: () => widthOf(stderr),
    getOutHasColors: () => hasColors(stdout),
    getErrHasColors: () => hasColors(stderr),
  };
}
