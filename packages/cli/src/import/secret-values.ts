/**
 * Finds the secrets among the texts of a client's entry or of a command line: what `secretVerdict` says of each, and
 * what options before them say. Pure.
 */

import { credentialArguments } from "@toolcrib/config";
import { looksLikeCredential, secretVerdict } from "@toolcrib/redaction";

/** Where a text is. */
export type TextRole = Parameters<typeof secretVerdict>[0];

/** Whether a text is a secret. @param name of the variable or header */
export function isSecretValue(role: TextRole, name: string, value: string): boolean {
  return secretVerdict(role, name, value) !== undefined;
}

/** Options that name a password or a session in fewer letters than those that every program must not be given. */
const passwordOption =
  /^--?(?:key|(?:[A-Za-z0-9]+[-_.])*(?:pass|pw|pwd|apikey|authkey|bearer|cookie|pat|pin|dsn|connection-?string|auth|signature))$/i;
/** Options with a user and a password, such as `-u admin:secret`. */
const loginOption = /^(?:-u|--(?:user|login|basic-auth|userpass|proxy-user))$/i;
const userOption = /^(?:-[uU]\w{0,64}|--(?:[a-z]+[-_])?(?:user|username|login))(?:=|$)/;
/** Programs that start another one, and whose `-p` is a port, a package or a version. */
const launcher = /(?:^|[\\/])(?:npx|npm|pnpm|bunx|uvx?|pipx|docker|podman|nerdctl|deno)(?:\.cmd|\.exe)?$/i;

/**
 * Returns the positions of arguments that are secrets by what stands before them: `--password`, `--pw`, `-p`, `-u`.
 * `-p` is a port or a profile in other programs, so its value is one where a user is given too, or where it is no
 * word, number, path or version.
 */
export function secretArguments(command: string, args: readonly string[]): ReadonlySet<number> {
  const found = new Set(credentialArguments(args));
  const hasUser = args.some((word) => userOption.test(word));
  const isLaunchers = ownOptionsOf(command, args);
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

/**
 * Returns the positions of values of `-p`, `-P` and `-k` that no preview shows: passwords in some programs, and a name
 * in others. Numbers, paths, addresses and versions are shown.
 */
export function doubtfulArguments(command: string, args: readonly string[]): ReadonlySet<number> {
  const isLaunchers = ownOptionsOf(command, args);
  return new Set(
    args.flatMap((word, at) => {
      const value = args[at + 1] ?? "";
      const isShown = /^(?:-|\d+$|$)/.test(value) || /[./\\:@]/.test(value) || settingValue.test(value);
      return /^-[pPk]$/.test(word) && !isLaunchers(at) && !isShown ? [at + 1] : [];
    }),
  );
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
export function packageArgument(command: string, args: readonly string[]): number {
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

/** Whether a value only stands for one, as examples in documentation do. */
export function isPlaceholder(value: string): boolean {
  const word = value.replace(/^(?:Bearer|Basic|Token)\s+/i, "").trim();
  return (
    /^(?:<.*>|\[.*\]|\{\{.*\}\}|x{3,}|\*{3,}|\.{3,}|changeme|change-me|todo|none|null)$/i.test(word) ||
    /^(?:your|my|insert|enter|replace|add)[-_ ]/i.test(word) ||
    /[-_ ]here$/i.test(word)
  );
}
