/**
 * Checks the arguments of a call against the parameters of a tool: no undeclared
 * argument, none missing, each of its type. A string that is exactly a number or
 * a boolean is accepted for a parameter of that type; no other value is converted.
 */

import { nearestName } from "@toolcrib/diagnostics";
import { listOf, quote } from "@toolcrib/document";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { ParamType, ToolspecParam, ToolspecTool } from "../spec/toolspec.ts";
import { ToolspecError } from "../toolspec-error.ts";
import { argumentName, toParamNames } from "./argument-names.ts";

/** A valid argument. */
export interface Argument {
  readonly param: ToolspecParam;
  readonly value: JsonValue;
  /** A number in the form in which it is sent, without exponent; `undefined` for other types. */
  readonly digits: string | undefined;
}

/** Returns the arguments of `tool` in the order of its parameters. @throws {ToolspecError} `TOOLSPEC_ARGUMENT_INVALID`. */
export function readArguments(tool: ToolspecTool, given: JsonObject): readonly Argument[] {
  const params = tool.params ?? [];
  const args = toParamNames(tool, given);
  const names = params.filter(({ value }) => value === undefined).map(({ name }) => name);
  for (const name of Object.keys(args)) {
    if (args[name] === undefined || names.includes(name)) continue;
    const near = nearestName(name, names);
    throw new ToolspecError(
      "TOOLSPEC_ARGUMENT_INVALID",
      `Tool ${quote(tool.name)} has no parameter ${quote(name)}`,
      {
        hint:
          near === undefined
            ? `it takes ${names.length === 0 ? "none" : names.map((one) => argumentName(tool, one)).join(", ")}`
            : `did you mean ${argumentName(tool, near)}?`,
      },
    );
  }
  return params.flatMap((param) => {
    if (param.value !== undefined) return [readArgument(param, param.value)];
    const value = Object.hasOwn(args, param.name) ? args[param.name] : undefined;
    if (value !== undefined) return [readArgument(param, value)];
    if (param.required !== true) return [];
    const message = `Parameter ${quote(param.name)} of tool ${quote(tool.name)} is required`;
    throw new ToolspecError("TOOLSPEC_ARGUMENT_INVALID", message, { hint: `give it as ${param.type}` });
  });
}

function readArgument(param: ToolspecParam, value: JsonValue): Argument {
  const read = coerce(param.type, value);
  if (read === undefined) {
    const message = `Parameter ${quote(param.name)} must be ${articles[param.type]}, but is ${typeOf(value)}`;
    throw new ToolspecError("TOOLSPEC_ARGUMENT_INVALID", message);
  }
  if (
    param.enum !== undefined &&
    !param.enum.some((one) => textOf(one) === argumentText({ param, ...read }))
  ) {
    const message = `Parameter ${quote(param.name)} has a value that is not allowed`;
    const hint = `it may be ${listOf(param.enum.map(textOf))}`;
    throw new ToolspecError("TOOLSPEC_ARGUMENT_INVALID", message, { hint });
  }
  if (!isWellFormed(value)) {
    const message = `Parameter ${quote(param.name)} contains half a character, which cannot be sent`;
    throw new ToolspecError("TOOLSPEC_VALUE_HOSTILE", message);
  }
  return { param, ...read };
}

const articles: { readonly [T in ParamType]: string } = {
  string: "a string",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "an object",
  array: "an array",
};

function typeOf(value: JsonValue): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "number") return Number.isInteger(value) ? "a whole number" : "a number";
  return { string: "a string", boolean: "a boolean", object: "an object" }[
    typeof value as "string" | "boolean" | "object"
  ];
}

const wholeNumber = /^(?:0|-?[1-9][0-9]{0,99})$/;
const anyNumber = /^-?(?:0|[1-9][0-9]{0,99})(?:\.[0-9]{1,99})?$/;

type Read = Pick<Argument, "value" | "digits">;

function coerce(type: ParamType, value: JsonValue): Read | undefined {
  switch (type) {
    case "string":
      return typeof value === "string" ? as(value) : undefined;
    case "boolean":
      if (value === "true" || value === "false") return as(value === "true");
      return typeof value === "boolean" ? as(value) : undefined;
    case "integer":
      if (typeof value === "string" && wholeNumber.test(value)) return { value, digits: value };
      return typeof value === "number" && Number.isInteger(value)
        ? { value, digits: plainNumber(value) }
        : undefined;
    case "number":
      if (typeof value === "string" && anyNumber.test(value)) return { value, digits: value };
      return typeof value === "number" && Number.isFinite(value)
        ? { value, digits: plainNumber(value) }
        : undefined;
    case "array":
      return Array.isArray(value) ? as(value) : undefined;
    case "object":
      return isJsonObject(value) ? as(value) : undefined;
  }
}

function as(value: JsonValue): Read {
  return { value, digits: undefined };
}

/** Returns `value` in decimal without exponent, with the digits that JavaScript needs to parse the same number. */
export function plainNumber(value: number): string {
  if (Number.isSafeInteger(value)) return String(value);
  if (Number.isInteger(value)) return BigInt(value).toString();
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)([0-9]+)(?:\.([0-9]+))?(?:e([+-][0-9]+))?$/.exec(String(value)) ?? [];
  const shift = Number(exponent);
  // Large numbers are integers: a fraction with an exponent is a small number.
  return shift === 0 ? String(value) : `${sign}0.${"0".repeat(-shift - 1)}${whole}${fraction}`;
}

function isWellFormed(value: JsonValue): boolean {
  if (typeof value === "string") return value.isWellFormed();
  if (Array.isArray(value)) return value.every(isWellFormed);
  if (!isJsonObject(value)) return true;
  return Object.entries(value).every(
    ([key, part]) => key.isWellFormed() && (part === undefined || isWellFormed(part)),
  );
}

/** Returns a value as one text: scalars unchanged, other values as compact JSON. */
export function textOf(value: JsonValue): string {
  if (typeof value === "string") return value;
  return typeof value === "number" ? plainNumber(value) : JSON.stringify(value);
}

/** Returns an argument as one text. */
export function argumentText({ value, digits }: Argument): string {
  return digits ?? textOf(value);
}

/** Returns an argument as compact JSON. */
export function argumentJson({ value, digits }: Argument): string {
  return digits ?? JSON.stringify(value);
}
