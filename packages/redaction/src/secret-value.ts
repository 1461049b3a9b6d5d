/**
 * Decides whether a setting is a secret, by its name and by the form of its value: a variable, a header, an argument,
 * a URL or another text. The one place that `add`, `import`, the checks of a configuration, `doctor` and what hides
 * values ask. Pure; bounded for texts of any length.
 *
 * In doubt a value is one. A value that is kept as a secret needlessly costs its operator little, so a false verdict
 * is accepted for a random text, and never for what many settings are: paths, versions, switches, numbers, addresses
 * without credentials, and identifiers.
 */

import { isCredentialHeader, looksLikeCredential } from "./credential.ts";
import { isCredentialVariable, lastWordOf } from "./credential-variable.ts";
import { hasHighEntropy } from "./random-text.ts";
import { isSecretUrl, isWebhook } from "./secret-url.ts";

/** Where a text is. */
type TextRole = "variable" | "header" | "argument" | "url" | "plain";

/**
 * How sure it is that a setting is a secret. `certain`: its name is that of a credential, or its value has the known
 * form of one. `likely`: a password or a random part in a URL, a webhook, a name that short secrets have, or a random
 * text. Undefined for any other.
 *
 * @param name of the variable or header; empty for other texts
 */
export function secretVerdict(
  role: "variable" | "header" | "argument" | "url" | "plain",
  name: string,
  value: string,
): "certain" | "likely" | undefined {
  if (value.trim() === "") return undefined;
  if (looksLikeCredential(value)) return "certain";
  if (role === "variable" && isCredentialVariable(name)) return "certain";
  if (role === "header" && isCredentialHeader(name)) return "certain";
  return containsNamedSecret(value) || isLikely(role, name, value) ? "likely" : undefined;
}

function isLikely(role: TextRole, name: string, value: string): boolean {
  if (hasPassword(value) || isWebhook(value) || isMnemonic(value)) return true;
  if (role === "url") return isSecretUrl(value);
  if (role === "header") return isNamedSecret(name, value) || hasHighEntropy(value);
  if (role === "plain" || isPath(value)) return false;
  if (role === "variable") {
    if (isNamedSecret(name, value) || isSecretUrl(value, name)) return true;
    return !identifierWords.has(lastWordOf(name)) && hasHighEntropy(value);
  }
  const [, variable, assigned] = /^(?:-e|--env=|-D)?([A-Za-z_][A-Za-z0-9_]{0,80})=(\S+)$/.exec(value) ?? [];
  if (variable !== undefined && assigned !== undefined && !isReference(assigned)) {
    if (assignedSecret.test(variable) && !settingValue.test(assigned)) return true;
    if (isNamedSecret(variable, assigned)) return true;
  }
  return hasHighEntropy(value) || isSecretUrl(value);
}

function isPath(value: string): boolean {
  return /^(?:\.{0,2}|~|[A-Za-z]:)[\\/]/.test(value);
}

/** A value that only says where the secret is. */
function isReference(value: string): boolean {
  return /^(?:\$|env:|file:|keychain:|op:\/\/|~?\.{0,2}[\\/]|[A-Za-z]:\\)/.test(value);
}

/** Last words of the names of what is random, and no secret. */
const identifierWords: ReadonlySet<string> = new Set(
  "id ids identifier sid sids uuid guid sha commit revision checksum digest fingerprint version address arn contract".split(
    " ",
  ),
);

/** Names of variables that hold a password or a session, whatever their value is that switches nothing. */
const passwordName =
  /(?:pass|passwd|passphrase|pwd|cookie|bearer)$|(?:^|[_-])(?:pw|pat|auth|jwt|totp|mfa|sas)$|(?:^|[_-])session[_-]?(?:id|string|data)$|(?:^|[_-])(?:session|connect|login|auth|php|j)[_-]?sess(?:ion)?(?:[_-]?id)?$/i;
