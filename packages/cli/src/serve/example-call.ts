/**
 * A call that somebody can try: a tool that only reads, with arguments that fit
 * its schema. Tools that may change something are never proposed. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { escapeUnsafe } from "@toolcrib/store";
import type { ToolDescription } from "../access/tool-access.ts";
import { shellQuote } from "./shell-quote.ts";

/** A tool and arguments to try it with. */
export interface ExampleCall {
  readonly tool: ToolDescription;
  readonly args: JsonObject;
}

/** The best tool of `tools` to try; `undefined` when none can be tried without knowing more. */
export function findExampleCall(tools: readonly ToolDescription[]): ExampleCall | undefined {
  let best: { readonly tool: ToolDescription; readonly cost: number } | undefined;
  for (const tool of tools) {
    if (!isHarmless(tool)) continue;
    const cost = costOf(tool.inputSchema);
    if (cost !== undefined && (best === undefined || cost < best.cost)) best = { tool, cost };
  }
  return best === undefined ? undefined : { tool: best.tool, args: exampleArguments(best.tool.inputSchema) };
}

const harmlessName =
  /^(?:echo|ping|list|get|read|search|find|show|describe|status|info|time|now|version|count|sum|add)(?:$|[^a-z])/i;

/** Whether a tool says that it only reads, or says nothing and is called as if it did. */
function isHarmless({ id, namespace, annotations }: ToolDescription): boolean {
  if (annotations?.["readOnlyHint"] === true) return true;
  if (annotations?.["readOnlyHint"] === false || annotations?.["destructiveHint"] === true) return false;
  return harmlessName.test(id.slice(namespace.length + 1));
}

/** Texts that any tool with such an argument takes. */
const freeText = /^(?:text|message|msg|query|q|input|content|name|value|prompt|word|words)$/i;

/** How much must be made up; `undefined` when a made-up value would not work, such as a path. */
function costOf(schema: JsonObject): number | undefined {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  let cost = 0;
  for (const name of requiredOf(schema)) {
    const property = properties[name];
    if (!isJsonObject(property)) return undefined;
    if (property["type"] === "string" && freeText.test(name) && property["format"] === undefined) cost += 1;
    else if (givenValue(property) !== undefined) cost += 3;
    else if (["number", "integer", "boolean"].includes(String(property["type"]))) cost += 2;
    else return undefined;
  }
  // A call that shows an argument tells more than one without any.
  return cost === 0 ? 2.5 : cost;
}

/** `args` as one word of a shell; values that a server proposed cannot steer a terminal or leave their quotes. */
export function argumentsWord(args: JsonObject): string {
  return shellQuote(escapeUnsafe(JSON.stringify(args)));
}

/** Arguments that fit `schema` as far as its simple parts tell. */
export function exampleArguments(schema: JsonObject): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  return Object.fromEntries(requiredOf(schema).map((name) => [name, exampleValue(properties[name], 0)]));
}

function requiredOf(schema: JsonObject): readonly string[] {
  const { required } = schema;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** A value that the schema itself names. */
function givenValue(schema: JsonObject): JsonValue | undefined {
  for (const key of ["const", "default"]) if (schema[key] !== undefined) return schema[key];
  for (const key of ["examples", "enum"]) {
    const values = schema[key];
    if (Array.isArray(values) && values.length > 0) return values[0];
  }
  return undefined;
}

/** Deepest nesting of an example. */
const exampleMaxDepth = 4;

function exampleValue(schema: JsonValue | undefined, depth: number): JsonValue {
  if (!isJsonObject(schema) || depth > exampleMaxDepth) return "…";
  const given = givenValue(schema);
  if (given !== undefined) return given;
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (schema["type"] === undefined && Array.isArray(options)) return exampleValue(options[0], depth + 1);
  const type = Array.isArray(schema["type"]) ? schema["type"][0] : schema["type"];
  switch (type) {
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return [exampleValue(schema["items"], depth + 1)];
    case "object":
      return Object.fromEntries(
        requiredOf(schema).map((name) => [
          name,
          exampleValue(
            isJsonObject(schema["properties"]) ? schema["properties"][name] : undefined,
            depth + 1,
          ),
        ]),
      );
    default:
      return "hello";
  }
}
