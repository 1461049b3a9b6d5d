/** Parsers of option values, and options that several commands share. */

import { InvalidArgumentError } from "commander";

/** Returns a parser of whole numbers from `minimum` to `maximum`. */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER): (text: string) => number {
  const range =
    maximum === Number.MAX_SAFE_INTEGER ? `${minimum} or greater` : `from ${minimum} to ${maximum}`;
  return (text) => {
    const value = Number(text);
    if (text.trim() !== "" && Number.isSafeInteger(value) && value >= minimum && value <= maximum)
      return value;
    throw new InvalidArgumentError(`It must be a whole number ${range}.`);
  };
}

const unitMs: { readonly [unit: string]: number } = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** Longest duration: a year. */
const durationMaxMs = 366 * 86_400_000;

/** Parses a duration such as `30m`. @returns milliseconds */
export function duration(text: string): number {
  const [, count, unit = ""] = /^([0-9]{1,9})([smhd])$/.exec(text.trim()) ?? [];
  const value = Number(count) * (unitMs[unit] ?? Number.NaN);
  if (value >= 1000 && value <= durationMaxMs) return value;
  throw new InvalidArgumentError("It must be a number and a unit, such as 45s, 30m, 2h or 1d, at most 366d.");
}

/** Longest interval of a live view, in seconds. */
const secondsMax = 3600;

/** Parses the interval of a live view, `5` or `5s`. @returns milliseconds */
export function seconds(text: string): number {
  const [, count] = /^([0-9]{1,4})s?$/.exec(text.trim()) ?? [];
  const value = Number(count);
  if (value >= 1 && value <= secondsMax) return value * 1000;
  throw new InvalidArgumentError(`It must be a number of seconds from 1 to ${secondsMax}.`);
}

/** Returns a parser of `NAME=VALUE`. @param form the notation, for errors */
export function nameValuePair(form: string): (text: string) => readonly [string, string] {
  return (text) => {
    const at = text.indexOf("=");
    if (at < 1 || at === text.length - 1) throw new InvalidArgumentError(`Write it as ${form}.`);
    return [text.slice(0, at).trim(), text.slice(at + 1).trim()];
  };
}

/** `--arg` of commands that call a tool. */
export const toolArgumentOption = {
  short: "a",
  value: "name=value",
  isRepeatable: true,
  help: "one argument, instead of JSON; repeatable. The value is text if the tool expects text, otherwise JSON",
} as const;

/** `--param` and `--params` of commands that run a Starlark program. */
export const programParamOptions = {
  param: {
    short: "p",
    value: "name=value",
    isRepeatable: true,
    help: "one entry of the program's params; repeatable. The value is JSON if it parses as JSON, otherwise text",
  },
  params: { value: "json", help: "params as a JSON object, or - to read it from standard input" },
} as const;

/** `--secret` of commands that read the secrets of a manifest. */
export const manifestSecretOption = {
  value: "id=name",
  isRepeatable: true,
  help: "the name of a credential's secret, as in secret_key_ref; repeatable (default: SERVICE-ID)",
} as const;

/** `--server-arg` of commands that start an adopted server. */
export const serverArgOption = {
  value: "word",
  isRepeatable: true,
  help: "an argument of the server, such as a folder; repeatable",
} as const;

/** `--env` of commands that start an adopted server. */
export const serverEnvOption = {
  value: "name=value",
  isRepeatable: true,
  parse: nameValuePair("name=value"),
  help: "a variable of the server's environment, never a secret; repeatable",
} as const;
