/**
 * Checks of options that a program passes: unknown names, values of other types and
 * numbers out of their range are refused. An ignored option is worse than an error:
 * a misspelled `authenticate` would serve everyone. No message contains a text that
 * was passed, which can be a secret.
 */

import { nearestName } from "@toolcrib/diagnostics";
import { RegistryError } from "./registry-error.ts";

/** Finds the fault of a value. The value is defined; `undefined` is always the default. */
export interface OptionCheck {
  /** Completes "must be". */
  readonly allowed: string;
  readonly isValid: (value: unknown) => boolean;
  /** The checks of the members of an object. */
  readonly members?: OptionChecks;
  /** The check of each value of an object whose names are free. */
  readonly values?: OptionCheck;
}

/** The options of one object, by name. */
export type OptionChecks = { readonly [name: string]: OptionCheck };

/** Any value: it is checked elsewhere. */
export const anyOption: OptionCheck = { allowed: "any value", isValid: () => true };
export const textOption: OptionCheck = { allowed: "a string", isValid: (value) => typeof value === "string" };
export const booleanOption: OptionCheck = {
  allowed: "true or false",
  isValid: (value) => typeof value === "boolean",
};
export const functionOption: OptionCheck = {
  allowed: "a function",
  isValid: (value) => typeof value === "function",
};
/** An object whose members are not checked here. */
export const objectOption: OptionCheck = { allowed: "an object", isValid: isObject };
export const textListOption: OptionCheck = {
  allowed: "a list of strings",
  isValid: (value) => Array.isArray(value) && value.every((item) => typeof item === "string"),
};

/** Accepts numbers from `min` to `max`. */
export function numberOption(min: number, max: number): OptionCheck {
  return {
    allowed: `a number from ${min} to ${max.toLocaleString("en")}`,
    isValid: (value) => typeof value === "number" && value >= min && value <= max,
  };
}

/** Accepts whole numbers from `min` to `max`. */
export function integerOption(min: number, max: number): OptionCheck {
  const { allowed, isValid } = numberOption(min, max);
  return {
    allowed: allowed.replace("a number", "a whole number"),
    isValid: (value) => Number.isInteger(value) && isValid(value),
  };
}

/** Accepts one of `names`. */
export function choiceOption(...names: readonly string[]): OptionCheck {
  return {
    allowed: `one of ${names.map((name) => `"${name}"`).join(", ")}`,
    isValid: (value) => names.includes(value as string),
  };
}

/** Accepts an object with these members. */
export function recordOption(members: OptionChecks): OptionCheck {
  return { ...objectOption, members };
}

/** Accepts an object with any names, and such values. */
export function mapOption(values: OptionCheck): OptionCheck {
  return { ...objectOption, values };
}

/**
 * Checks `options`.
 *
 * @param of the object for messages, such as `the backend "a"`
 * @throws {RegistryError} `REGISTRY_INVALID_REQUEST`
 */
export function checkOptions(of: string, options: unknown, members: OptionChecks): void {
  if (!isObject(options)) throw invalid(`The options of ${of} must be an object, not ${shown(options)}`);
  checkMembers(of, "", options, members);
}

function checkMembers(of: string, path: string, options: object, members: OptionChecks): void {
  for (const [name, value] of Object.entries(options)) {
    const check = Object.hasOwn(members, name) ? members[name] : undefined;
    if (check === undefined) throw unknownOption(of, path, name, Object.keys(members));
    checkValue(of, `${path}${name}`, value, check);
  }
}

function checkValue(of: string, path: string, value: unknown, check: OptionCheck): void {
  if (value === undefined) return;
  if (!check.isValid(value)) {
    throw invalid(
      `Option "${path}" of ${of} must be ${check.allowed}, not ${shown(value)}`,
      "leave it out for its default",
    );
  }
  if (check.members !== undefined) checkMembers(of, `${path}.`, value as object, check.members);
  if (check.values === undefined) return;
  for (const [name, one] of Object.entries(value as object))
    checkValue(of, `${path}.${name}`, one, check.values);
}

function unknownOption(of: string, path: string, name: string, known: readonly string[]): RegistryError {
  const near = nearestName(name, known);
  const meant = near === undefined ? "" : `did you mean "${path}${near}"? `;
  const where = path === "" ? "" : ` in "${path.slice(0, -1)}"`;
  return invalid(`Unknown option "${path}${name}" of ${of}`, `${meant}allowed${where}: ${known.join(", ")}`);
}

/** Describes a value without its text. */
function shown(value: unknown): string {
  if (typeof value === "number" || typeof value === "boolean" || value === null) return String(value);
  if (Array.isArray(value)) return "a list";
  return value === undefined ? "undefined" : typeof value === "object" ? "an object" : `a ${typeof value}`;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(message: string, hint?: string): RegistryError {
  return new RegistryError("REGISTRY_INVALID_REQUEST", message, { hint });
}