/** Codes that a person types; a number of one to three digits is a pin of a chip or a counter. */
const codeName = /(?:^|[_-])(?:otp|pin|pin[_-]?code|(?:mfa|2fa|otp|backup|recovery)[_-]?codes?)$/i;
/** A session, where no word says of what it is the identifier. */
const sessionName = /^(?:sid|(?:session|connect|auth|login|user|cookie)[_-]sid)$/i;
/** Where a program connects to: a secret where it contains more than a name or an address. */
const connectionName = /(?:^|[_-])(?:dsn|conn(?:ection)?[_-]?str(?:ing)?s?)$/i;
/** What wallets are restored from. The seed of a random generator is a number. */
const seedName = /(?:^|[_-])seed$/i;
/** Last words of a name that a value is assigned to. */
const assignedSecret =
  /(?:^|_)(?:(?:api|access|secret)?key|token|secret|passw(?:or)?d|passphrase|pass|pwd?|pat|jwt|cookie|credentials?)$/i;
/** Values that switch something, and are no password. */
const settingValue =
  /^(?:true|false|yes|no|on|off|none|null|auto|default|enabled|disabled|required|optional|basic|bearer|digest|ntlm|oauth2?|oidc|jwt|token|\d)$/i;

/** Whether a name that shorter secrets have has a value that can be one. */
function isNamedSecret(name: string, value: string): boolean {
  if (name.length > 128 || settingValue.test(value) || isPath(value)) return false;
  if (passwordName.test(name)) return true;
  if (codeName.test(name)) return !/^\d{1,3}$/.test(value);
  if (sessionName.test(name)) return !/^\d{1,8}$/.test(value);
  if (seedName.test(name)) return value.length >= 16 && !/^\d+$/.test(value);
  return connectionName.test(name) && !isPlainConnection(value);
}

/** The name of a source, the path of a file, or an address to which no user and no parameter belongs. */
function isPlainConnection(value: string): boolean {
  if (/^[\w.-]{1,64}$/.test(value)) return !hasHighEntropy(value);
  return /^(?:sqlite|file|duckdb):/i.test(value) || /^[a-z][a-z0-9+.-]*:\/\/[^@?#;]*$/i.test(value);
}

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
  new RegExp(`(?:^|[\\s"'])[A-Z0-9_]{0,60}(?:(?<!MON|TUR|DON|HOC|JOC|WHIS)KEY|PASS|PW)=["']?${presentValue}`),
  // An option in the command line of a shell.
  new RegExp(`(?:^|\\s)--?[\\w.-]{0,60}(?:${secretWord}|${secretKey})\\s{1,8}["']?(?!-)${presentValue}`, "i"),
  new RegExp(`[?&#][\\w.-]{0,40}(?:key|sig|signature|auth)=${presentValue}`, "i"),
  /\b(?:Bearer|Basic)\s{1,8}[^\s"'$<{]{8,}/i,
];

/** Whether a secret is in a text together with its name, such as JSON in a variable, or a script of a shell. */
function containsNamedSecret(text: string): boolean {
  return namedSecrets.some((pattern) => pattern.test(text));
}

/** A password in a URL, such as that of a database, or in the source name of a driver (`user:password@tcp(host)/name`). */
function hasPassword(value: string): boolean {
  const [, password] =
    /^[a-z][a-z0-9+.-]{0,40}:\/\/[^/@\s]{0,512}?:([^/@\s]{1,512})@/i.exec(value) ??
    /^[^\s:@/]{1,128}:([^\s@]{1,512})@(?:tcp|unix)\(/i.exec(value) ??
    [];
  return password !== undefined && !/^\$\{?\w+\}?$/.test(password);
}

/** Numbers of words that a recovery phrase (BIP 39) has. */
const mnemonicLengths: ReadonlySet<number> = new Set([12, 15, 18, 21, 24]);

/** Whether a text is a recovery phrase: short words in lower case, without those that sentences have and its list has not. */
function isMnemonic(value: string): boolean {
  if (value.length > 24 * 9) return false;
  const words = value.trim().split(/\s+/);
  return (
    mnemonicLengths.has(words.length) &&
    words.every(
      (word) => /^[a-z]{3,8}$/.test(word) && !/^(?:the|and|for|with|are|not|was|has|from)$/.test(word),
    )
  );
}
