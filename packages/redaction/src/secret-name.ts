/**
 * Decides by the name of a setting and by what its value can be whether it is a secret. A name says it of most values,
 * and of none that only switches something, names a column, or is meant to be public. Pure.
 */

import { isCredentialHeader } from "./credential-header.ts";
import { isCredentialVariable } from "./credential-variable.ts";
import { hasHighEntropy } from "./random-text.ts";

/** Longest name that is read. */
const nameMaxLength = 256;

/** Whether a value is the path of a file. */
export function isPath(value: string): boolean {
  return /^(?:\.{0,2}|~|[A-Za-z]:)[\\/]/.test(value);
}

/** Values that switch something, under any name. */
const switchValue =
  /^\s*(?:true|false|yes|no|on|off|none|null|enabled?|disabled?|required|optional|always|never)\s*$/i;
/** Those of settings whose names do not say by themselves that they are secrets. */
const settingValue =
  /^(?:true|false|yes|no|on|off|none|null|auto|default|enabled?|disabled?|required|optional|basic|bearer|digest|ntlm|oauth2?|oidc|jwt|token|header|query|\d)$/i;

/** Names of keys that everybody may have. */
const publicName =
  /(?:public|publishable|verification|verify)[^A-Za-z0-9]?keys?(?:[^A-Za-z0-9]?(?:pem|jwk|jwks|base64|b64|\d))?$/i;
/** Names of keys of a table: a column is their value. */
const columnName =
  /(?:^|[^A-Za-z])(?:sort|primary|partition|foreign|range|row|group|grouping|order|join|index|unique|composite|natural|surrogate|shard|distribution|cluster(?:ing)?)[^A-Za-z0-9]?keys?$|^(?:sort|primary|partition|foreign)Keys?$/i;
/** Names of keys of something that is looked up or pressed: words are their values. */
const wordKeyName =
  /^keys?$|(?:^|[^A-Za-z])(?:hash|lookup|map|object|cache|config|setting|translation|message|query|column|field|record|item|label|tag|json|metadata|property|attribute|modifier|shortcut|arrow|leader|dedup(?:lication)?|idempotency)[^A-Za-z0-9]?keys?$/i;

/** Whether a key of this name is no secret. */
export function isPublicName(name: string): boolean {
  return name.length <= nameMaxLength && publicName.test(name);
}

/** Whether a value consists of a few words, as names of fields and of keys of a keyboard do. */
function isWords(value: string): boolean {
  if (value.length > 60) return false;
  const parts = value.trim().split(/[_.:+-]|\s*,\s*|(?<=[a-z])(?=[A-Z])/);
  return parts.length <= 6 && parts.every((part) => /^(?:[A-Za-z]?[a-z]{0,19}|[A-Z]{1,12})$/.test(part));
}

/** Whether a name that is one of a credential has a value that none can have. */
function isHarmless(name: string, value: string): boolean {
  if (switchValue.test(value)) return true;
  if (name.length > nameMaxLength) return false;
  if (publicName.test(name)) return true;
  if (columnName.test(name)) return /^[\w/][\w.:/, -]{0,60}$/.test(value) && !hasHighEntropy(value);
  return wordKeyName.test(name) && isWords(value);
}

/** Names of variables that hold a password or a session, whatever their value is that switches nothing. */
const passwordName =
  /(?:passwd|passphrase)$|(?:^|[_.-])(?:pass|pwd|cookie|bearer|pw|pat|jwt|totp|mfa|sas)$|(?:^|[_-])session[_-]?(?:id|string|data)$|(?:^|[_-])(?:session|connect|login|auth|php|j)[_-]?sess(?:ion)?(?:[_-]?id)?$/i;
/** Names of a login, or of the method of one: `SMTP_AUTH` is `user:password`, or `LOGIN`. */
const authName = /(?:^|[_-])auth$/i;
/** Names of methods: words, and numbers between separators. */
const methodValue = /^[A-Za-z][A-Za-z]{0,19}(?:[-_+. ](?:[A-Za-z]{1,20}\d?|\d{1,4})){0,5}$/;
/** Pins of a chip or a connector. */
const hardwarePin =
  /(?:^|[_-])(?:led|gpio|io|chip|board|sensor|button|btn|relay|motor|servo|buzzer|reset|rst|irq|interrupt|clk|clock|data|sda|scl|miso|mosi|sck|cs|ce|dc|tx|rx|adc|dac|pwm|i2c|spi|uart|output|input|power|trigger|echo)[_-]?pin$/i;
