/** `toolcrib describe TOOL`: shows the description, the arguments and an example call of a tool. */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { openToolAccess } from "../access/open-tool-access.ts";
import type { ToolDescription } from "../access/tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type Output, safeLine, safeText } from "../output/output.ts";
import { argumentsWord, exampleArguments } from "../serve/example-call.ts";
import { ownCommand } from "../serve/own-command.ts";
import { findTool } from "./find-tool.ts";
import { serverOfName } from "./tool-names.ts";

/** Runs the command. */
export async function describeTool(context: CliContext, name: string): Promise<ExitCode> {
  const { output } = context;
  await using access = await openToolAccess(context, { onlyServer: (ids) => serverOfName(name, ids) });
  const tool = await findTool(access, name);
  const { id, wireName, ...rest } = tool;
  output.json({ id, name: wireName, ...rest });
  printTool(context, tool);
  return exitCodes.done;
}

function printTool(context: CliContext, tool: ToolDescription): void {
  const { output } = context;
  const title = tool.title === undefined ? "" : output.style("dim", `  ${safeLine(tool.title)}`);
  output.print(output.style(["bold", "cyan"], tool.wireName) + title);
  output.print(output.style("dim", `${tool.id}, ${tool.origin}${hintsOf(tool.annotations)}`));
  // Indent it, so that no line of it looks like output of this command.
  if (tool.description !== undefined) {
    output.print("", safeText(tool.description.trim()).replace(/^(?=.)/gm, "  "));
  }
  printArguments(output, tool.inputSchema);
  const args = argumentsWord(exampleArguments(tool.inputSchema));
  output.print("", output.style("bold", "Call it"), `  ${ownCommand(context)} call ${tool.wireName} ${args}`);
}

function hintsOf(annotations: JsonObject | undefined): string {
  const says = (name: string, yes: string, no: string | undefined) => {
    const value = annotations?.[name];
    return value === true ? [yes] : value === false && no !== undefined ? [no] : [];
  };
  const hints = [
    ...says("readOnlyHint", "says it only reads", undefined),
    ...says("destructiveHint", "says it may destroy data", "says it destroys no data"),
    ...says("idempotentHint", "is idempotent", undefined),
    ...says("openWorldHint", "accesses external systems", undefined),
  ];
  return hints.length === 0 ? "" : `; ${hints.join(", ")}`;
}

function printArguments(output: Output, schema: JsonObject): void {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const names = Object.keys(properties);
  output.print("", output.style("bold", "Arguments"));
  if (names.length === 0) {
    output.print("  none");
    return;
  }
  output.table(
    [
      { title: "  NAME" },
      { title: "TYPE", canShrink: true },
      { title: "REQUIRED" },
      { title: "DESCRIPTION", canShrink: true },
    ],
    names.map((name) => {
      const property = properties[name];
      const text = isJsonObject(property) ? property["description"] : undefined;
      return [
        `  ${safeLine(name)}`,
        safeLine(typeOf(property)),
        required.has(name) ? "yes" : "",
        typeof text === "string" ? safeLine(text) : "",
      ];
    }),
  );
}

/** Returns the type of a schema in a few words. */
function typeOf(schema: JsonValue | undefined): string {
  if (!isJsonObject(schema)) return "any";
  if (Array.isArray(schema["enum"])) return schema["enum"].map((value) => JSON.stringify(value)).join(" | ");
  const { type, items } = schema;
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (type === undefined && Array.isArray(options)) return [...new Set(options.map(typeOf))].join(" | ");
  if (type === "array") return `${items === undefined ? "any" : typeOf(items)}[]`;
  if (Array.isArray(type)) return type.join(" | ");
  return typeof type === "string" ? type : "any";
}
