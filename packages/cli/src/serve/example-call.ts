/**
 * Finds an example call: a tool that only reads, with arguments that match its
 * schema. Never suggests a tool that may change something. Pure.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import { escapeUnsafe } from "@toolcrib/store";
import type { ToolDescription } from "../access/tool-access.ts";
import { shellQuote } from "./shell-quote.ts";

/** A tool and arguments for it. */
export interface ExampleCall {
  readonly tool: ToolDescription;
  readonly args: JsonObject;
}

/** The cost of one argument that accepts any text. No tool has less. */
const leastCost = 1;

/**
 * Returns the best tool to try, if one can be called without further knowledge.
 *
 * @param tools are read until none can be better
 */
export function findExampleCall(tools: Iterable<ToolDescription>): ExampleCall | undefined {
  let best: { readonly tool: ToolDescription; readonly cost: number } | undefined;
  for (const tool of tools) {
    if (!isReadOnly(tool)) continue;
    const cost = costOf(tool.inputSchema);
    if (cost !== undefined && (best === undefined || cost < best.cost)) best = { tool, cost };
    if (cost === leastCost) break;
  }
  return best === undefined ? undefined : { tool: best.tool, args: exampleArguments(best.tool.inputSchema) };
}

const readOnlyName =
  /^(?:echo|ping|list|get|read|search|find|show|describe|status|info|time|now|version|count|sum|add)(?:$|[^a-z])/i;

/** Facts that a server declares about a tool that the gateway treats otherwise. */
export interface DeclaredOtherwise {
  readonly annotations: JsonObject;
  readonly trustState: string;
  readonly mutabilityClass: string;
}

/** Returns what the server of a tool declares, where the gateway treats the tool otherwise. */
export function declaredOf({ _meta }: Pick<ToolDescription, "_meta">): DeclaredOtherwise | undefined {
  const declared = _meta?.["toolcrib/declared"];
  if (!isJsonObject(declared) || !isJsonObject(declared["annotations"])) return undefined;
  const { annotations, trustState, mutabilityClass } = declared;
  return { annotations, trustState: String(trustState), mutabilityClass: String(mutabilityClass) };
}

/**
 * Whether a tool is annotated as read-only, or has no annotation and the name of a tool that reads. One whose
 * annotations are not believed needs both.
 */
function isReadOnly(tool: ToolDescription): boolean {
  const { id, namespace, annotations } = tool;
  const hasName = readOnlyName.test(id.slice(namespace.length + 1));
  if (annotations?.["readOnlyHint"] === true) return true;
  const { readOnlyHint, destructiveHint } = declaredOf(tool)?.annotations ?? annotations ?? {};
  return readOnlyHint !== false && destructiveHint !== true && hasName;
}

/** Names of arguments that accept any text. */
const freeText = /^(?:text|message|msg|query|q|input|content|name|value|prompt|word|words)$/i;

/** Returns the cost of the invented values; `undefined` if an invented value would not work, such as a path. */
function costOf(schema: JsonObject): number | undefined {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  let cost = 0;
  for (const name of requiredOf(schema)) {
    const property = properties[name];
    if (!isJsonObject(property)) return undefined;
    if (property["type"] === "string" && freeText.test(name) && property["format"] === undefined)
      cost += leastCost;
    else if (givenValue(property) !== undefined) cost += 3;
    else if (["number", "integer", "boolean"].includes(String(property["type"]))) cost += 2;
    else return undefined;
  }
  // An example with an argument is more helpful than one without.
  return cost === 0 ? 2.5 : cost;
}

/** Returns `args` as one shell word. Values from a server cannot control a terminal or leave their quotes. */
export function argumentsWord(args: JsonObject): string {
  return shellQuote(escapeUnsafe(JSON.stringify(args)));
}

/** Returns arguments that match the simple parts of `schema`. */
export function exampleArguments(schema: JsonObject): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  return Object.fromEntries(
    requiredOf(schema).map((name) => [name, exampleValue(properties[name], 0, name)]),
  );
}

function requiredOf(schema: JsonObject): readonly string[] {
  const { required } = schema;
  return Array.isArray(required) ? required.filter((name) => typeof name === "string") : [];
}

/** Returns a value from the schema itself. */
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

/** @param name of the argument: a text that only the caller knows is a placeholder, such as `<timezone>` */
function exampleValue(schema: JsonValue | undefined, depth: number, name: string): JsonValue {
  if (!isJsonObject(schema) || depth > exampleMaxDepth) return "…";
  const given = givenValue(schema);
  if (given !== undefined) return given;
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (schema["type"] === undefined && Array.isArray(options))
    return exampleValue(options[0], depth + 1, name);
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
      return [exampleValue(schema["items"], depth + 1, name)];
    case "object":
      return Object.fromEntries(
        requiredOf(schema).map((inner) => [
          inner,
          exampleValue(
            isJsonObject(schema["properties"]) ? schema["properties"][inner] : undefined,
            depth + 1,
            inner,
          ),
        ]),
      );
    default:
      return freeText.test(name) ? "hello" : `<${name}>`;
  }
}
