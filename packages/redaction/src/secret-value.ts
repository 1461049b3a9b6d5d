/**
 * Decides whether a setting is a secret, by its name and by the form of its value: a variable, a header, an argument,
 * a URL or another text. The one place that `add`, `import`, the checks of a configuration, `doctor` and what hides
 * values ask. Pure; bounded for texts of any length.
 *
 * In doubt a value is one. A value that is kept as a secret needlessly costs its operator little, so a false verdict
 * is accepted for a random text, and never for what many settings are: paths, versions, switches, numbers, addresses
 * without credentials, and identifiers.
 */

import { looksLikeCredential } from "./credential.ts";
import { lastWordOf } from "./credential-variable.ts";
import { hasHighEntropy } from "./random-text.ts";
import { isPath, isPublicName, isSecretParameter, nameVerdict } from "./secret-name.ts";
import { isSecretUrl, isWebhook } from "./secret-url.ts";

/** Where a text is. */
type TextRole = "variable" | "header" | "argument" | "url" | "plain";

/**
 * The certainty that a setting is a secret. `certain`: its name is that of a credential and its value can be one, or
 * its value has the known form of one. `likely`: a password or a random part in a URL, a webhook, a name that short
 * secrets have, or a random text. Undefined for any other.
 *
 * @param name of the variable or header, or the option before an argument; empty for other texts
 */
export function secretVerdict(
  role: "variable" | "header" | "argument" | "url" | "plain",
  name: string,
  value: string,
): "certain" | "likely" | undefined {
  if (value.trim() === "") return undefined;
  if (looksLikeCredential(value)) return "certain";
  if (role === "variable" || role === "header") {
    const verdict = nameVerdict(role, name, value);
    if (verdict !== undefined) return verdict;
  }
  return containsNamedSecret(value) || isLikely(role, name, value) ? "likely" : undefined;
}

function isLikely(role: TextRole, name: string, value: string): boolean {
  if (hasPassword(value) || isWebhook(value) || isMnemonic(value)) return true;
  if (role === "url") return isSecretUrl(value);
  if (role === "plain" || isPath(value)) return false;
  if (role === "argument") return isSecretArgument(name, value);
  if (role === "variable" && isSecretUrl(value, name)) return true;
  return !isIdentifier(name) && hasHighEntropy(value);
}

/** An argument of a command: a text, an option with its value, or a variable that is set. */
function isSecretArgument(before: string, value: string): boolean {
  if (isSecretUrl(value) || isGluedPassword(value)) return true;
  const [, option, assigned] =
    /^(?:-e|--env=|-D)?(-{0,2}[A-Za-z_][\w.-]{0,80})=(\S[\s\S]*)$/.exec(value) ?? [];
  if (option === undefined || assigned === undefined) return !isIdentifier(before) && hasHighEntropy(value);
  if (isReference(assigned)) return false;
  const name = option.replace(/^-+/, "");
  if (nameVerdict("variable", name, assigned) !== undefined || isSecretUrl(assigned, name)) return true;
  return !isIdentifier(name) && hasHighEntropy(assigned);
}

/** A password that is written together with its option, as in `-phunter2secret`. A port and a word are none. */
function isGluedPassword(value: string): boolean {
  const [, password = ""] = /^-[pP]([^-=./\\:@\s]{8,128})$/.exec(value) ?? [];
  return /\d[A-Za-z]/.test(password) && /[A-Za-z]/.test(password.replace(/^[A-Za-z]/, ""));
}

/** A value that only says where the secret is. */
function isReference(value: string): boolean {
  return /^(?:\$|env:|file:|keychain:|op:\/\/|~?\.{0,2}[\\/]|[A-Za-z]:\\)/.test(value);
}

/** Whether a setting of this name is random, and no secret: an identifier, a digest, or a public key. */
function isIdentifier(name: string): boolean {
  return identifierWords.has(lastWordOf(name)) || isPublicName(name);
}

/** Last words of the names of what is random, and no secret. */
const identifierWords: ReadonlySet<string> = new Set(
  "id ids identifier spreadsheet sheet folder document project sid sids uuid guid sha commit rev revision ref checksum digest fingerprint integrity version address arn contract".split(
    " ",
  ),
);

/** Words that end the name of a secret. */
const secretWord = "(?:token|secret|passw(?:or)?d|passphrase|pwd|credentials?|authorization|cookie)";
const secretKey = "(?:api|access|auth|private|secret|account|master|encryption|service)[-_]?key";
/** A value that is there, and is neither a variable nor an example. */
const presentValue = "[^\\s\"'\\\\$<{}[\\],;&#][^\\s\"'\\\\,;&#]{3,}";

