/**
 * `toolcrib completion names`: prints the names that can be the next word of a command line, one a line, for the scripts
 * of the shells. It asks the running gateway, or reads what the home remembers: it starts no server, prints no
 * error, and ends within a second. A name with a character that means something to a shell is left out.
 */

import {
  type CliArgument,
  type CliCommand,
  type CliCommandGroup,
  type CliOptions,
  isGroup,
  longFlag,
  type NameKind,
} from "../cli-command.ts";
import type { CliContext } from "../cli-context.ts";
import { type ExitCode, exitCodes } from "../exit-codes.ts";
import { type GlobalFlags, globalOptions, resolveGlobalOptions } from "../global-options.ts";

/** Milliseconds after which nothing is completed. */
const timeLimitMs = 1000;
/** Most names that are printed. */
const maxNames = 5000;
/** Names that every shell takes as one plain word. */
const plainName = /^[A-Za-z0-9_./@%+][A-Za-z0-9_./@%+:,=-]{0,255}$/;

/** Runs the command. @param words those after `toolcrib`, without the one that is completed */
export async function completeNames(context: CliContext, words: readonly string[]): Promise<ExitCode> {
  const { context: own, rest } = withGlobals(context, words);
  const names = await namesFor(own, rest).catch(() => []);
  const plain = [...new Set(names)].filter((name) => plainName.test(name)).slice(0, maxNames);
  context.output.json({ names: plain });
  if (!context.output.isJson) context.stdout.write(plain.map((name) => `${name}\n`).join(""));
  return exitCodes.done;
}

async function namesFor(context: CliContext, words: readonly string[]): Promise<readonly string[]> {
  const found = await placeOf(context, words);
  if (found === undefined) return [];
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(timeLimitMs)]);
  const { namesOfKind } = await import("../known-names/known-names.ts");
  return await namesOfKind({ ...context, signal }, found);
}

/** Takes `--home` and `--config` out of the words, and returns the context that they make. */
function withGlobals(
  context: CliContext,
  words: readonly string[],
): { readonly context: CliContext; readonly rest: readonly string[] } {
  const rest: string[] = [];
  const config: string[] = [];
  let home: string | undefined;
  for (let at = 0; at < words.length; at += 1) {
    const [, flag = "", value] = /^(--home|--config|-c|--log-level)(?:=(.*))?$/s.exec(words[at] ?? "") ?? [];
    if (flag === "") {
      rest.push(words[at] ?? "");
      continue;
    }
    // bash splits a word at the equals sign.
    if (value === undefined && words[at + 1] === "=") at += 1;
    if (value === undefined) at += 1;
    const given = value ?? words[at] ?? "";
    if (flag === "--home") home = given;
    else if (flag !== "--log-level") config.push(given);
  }
  if (home === undefined && config.length === 0) return { context, rest };
  const { options } = context;
  const flags: GlobalFlags = {
    ...(home === undefined ? (options.isHomeGiven ? { home: options.home } : {}) : { home }),
    config: config.length === 0 ? [...options.configFiles] : config,
  } as GlobalFlags;
  return { context: { ...context, options: resolveGlobalOptions(flags, context) }, rest };
}

/** The kind of names at the end of the words; undefined where no names are completed. */
async function placeOf(context: CliContext, words: readonly string[]): Promise<NameKind | undefined> {
  const sections = await context.loadCommands();
  let known: readonly (CliCommand | CliCommandGroup)[] = sections.flatMap(({ commands }) => commands);
  let at = 0;
  for (;;) {
    const command = known.find(({ name }) => name === words[at]);
    if (command === undefined) return undefined;
    at += 1;
    if (!isGroup(command)) return placeIn(command, words.slice(at));
    known = command.commands;
    if (known.some(({ name }) => name === words[at])) continue;
    const byDefault = command.commands.find(({ name }) => name === command.defaultCommand);
    return byDefault === undefined ? undefined : placeIn(byDefault, words.slice(at));
  }
}

function placeIn(command: CliCommand, words: readonly string[]): NameKind | undefined {
  const flags: CliOptions = { ...globalOptions, ...command.options };
  const optionOf = (word: string) =>
    Object.entries(flags).find(
      ([name, option]) => longFlag(name, option) === word || (option.short && `-${option.short}` === word),
    )?.[1];
  const values: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    if (!word.startsWith("-")) {
      values.push(word);
      continue;
    }
    const option = optionOf(word);
    if (option?.value === undefined) continue;
    if (at === words.length - 1) return typeof option.completes === "string" ? option.completes : undefined;
    at += 1;
  }
  const taken: readonly CliArgument[] = Object.values(command.arguments ?? {});
  const last = taken.at(-1);
  const argument = taken[values.length] ?? (last?.isVariadic === true ? last : undefined);
  const completes = argument?.completes;
  if (completes === undefined || typeof completes === "string") return completes;
  const [before = ""] = values;
  return Object.hasOwn(completes, before) ? completes[before] : undefined;
}
