/**
 * Finds the secrets among the arguments of a command: by the options that they belong to, and by what `secretVerdict`
 * says of each. Other users of the machine can read the arguments of a process. Pure.
 */

import { looksLikeCredential, secretVerdict } from "@toolcrib/redaction";
import { credentialArguments } from "./credential-arguments.ts";

/** Options that name a password or a session in fewer letters than those that every program must not be given. */
const passwordOption =
  /^--?(?:key|(?:[A-Za-z0-9]+[-_.])*(?:pass|pw|pwd|apikey|authkey|bearer|cookie|pat|pin|dsn|connection-?string|auth|signature))$/i;
/** Options with a user and a password, such as `-u admin:secret`. */
const loginOption = /^(?:-u|--(?:user|login|basic-auth|userpass|proxy-user))$/i;
const userOption = /^(?:-[uU]\w{0,64}|--(?:[a-z]+[-_])?(?:user|username|login))(?:=|$)/;
/** Programs that start another one, and whose `-p` is a port, a package or a version. */
const launcher = /(?:^|[\\/])(?:npx|npm|pnpm|bunx|uvx?|pipx|docker|podman|nerdctl|deno)(?:\.cmd|\.exe)?$/i;

/** The arguments of a command, judged. */
interface JudgedArguments {
  /** The positions of secrets. */
  readonly secrets: ReadonlySet<number>;
  /** The position of the package that npx, uvx and their like start; -1 where there is none. */
  readonly packageAt: number;
  /** Whether the argument at a position is one of the launcher, and not of the program that it starts. */
  readonly isLaunchers: (at: number) => boolean;
}

/**
 * Finds the secrets among the arguments of a command. The name of a package is none, also where its digits look random.
 *
 * @param command the program; empty where only its arguments are known
 * @param texts the arguments; `undefined` for one that is no text
 */
export function judgeArguments(command: string, texts: readonly (string | undefined)[]): JudgedArguments {
  const args = texts.map((text) => text ?? "");
  const packageAt = packageArgument(command, args);
  const isLaunchers = ownOptionsOf(command, args);
  const secrets = optionSecrets(args, isLaunchers);
  for (const index of credentialArguments(texts)) secrets.add(index);
  for (const [at, word] of args.entries()) {
    const before = args[at - 1] ?? "";
    const option = before.length <= 100 && /^--?[A-Za-z][\w.-]*$/.test(before) ? before : "";
    if (at !== packageAt && secretVerdict("argument", option, word) !== undefined) secrets.add(at);
  }
  return { secrets, packageAt, isLaunchers };
}

/**
 * Returns the positions of arguments that are secrets by what stands before them: `--password`, `--pw`, `-p`, `-u`.
 * `-p` is a port or a profile in other programs, so its value is one where a user is given too, or where it is no
 * word, number, path or version. `-k` is a key in some, and has no value in others.
 */
function optionSecrets(args: readonly string[], isLaunchers: (at: number) => boolean): Set<number> {
  const found = new Set<number>();
  const hasUser = args.some((word) => userOption.test(word));
  for (const [at, word] of args.entries()) {
    const equals = word.indexOf("=");
    const [option, place, value] =
      equals === -1 ? [word, at + 1, args[at + 1]] : [word.slice(0, equals), at, word.slice(equals + 1)];
    if (option.length > 100) continue;
    if (/^-p./.test(word) && hasUser && equals === -1 && !/^-p\d+$/.test(word) && !isLaunchers(at))
      found.add(at);
    if (value === undefined || value === "" || isReference(value) || settingValue.test(value)) continue;
    if (equals === -1 && value.startsWith("-")) continue;
    const isSecret =
      passwordOption.test(option) ||
      (loginOption.test(option) && /^[^:\s]{1,200}:[^:\s/]/.test(value) && !/^\d+:\d+$/.test(value)) ||
      (option === "-k" && !isLaunchers(at) && value.length >= 8 && isPassword(value)) ||
      (option === "-p" && !isLaunchers(at) && (hasUser ? !/^\d{1,5}$/.test(value) : isPassword(value)));
    if (isSecret) found.add(place);
  }
  return found;
}

/** Returns whether the argument at a position is one of the launcher, and not of the program that it starts. */
function ownOptionsOf(command: string, args: readonly string[]): (at: number) => boolean {
  if (!launcher.test(command)) return () => false;
  const end = programAt(command, args);
  return (at) => end === -1 || at < end;
}

/** Returns the position of the program that npx, uvx and their like start; -1 for none, and for other launchers. */
function programAt(command: string, args: readonly string[]): number {
  if (!/(?:^|[\\/])(?:npx|bunx|uvx)(?:\.cmd|\.exe)?$/i.test(command)) return -1;
  return args.findIndex(
    (word, index) =>
      !word.startsWith("-") && !/^(?:-[pcw]|--[a-z-]+)$/.test((args[index - 1] ?? "").replace("--yes", "")),
  );
}

/**
 * Returns the position of the package that npx, uvx and their like start: its name is none, also where its digits
 * look random. -1 where there is none.
 */
function packageArgument(command: string, args: readonly string[]): number {
  const at = programAt(command, args);
  // Names of packages have no capitals; a key that has their form has one of the known prefixes.
  const name = args[at] ?? "";
  return /^[a-z][a-z0-9._-]*(?:@[\w.^~-]+)?$/.test(name) && !looksLikeCredential(name) ? at : -1;
}

/** A value that only says where the secret is. */
function isReference(value: string): boolean {
  return /^(?:\$|env:|file:|keychain:|op:\/\/|~?\.{0,2}[\\/]|[A-Za-z]:\\)/.test(value);
}

/** Whether a value is neither a word nor a number, a version, a path or a mapping of ports. */
function isPassword(value: string): boolean {
  if (/[./\\:@]/.test(value)) return false;
  return (
    (/\d/.test(value) && /[A-Za-z]/.test(value)) || /[!#$%^&*?]/.test(value) || /[A-Z]/.test(value.slice(1))
  );
}

/** Values that switch something, and are no password. */
const settingValue = /^(?:true|false|yes|no|on|off|none|null|basic|bearer|oauth2?|token|\d)$/i;
