/**
 * Builds the example of a tool: arguments from the examples in the document, and
 * the request that they produce. There is one for each tool whose required
 * arguments all have examples; it serves as the test of the tool.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import { parseHostPattern } from "@toolcrib/hosts";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import {
  type ParamType,
  planRequest,
  type Toolspec,
  type ToolspecExample,
  type ToolspecTool,
} from "@toolcrib/toolspec";
import { type Node, toJson } from "../document/node.ts";
import type { DraftParam } from "./draft-param.ts";

/** Maximum number of values of an example, and its longest form as JSON. */
const valuesMaxCount = 200;
const exampleMaxLength = 1500;
/** Replaces a variable that has no default. */
const sampleLabel = "example";

/** Returns the example of `tool`; `undefined` when the document lacks a required value. */
export function readExample(
  tool: ToolspecTool,
  drafts: readonly DraftParam[],
  bodyExample: Node | undefined,
  spec: Omit<Toolspec, "tools">,
): ToolspecExample | undefined {
  if (tool.encoding === "multipart") return undefined;
  const args = readArgs(tool, drafts, bodyExample);
  if (args === undefined || JSON.stringify(args).length > exampleMaxLength) return undefined;
  // An example of a write without any argument shows nothing.
  if (tool.method !== "GET" && Object.keys(args).length === 0) return undefined;
  const hasSecret =
    /\b(?:sk|pk|rk)_(?:live|test)_|\bgh[pousr]_|xox[abp]-|\beyJ[\w-]{8,}\.|AKIA[0-9A-Z]{12}|BEGIN [A-Z ]+KEY/;
  if (hasSecret.test(JSON.stringify(args))) return undefined;
  const plan = planOf(tool, args, spec);
  if (plan === undefined) return undefined;
  const text = plan.body === undefined ? undefined : new TextDecoder().decode(plan.body);
  const isJson = tool.encoding === undefined || tool.encoding === "json";
  const body: JsonValue | undefined = text === undefined || !isJson ? text : (JSON.parse(text) as JsonValue);
  const isEmpty = body === undefined || body === "" || text === "{}";
  return { args, request: { method: plan.method, url: plan.url, ...(isEmpty ? {} : { body }) } };
}

function readArgs(
  tool: ToolspecTool,
  drafts: readonly DraftParam[],
  bodyExample: Node | undefined,
): JsonObject | undefined {
  const whole = bodyExample === undefined ? undefined : toJson(bodyExample, valuesMaxCount);
  const args: { [name: string]: JsonValue } = {};
  for (const { param, example } of drafts) {
    if (param.value !== undefined) continue;
    // Examples contain no binary content.
    if (param.contentEncoding !== undefined) return undefined;
    const own = example === undefined || example === null ? undefined : toJson(example, valuesMaxCount);
    const ofBody =
      param.in !== "body"
        ? undefined
        : tool.encoding === "raw"
          ? whole
          : isJsonObject(whole) && Object.hasOwn(whole, param.name)
            ? whole[param.name]
            : undefined;
    // An example of the whole body and examples of its fields exclude each other.
    const isPartOfWhole = param.in === "body" && whole !== undefined;
    const value = isPartOfWhole ? ofBody : own;
    const isUsed = param.required === true || (isPartOfWhole && value !== undefined && value !== null);
    if (!isUsed) continue;
    const fitting = value === undefined ? undefined : fit(param.type, value);
    if (fitting === undefined) return undefined;
    if (param.enum !== undefined && !param.enum.includes(fitting)) return undefined;
    args[param.name] = fitting;
  }
  return args;
}

/** Converts `value` to the type; numbers in strings are parsed. */
function fit(type: ParamType, value: JsonValue): JsonValue | undefined {
  switch (type) {
    case "string":
      if (typeof value === "number" || typeof value === "boolean") return String(value);
      return typeof value === "string" && value !== "" ? value : undefined;
    case "integer":
    case "number": {
      const number =
        typeof value === "string" && /^-?\d{1,15}(?:\.\d{1,6})?$/.test(value) ? Number(value) : value;
      const isFitting = typeof number === "number" && (type === "number" || Number.isSafeInteger(number));
      return isFitting ? number : undefined;
    }
    case "boolean":
      return typeof value === "boolean" ? value : undefined;
    case "array":
      return Array.isArray(value) ? value : undefined;
    default:
      return isJsonObject(value) ? value : undefined;
  }
}

function planOf(tool: ToolspecTool, args: JsonObject, spec: Omit<Toolspec, "tools">) {
  const baseUrl = tool.baseUrl ?? spec.baseUrl;
  const variables: { [name: string]: string } = {};
  for (const [name, { default: value = sampleLabel }] of Object.entries(spec.variables ?? {}))
    variables[name] = value;
  const host = baseUrl
    .replace(/^https:\/\//, "")
    .replace(/\{([^{}]*)\}/g, (_, name: string) => variables[name] ?? "");
  const pattern = parseHostPattern(host);
  if (pattern.kind === "invalid") return undefined;
  try {
    return planRequest(tool, { ...spec, tools: [tool] }, args, { egress: [pattern.value], variables });
  } catch (error) {
    // A value that cannot be sent gives no example.
    if (isCodedError(error)) return undefined;
    throw error;
  }
}
