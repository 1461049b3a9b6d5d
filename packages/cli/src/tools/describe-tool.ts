/** `toolcrib describe TOOL`: shows the description, the arguments and an example call of a tool. */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { openToolAccess } from "../access/open-tool-access.ts";
import type { ToolDescription } from "../access/tool-access.ts";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { wrapText } from "../explain/wrap-text.ts";
import { type Output, safeLine, safeText } from "../output/output.ts";
import {
  argumentsWord,
  type DeclaredOtherwise,
  declaredOf,
  exampleArguments,
} from "../serve/example-call.ts";
import { ownCommand } from "../serve/own-command.ts";
import { findTool } from "./find-tool.ts";
import { serverOfName } from "./tool-names.ts";

/** Runs the command. */
export async function describeTool(context: CliContext, name: string): Promise<ExitCode> {
  const { output } = context;
  await using access = await openToolAccess(context, { onlyServer: (ids) => serverOfName(name, ids) });
  const tool = await findTool(access, name, context.options.home);
  const { id, wireName, ...rest } = tool;
  output.json({ id, name: wireName, ...rest });
  printTool(context, tool);
  return exitCodes.done;
}

function printTool(context: CliContext, tool: ToolDescription): void {
  const { output } = context;
  const title = tool.title === undefined ? "" : output.style("dim", `  ${safeLine(tool.title)}`);
  output.print(output.style(["bold", "cyan"], tool.wireName) + title);
  const declared = declaredOf(tool);
  const { annotations } = tool;
  const says = saysText(annotations, declared);
  output.prose(output.style("dim", `${tool.id}, ${tool.origin}${says}`));
  if (declared !== undefined)
    for (const line of wrapText(treatedText(annotations, declared), columns, ""))
      output.print(output.style("dim", line));
  // Indent it, so that no line of it looks like output of this command.
  if (tool.description !== undefined) {
    output.prose(
      "",
      ...safeText(tool.description.trim())
        .replace(/^(?=.)/gm, "  ")
        .split("\n"),
    );
  }
  printArguments(output, tool.inputSchema);
  const args = argumentsWord(exampleArguments(tool.inputSchema));
  output.print("", output.style("bold", "Call it"), `  ${ownCommand(context)} call ${tool.wireName} ${args}`);
}

/** Columns of a text of the command itself. */
const columns = 80;

/** The words for an annotation that is true, and for one that is false. */
const hintWords: readonly (readonly [name: string, yes: string, no: string])[] = [
  ["readOnlyHint", "only reads", "writes"],
  ["destructiveHint", "may destroy data", "destroys no data"],
  ["idempotentHint", "is idempotent", "is not idempotent"],
  ["openWorldHint", "accesses external systems", "accesses no external systems"],
];

function hintTexts(annotations: JsonObject, isWanted: (name: string) => boolean): string[] {
  return hintWords.flatMap(([name, yes, no]) => {
    const value = annotations[name];
    return typeof value === "boolean" && isWanted(name) ? [value ? yes : no] : [];
  });
}

/** Returns what the server says and the gateway does not treat otherwise. */
function saysText(annotations: JsonObject = {}, declared: DeclaredOtherwise | undefined): string {
  const isSame = (name: string) => declared === undefined || declared.annotations[name] === annotations[name];
  const hints = hintTexts(annotations, isSame);
  return hints.length === 0 ? "" : `; says that it ${hints.join(", ")}`;
}

/** Returns how the gateway treats a tool otherwise than its server says, and why. */
function treatedText(annotations: JsonObject = {}, declared: DeclaredOtherwise): string {
  const { trustState, mutabilityClass } = declared;
  const isOther = (name: string) => declared.annotations[name] !== annotations[name];
  const treated = hintTexts(annotations, isOther).join(", ");
  const said = hintTexts(declared.annotations, isOther).join(", ");
  const reason =
    mutabilityClass === "unknown"
      ? `its server is ${trustState}, so that what it declares is not believed`
      : `the configuration declares mutability_class: ${mutabilityClass} for its server`;
  return `Treated as if it ${treated}: ${reason}${said === "" ? "" : ` (it says that it ${said})`}`;
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
