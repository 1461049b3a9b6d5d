/**
 * The options of a `toolcrib add`, as words for a shell: a command to copy keeps what was given. A value that looks like
 * a secret is not shown again, and is the word VALUE. Pure.
 */

import { judgeArguments } from "@toolcrib/config";
import { secretVerdict } from "@toolcrib/redaction";
import { shellQuote } from "../serve/shell-quote.ts";
import type { AddFlags } from "../toolspec/add-flags.ts";

/** Returns one option with its value, as it is written in a shell. */
export function optionWords(name: string, value: string): string {
  return `${name}${value.startsWith("-") ? "=" : " "}${shellQuote(value)}`;
}

/** Returns the options that were given, without those at the end of a command: `--dry-run` and `--yes`. */
export function givenWords(flags: AddFlags): readonly string[] {
  const { secret, variable, serverArg = [], env, read, write, allow, set } = flags;
  const one = (name: string, value: string | number | undefined) =>
    value === undefined ? [] : [optionWords(name, String(value))];
  const each = (name: string, values: readonly string[] = []) =>
    values.map((value) => optionWords(name, value));
  const pairs = (name: string, values: AddFlags["env"] = []) =>
    values.map(([key, value]) => {
      const isShown = secretVerdict("variable", key, value) === undefined;
      return optionWords(name, `${key}=${isShown ? value : "VALUE"}`);
    });
  const names = (name: string, values: AddFlags["secret"] = []) =>
    values.map(([key, value]) => optionWords(name, `${key}=${value}`));
  const { secrets } = judgeArguments("", serverArg);
  return [
    ...one("--id", flags.id),
    ...names("--secret", secret),
    ...(flags.withoutSecrets === true ? ["--without-secrets"] : []),
    ...pairs("--variable", variable),
    ...(flags.allTools === true ? ["--all-tools"] : []),
    ...each(
      "--server-arg",
      serverArg.map((word, at) => (secrets.has(at) ? "VALUE" : word)),
    ),
    ...pairs("--env", env),
    ...each("--read", read),
    ...each("--write", write),
    ...each("--allow", allow),
    ...one("--program", flags.program),
    ...pairs("--set", set),
    ...one("--use", flags.use),
    ...one("--untested", flags.untested),
  ];
}

/** Returns the options at the end of a command, as they were given. */
export function lastWords({ dryRun, yes }: AddFlags): readonly string[] {
  return [...(dryRun === true ? ["--dry-run"] : []), ...(yes === true ? ["--yes"] : [])];
}
