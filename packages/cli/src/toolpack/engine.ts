/**
 * Entry point of the engine in images, packages and bundles of toolpacks: the command `toolpack` alone, in one file.
 * Starts nothing but itself, so it needs no other program, and writes no file.
 */

import type { CommandSection } from "../cli-command.ts";
import { command } from "../commands/serve-toolpack.ts";
import { explainOldNode } from "../node-version.ts";
import { runCommandLine } from "../run-command-line.ts";
import { runProcess } from "../run-process.ts";

/** The name in help and errors. */
const name = "toolpack";
const explanation = explainOldNode(process.version);
const sections: readonly CommandSection[] = [{ title: "Serve", commands: [{ ...command, name }] }];
const load = async () => sections;
if (explanation === undefined) {
  void runProcess((context) =>
    runCommandLine(
      { ...context, args: [name, ...context.args] },
      { loadCommandOf: load, loadCommands: load },
    ),
  );
} else {
  process.stderr.write(`${explanation}\n`);
  process.exitCode = 2;
}
