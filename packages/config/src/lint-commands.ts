/**
 * Finds commands of tool servers and hooks that this machine does not have. Also reads
 * entries with errors and entries with the id of another, so that one check
 * reports everything.
 */

import { dirname, resolve } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { type DocumentNode, fieldOf, itemsOf, nodeAt, stringOf, toDiagnostic } from "@toolcrib/document";
import { looksLikeCredential } from "@toolcrib/redaction";
import type { ConfigLayer } from "./config-layer.ts";
import { quote } from "./display-source.ts";

/** The place where a command is looked up. */
export interface CommandPlace {
  /** Value of the variable PATH. @default that of the gateway */
  readonly path: string | undefined;
  /** Base of relative paths. @default the folder that Toolcrib was started in */
  readonly directory: string | undefined;
}

/** Returns whether the machine has a command that this user may execute. */
export type HasCommand = (command: string, place: CommandPlace) => boolean;

/** Returns a warning for each command of `layers` that `hasCommand` does not find. */
export function lintCommands(layers: readonly ConfigLayer[], hasCommand: HasCommand): Diagnostic[] {
  return layers.flatMap((layer) =>
    [...layer.serverNodes, ...hookNodesOf(layer)].flatMap((node) => {
      const finding = lintServer(fieldOf(node, "transport") ?? node, layer, hasCommand);
      return finding === undefined ? [] : [finding];
    }),
  );
}

function hookNodesOf({ tree }: ConfigLayer): readonly DocumentNode[] {
  return ["before_call", "after_call"].flatMap((list) => itemsOf(nodeAt(tree, ["hooks"]), list));
}

function lintServer(
  transport: DocumentNode,
  { source }: ConfigLayer,
  hasCommand: HasCommand,
): Diagnostic | undefined {
  const node = fieldOf(transport, "command");
  const command = stringOf(node)?.trim() ?? "";
  const cwd = stringOf(fieldOf(transport, "cwd"));
  const path = stringOf(fieldOf(fieldOf(transport, "env"), "PATH"));
  // Texts with variables of the environment have their values only at the start.
  if (node === undefined || command === "" || [command, cwd, path].some((text) => text?.includes("${")))
    return undefined;
  const directory = cwd === undefined ? undefined : resolve(dirname(source.name), cwd);
  if (hasCommand(command, { path, directory })) return undefined;
  return toDiagnostic(
    {
      severity: "warning",
      code: "CONFIG_COMMAND_NOT_FOUND",
      message: `Command ${quote(command)} is not found on this machine, or is not executable`,
      hint: commandHint(command),
      span: node.span,
    },
    source,
  );
}

/**
 * Returns how to fix a command that is not found. A command line such as `npx -y server`
 * is not a command: no shell splits it.
 */
export function commandHint(command: string): string {
  const [program = "", ...args] = command.trim().split(/\s+/);
  if (
    args.length === 0 ||
    !/^[\w.@-]+$/.test(program) ||
    /["'\\]/.test(command) ||
    looksLikeCredential(command)
  ) {
    return "install it, use its absolute path, or start Toolcrib with a PATH that contains it";
  }
  return `put the arguments into args: command: ${program}, args: [${args.map(quote).join(", ")}]`;
}