/** Quantifiers are bounded: a text is as long as the author of a file wants. */
const namedSecrets: readonly RegExp[] = [
  // A member of JSON or YAML, a header, an assignment, a field of a connection string, a parameter of a URL.
  new RegExp(
    `(?<!(?:max|min|maximum|minimum)[-_]?)(?:${secretWord}|${secretKey})["'\\\\]{0,3}\\s{0,8}[:=]\\s{0,8}["'\\\\]{0,3}(?:(?:bearer|basic|token)\\s{1,8})?${presentValue}`,
    "i",
  ),
  // A variable of a shell, such as OPENAI_KEY=….
  new RegExp(
    `(?:^|[\\s"'])[A-Z0-9_]{0,60}(?:(?<!MON|TUR|DON|HOC|JOC|WHIS)KEY|(?<!COM|BY|OVER|SUR|TRES|UNDER|LOW|HIGH|BAND|ALL)PASS|PW)=["']?${presentValue}`,
  ),
  // An option in the command line of a shell.
  new RegExp(`(?:^|\\s)--?[\\w.-]{0,60}(?:${secretWord}|${secretKey})\\s{1,8}["']?(?!-)${presentValue}`, "i"),
  /\b(?:Bearer|Basic)\s{1,8}[^\s"'$<{]{8,}/i,
  // A field of a connection string, where a short password is one, too.
  /;\s{0,8}(?:password|passwd|pwd)\s{0,8}=\s{0,8}(?!(?:true|false|yes|no|none|null)\b)[^\s;<{$*%]/i,
];

/** A parameter of a URL within a text, which has to have the name of a secret. */
const namedParameter = new RegExp(
  `[?&#]([\\w.-]{0,40}(?:key|sig|signature|auth))=(${presentValue.replace("{3,}", "{3,200}")})`,
  "gi",
);

/** Whether a secret is in a text together with its name, such as JSON in a variable, or a script of a shell. */
function containsNamedSecret(text: string): boolean {
  if (namedSecrets.some((pattern) => pattern.test(text)) || isConnection(text)) return true;
  for (const [, name = "", value = ""] of text.matchAll(namedParameter))
    if (isSecretParameter(name, value)) return true;
  return false;
}

/** Parameters of a connection with a password, as `libpq` reads them. */
function isConnection(text: string): boolean {
  return (
    /(?:^|\s)(?:host|hostaddr|server|user|dbname|port)=\S/i.test(text) &&
    /(?:^|\s)(?:password|passwd|pwd)=(?!(?:true|false|yes|no|none|null)\b)[^\s;<{$*%]/i.test(text)
  );
}

/** A user and a password before the host of a URL, after its scheme. A port is none, whatever comes after it. */
const urlPassword = /^[^/@\s:?#]{0,512}:(?!\d{1,5}(?:[/,;?#&|\s]|$))([^@\s]{1,512})@/;
const driverPassword = /^[^\s:@/]{1,128}:([^\s@]{1,512})@(?:tcp|unix)\(/i;
/** A placeholder for a password: a variable, or a word in brackets. */
const placeholder = /^(?:\$\{?\w{1,200}\}?|<[^>]{0,200}>|\{[^}]{0,200}\}|\[[^\]]{0,200}\]|%s|\*{2,}|\.{3})$/;

/**
 * A password in a URL, such as that of a database, wherever it is in a text, or in the source name of a driver
 * (`user:password@tcp(host)/name`).
 */
function hasPassword(value: string): boolean {
  const [, password] = driverPassword.exec(value) ?? [];
  if (password !== undefined && !placeholder.test(password)) return true;
  const [, ...rests] = value.includes("@") ? value.split("://") : [];
  return rests.some((rest) => {
    const [, found] = urlPassword.exec(rest) ?? [];
    return found !== undefined && !placeholder.test(found);
  });
}

/** Numbers of words that a recovery phrase (BIP 39) has. */
const mnemonicLengths: ReadonlySet<number> = new Set([12, 15, 18, 21, 24]);

/** Words of sentences that the list of recovery phrases has not. */
const sentenceWord =
  /^(?:the|and|for|with|are|not|was|has|from|but|his|her|our|how|its|than|been|were|had|did|does|yours?)$/;

/** Whether a text is a recovery phrase: short words in lower case, without those that sentences have and its list has not. */
function isMnemonic(value: string): boolean {
  if (value.length > 24 * 9) return false;
  const words = value.trim().split(/\s+/);
  return (
    mnemonicLengths.has(words.length) &&
    words.every((word) => /^[a-z]{3,8}$/.test(word) && !sentenceWord.test(word))
  );
}
