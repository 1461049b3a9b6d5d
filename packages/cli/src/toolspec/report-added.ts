/** Reports what `toolcrib add` did, and what to try next. */

import { inputSchemaOf, type ToolspecTool } from "@toolcrib/toolspec";
import { gatewayLines } from "../add/gateway-lines.ts";
import type { CliContext } from "../cli-context.ts";
import { ownCommand } from "../serve/own-command.ts";
import { shellQuote } from "../serve/shell-quote.ts";
import type { AddFlags } from "./add-flags.ts";
import type { ApiEntry } from "./catalog.ts";
import type { ConfigFile } from "./config-file.ts";
import type { ObtainedSecret } from "./obtain-secrets.ts";
import { unusedFlags } from "./unused-flags.ts";

/** Prints the result, and commands that use the entry. */
export function reportAdded(
  context: CliContext,
  done: {
    readonly entry: ApiEntry;
    readonly id: string;
    readonly file: ConfigFile;
    readonly secrets: readonly ObtainedSecret[];
    readonly isNew: boolean;
    readonly flags: AddFlags;
  },
): void {
  const { output, options } = context;
  const { entry, id, file, secrets, isNew, flags } = done;
  const command = ownCommand(context);
  const offered = offeredTools(entry, flags);
  output.json({
    id,
    name: entry.manifest.name,
    version: entry.manifest.version,
    file: file.path,
    result: isNew ? "added" : "present",
    secrets,
    tools: offered.map(({ name }) => `${id}__${name}`),
    ...(isNew ? {} : { unused: unusedFlags(flags) }),
  });
  const check = output.style("green", "✓");
  for (const { name, result } of secrets) {
    if (result === "kept") output.print(`${check} stored the secret ${name}`);
    if (result === "found") output.print(`${check} found the secret ${name}`);
    if (result === "missing") {
      output.print(
        `${output.style("yellow", "!")} store its secret: ${command} secret set ${shellQuote(name)}`,
      );
    }
  }
  output.print(`${check} ${isNew ? `added ${id} to ${file.shown}` : `${id} is in ${file.shown}`}`);
  // A running gateway answers the commands below.
  if (isNew) output.prose(...gatewayLines(context, file));
  const configFlag = options.configFiles.map((path) => ` --config ${shellQuote(path)}`).join("");
  output.print("", output.style("bold", "Try"), `  ${command} list --server ${id}${configFlag}`);
  const example = offered.find(({ method }) => method === "GET") ?? offered[0];
  const isMissing = secrets.some(({ result }) => result === "missing");
  if (example !== undefined && !isMissing)
    output.print(`  ${command} call ${id}__${example.name}${argumentWords(example)}${configFlag}`);
}

function offeredTools({ manifest, toolspec }: ApiEntry, flags: AddFlags): readonly ToolspecTool[] {
  const isDefault = new Set(
    (manifest.tools ?? []).filter((tool) => tool.default === true).map(({ name }) => name),
  );
  if (flags.allTools === true || isDefault.size === 0) return toolspec.tools;
  return toolspec.tools.filter(({ name }) => isDefault.has(name));
}

/** Returns the required arguments of a tool with placeholders. */
function argumentWords(tool: ToolspecTool): string {
  const { required } = inputSchemaOf(tool) as { readonly required?: readonly string[] };
  return (required ?? []).map((name) => ` --arg ${shellQuote(`${name}=…`)}`).join("");
}