/** Codes that a person types; a number of one to three digits is a pin of a chip or a counter. */
const codeName = /(?:^|[_-])(?:otp|pin|pin[_-]?code|(?:mfa|2fa|otp|backup|recovery)[_-]?codes?)$/i;
/** A session, where no word says of what it is the identifier. */
const sessionName = /^(?:sid|(?:session|connect|auth|login|user|cookie)[_-]sid)$/i;
/** Where a program connects to: a secret where it contains more than a name or an address. */
const connectionName = /(?:^|[_-])(?:dsn|conn(?:ection)?[_-]?str(?:ing)?s?)$/i;
/** Words from which wallets are restored. The seed of a random generator is a number. */
const seedName = /(?:^|[_-])seed$/i;
/** Names of logins: their value is a secret where it has a password, too. */
const loginName = /(?:^|[_.-])(?:login|basic|basic[_-]?auth|user[_-]?pass|userpwd)$/i;
/** The same, where a user and a group are written, too. */
const userName = /(?:^|[_.-])(?:user|user[_-]?name|account)$/i;
/** Headers that prove who sends a request. */
const proofHeader = /(?:^|[_-])(?:access|signature|sig|hmac|session|session[_-]?id|ticket)$/i;

/** Whether a setting is a secret by its name; undefined where its value alone can tell. */
export function nameVerdict(
  role: "variable" | "header",
  name: string,
  value: string,
): "certain" | "likely" | undefined {
  const isNamed = role === "header" ? isCredentialHeader(name) : isCredentialVariable(name);
  if (isNamed) return isHarmless(name, value) ? undefined : "certain";
  if (role === "header" && authName.test(name.trim())) return settingValue.test(value) ? undefined : "likely";
  if (role === "header" && name.length <= nameMaxLength && proofHeader.test(name.trim()))
    return isHarmlessProof(value) ? undefined : "likely";
  return isNamedSecret(name, value) ? "likely" : undefined;
}

/** Whether the value of a header for a proof only says which one it is. */
function isHarmlessProof(value: string): boolean {
  return settingValue.test(value) || isWords(value) || /^(?:v?\d{1,3}|(?:hmac-)?sha-?\d{1,3})$/i.test(value);
}

/** Whether a name that shorter secrets have has a value that can be one. */
function isNamedSecret(name: string, value: string): boolean {
  if (name.length > 128 || settingValue.test(value) || isPath(value)) return false;
  // The session of a number is counted, and no secret.
  if (passwordName.test(name)) return !(/id$/i.test(name) && /^\d{1,8}$/.test(value));
  if (authName.test(name)) return !methodValue.test(value);
  if (codeName.test(name)) return !/^\d{1,3}$/.test(value) && !hardwarePin.test(name);
  if (sessionName.test(name)) return !/^\d{1,8}$/.test(value);
  if (seedName.test(name)) return value.length >= 16 && !/^\d+$/.test(value);
  const password = passwordOfLogin(value);
  if (password !== "" && (loginName.test(name) || (userName.test(name) && !isWords(password)))) return true;
  return connectionName.test(name) && !isPlainConnection(value);
}

/** Returns the password after a user, as in `bob:hunter2`; empty without one. A number is a port or a group. */
function passwordOfLogin(value: string): string {
  const [, password = ""] = /^[^:\s/]{1,200}:([^:\s/][^:\s]{0,200})$/.exec(value) ?? [];
  return /^\d+$/.test(password) ? "" : password;
}

/** The name of a source, the path of a file, or an address to which no user and no parameter belongs. */
function isPlainConnection(value: string): boolean {
  if (/^[\w.-]{1,64}$/.test(value)) return !hasHighEntropy(value);
  return /^(?:sqlite|file|duckdb):/i.test(value) || /^[a-z][a-z0-9+.-]*:\/\/[^@?#;]*$/i.test(value);
}

/** Names of parameters of URLs that are secrets, besides those that variables have. */
const secretParameter =
  /^(?:pass|pw|pwd|jwt|pat|otp|pin|auth|sig|signature|hmac|sas|sid|session(?:[_-]?id)?|(?:j|php)sess(?:ion)?[_-]?id|ticket|credentials?|(?:client[_-]?)?assertion|samlresponse|(?:x[_-])?auth(?:[_-].*)?)$|[_-](?:sig|signature|auth|jwt)$/i;

/** Whether a parameter of a URL is a secret by its name. */
export function isSecretParameter(name: string, value: string): boolean {
  if (value === "" || /^[$<{]/.test(value) || name.length > nameMaxLength || settingValue.test(value))
    return false;
  if (isCredentialVariable(name)) return !isHarmless(name, value);
  // A code is a key in some services, and the code of a country or a language in others.
  if (/^code$/i.test(name)) return value.length >= 6 && !isWords(value) && !/^\d+$/.test(value);
  return secretParameter.test(name);
}
