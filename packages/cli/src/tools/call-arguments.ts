/**
 * Parses the arguments of a call from the command line: a JSON object, or
 * `--arg NAME=VALUE` for each argument. Pure.
 */

import { type Diagnostic, isCodedError } from "@toolcrib/diagnostics";
import { findJsonFault, isJsonObject, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import { CliError } from "../cli-error.ts";

/** Longest JSON text, in characters. */
const textMaxLength = 16 * 1024 * 1024;

/**
 * Parses the object in `text`.
 *
 * @param name name of the text in errors.
 * @param flag the option for single arguments.
 * @throws {CliError} `CLI_ARGUMENTS_INVALID`; for invalid JSON with its position as a diagnostic.
 */
export function parseArguments(text: string, name: string, flag = "--arg"): JsonObject {
  let value: JsonValue;
  try {
    value = parseJson(text, { maxLength: textMaxLength });
  } catch (cause) {
    const fault = findJsonFault(text);
    const reason = isCodedError(cause) ? cause.message : "the text is not JSON";
    if (fault === undefined)
      throw new CliError("CLI_ARGUMENTS_INVALID", `Cannot read the arguments: ${reason}`, { cause });
    const end = text.trimEnd().length;
    const start = Math.min(fault.offset, end);
    const diagnostic: Diagnostic = {
      severity: "error",
      code: "CLI_ARGUMENTS_INVALID",
      message: `${start === end ? "The JSON is incomplete" : "This is not JSON"}: expected ${fault.expected}`,
      source: { name, text },
      span: { start, end: start + 1 },
    };
    throw new CliError("CLI_ARGUMENTS_INVALID", "Cannot read the arguments: they are not valid JSON", {
      cause,
      hint: `put them in 'single quotes' with "double quotes" inside, or use ${flag} NAME=VALUE`,
      data: { diagnostics: [diagnostic] },
    });
  }
  if (isJsonObject(value)) return value;
  throw new CliError("CLI_ARGUMENTS_INVALID", "Cannot read the arguments: they are not a JSON object", {
    hint: `write '{"NAME": VALUE}', or ${flag} NAME=VALUE`,
  });
}

/**
 * Converts `NAME=VALUE` texts to an object. The tool's schema decides the type of a
 * value: text if it expects text, otherwise JSON if it parses, otherwise text.
 *
 * @param flag the option that they come from.
 * @throws {CliError} `CLI_ARGUMENTS_INVALID`.
 */
export function parseArgumentPairs(pairs: readonly string[], schema: JsonObject, flag = "--arg"): JsonObject {
  const properties = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  const entries = new Map<string, JsonValue>();
  for (const pair of pairs) {
    const [, name, text] = /^([^=]+)=([\s\S]*)$/.exec(pair) ?? [];
    if (name === undefined || text === undefined) {
      throw new CliError("CLI_ARGUMENTS_INVALID", `Cannot read ${flag} "${pair}"`, {
        hint: `write ${flag} NAME=VALUE`,
      });
    }
    if (entries.has(name)) {
      throw new CliError("CLI_ARGUMENTS_INVALID", `The argument "${name}" is given twice`, {
        hint: `write a list as JSON: ${flag} ${name}='["a", "b"]'`,
      });
    }
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    entries.set(name, toValue(text, property));
  }
  return Object.fromEntries(entries);
}

function toValue(text: string, schema: JsonValue | undefined): JsonValue {
  const types = typesOf(schema);
  // Text that looks like a number remains text if the tool only accepts text.
  if (types.length > 0 && types.every((type) => type === "string")) return text;
  try {
    const value = parseJson(text);
    return types.includes("string") && !types.includes(typeName(value)) ? text : value;
  } catch {
    return text;
  }
}

function typesOf(schema: JsonValue | undefined): readonly string[] {
  if (!isJsonObject(schema)) return [];
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(options)) return options.flatMap(typesOf);
  const values = schema["enum"];
  return Array.isArray(values) ? [...new Set(values.map(typeName))] : [];
}

function typeName(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  return typeof value;
}
