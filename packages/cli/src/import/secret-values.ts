/** Decides which texts of a client's entry are secrets, by the names of their fields and by their form. Pure. */

import { credentialArguments, urlContainsCredential } from "@toolcrib/config";
import { isCredentialHeader, isCredentialVariable, looksLikeCredential } from "@toolcrib/redaction";

/** Where a text is. */
export type TextRole = "variable" | "header" | "argument" | "url" | "plain";

/** Whether a text is a secret. @param name of the variable or header */
export function isSecretValue(role: TextRole, name: string, value: string): boolean {
  if (value.trim() === "") return false;
  if (looksLikeCredential(value) || hasPassword(value) || containsNamedSecret(value)) return true;
  const isPath = /^(?:\.{0,2}|~|[A-Za-z]:)[\\/]/.test(value);
  if (role === "variable") {
    return (
      isCredentialVariable(name) ||
      (passwordVariable.test(name) && !isPath && !settingValue.test(value)) ||
      (!isPath && hasHighEntropy(value))
    );
  }
  if (role === "header") return isCredentialHeader(name) || hasHighEntropy(value);
  if (role === "url") return urlContainsCredential(value) || hasSecretPart(value);
  if (role !== "argument" || isPath) return false;
  const [, variable, assigned] = /^(?:-e|--env=|-D)?([A-Za-z_][A-Za-z0-9_]{0,80})=(\S+)$/.exec(value) ?? [];
  if (
    variable !== undefined &&
    assigned !== undefined &&
    !isReference(assigned) &&
    !settingValue.test(assigned)
  ) {
    if (assignedSecret.test(variable)) return true;
  }
  return hasHighEntropy(value) || (/^https?:\/\//.test(value) && hasSecretPart(value));
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

/** Names of variables that hold a password or a session. */
const passwordVariable =
  /(?:pass|passwd|passphrase|pwd|cookie|bearer|connection_?string)$|(?:^|_)(?:pw|pat|pin|auth|jwt|dsn)$/i;
/** Last words of a name that a value is assigned to. */
const assignedSecret =
  /(?:^|_)(?:(?:api|access|secret)?key|token|secret|passw(?:or)?d|passphrase|pass|pwd?|pin|pat|dsn|jwt|cookie|credentials?)$/i;
/** Values that switch something, and are no password. */
const settingValue = /^(?:true|false|yes|no|on|off|none|null|basic|bearer|oauth2?|token|\d)$/i;

/** Words that end the name of a secret. */
const secretWord = "(?:token|secret|passw(?:or)?d|passphrase|pwd|credentials?|authorization|cookie)";
const secretKey = "(?:api|access|auth|private|secret|account|master|encryption|service)[-_]?key";
/** A value that is there, and is neither a variable nor an example. */
const presentValue = "[^\\s\"'\\\\$<{}[\\],;&#][^\\s\"'\\\\,;&#]{3,}";

/** Quantifiers are bounded: a text is as long as the author of a file wants. */
const namedSecrets: readonly RegExp[] = [
  // A member of JSON or YAML, a header, an assignment, a field of a connection string, a parameter of a URL.
  new RegExp(
    `(?:${secretWord}|${secretKey})["'\\\\]{0,3}\\s{0,8}[:=]\\s{0,8}["'\\\\]{0,3}(?:(?:bearer|basic|token)\\s{1,8})?${presentValue}`,
    "i",
  ),
  // A variable of a shell, such as OPENAI_KEY=….
  new RegExp(`(?:^|[\\s"'])[A-Z0-9_]{0,60}(?:KEY|PASS|PW)=["']?${presentValue}`),
  // An option in the command line of a shell.
  new RegExp(`(?:^|\\s)--?[\\w.-]{0,60}(?:${secretWord}|${secretKey})\\s{1,8}["']?(?!-)${presentValue}`, "i"),
  new RegExp(`[?&#][\\w.-]{0,40}(?:key|sig|signature|auth)=${presentValue}`, "i"),
  /\b(?:Bearer|Basic)\s{1,8}[^\s"'$<{]{8,}/i,
];

/** Whether a secret is in a text together with its name, such as JSON in a variable, or a script of a shell. */
function containsNamedSecret(text: string): boolean {
  return namedSecrets.some((pattern) => pattern.test(text));
}

/** Whether a value only stands for one, as examples in documentation do. */
export function isPlaceholder(value: string): boolean {
  const word = value.replace(/^(?:Bearer|Basic|Token)\s+/i, "").trim();
  return (
    /^(?:<.*>|\[.*\]|\{\{.*\}\}|x{3,}|\*{3,}|\.{3,}|changeme|change-me|todo|none|null)$/i.test(word) ||
    /^(?:your|my|insert|enter|replace|add)[-_ ]/i.test(word) ||
    /[-_ ]here$/i.test(word)
  );
}

/** A password in a URL, such as that of a database. */
function hasPassword(value: string): boolean {
  const [, password] = /^[a-z][a-z0-9+.-]*:\/\/[^/@\s]*:([^/@\s]+)@/i.exec(value) ?? [];
  return password !== undefined && !/^\$\{?\w+\}?$/.test(password);
}

/** A part of a path or a parameter of a URL that is random. */
function hasSecretPart(url: string): boolean {
  const rest = url.replace(/^[a-z]+:\/\/[^/?#]*/i, "");
  const named = /[?&][\w.-]{0,40}(?:key|token|secret|password|auth|sig)[\w.-]{0,40}=[^&#]/i.test(rest);
  return named || rest.split(/[/?&=#]/).some((part) => hasHighEntropy(part));
}

/**
 * Whether a text is random: letters and digits in no order that a word, a path or a version has. A digest in
 * hexadecimal digits is one, too, as many keys are.
 */
function hasHighEntropy(text: string): boolean {
  const value = text.trim();
  if (!/^[A-Za-z0-9_+/=-]{24,512}$/.test(value) || !/[0-9]/.test(value) || !/[A-Za-z]/.test(value))
    return false;
  if (/^\d{4}-\d\d-\d\d|^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-/.test(value)) return false;
  // Words have separators or capitals between them, and few digits.
  if (value.split(/[-_/+=]|(?=[A-Z][a-z])/).every((part) => /^(?:[A-Za-z]{2,}\d{0,3}|\d{1,4}|)$/.test(part)))
    return false;
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  const entropy = [...counts.values()].reduce(
    (sum, count) => sum - (count / value.length) * Math.log2(count / value.length),
    0,
  );
  return entropy > (/^[0-9a-f]+$/i.test(value) ? 3 : 3.6);
}
