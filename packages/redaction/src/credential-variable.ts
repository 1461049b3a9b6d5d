/**
 * Decides by the words of its name whether a variable holds a credential. `MONKEY_URL` and `MAX_TOKENS` do not,
 * `OPENAI_KEY`, `githubToken` and `ADMINPASSWORDPROD` do. In doubt a name is one of a credential, and what may be
 * shown is decided more strictly than what may be a literal. Pure; never sees a value.
 */

/** Longest name whose words are read; a longer one is one of a credential. */
const nameMaxLength = 256;

/** Words that name a credential wherever they are, also within words that are written together: `ADMINPASSWORDPROD`, `APIKEYV2`. */
const credentialWord = /key|token|secret|passw(?:or)?d|passphrase|passcode|credential|bearer|mnemonic/;
/** Words that contain one of these and name none, at the beginning of a word, which may go on: `KEYBOARDLAYOUT`. */
const ordinaryBeginning =
  /^(?:key(?:bind(?:ing)?|board|chain|cloak|code|frame|less|map|note|pad|press|ring|space|stone|stroke|vault|word)|tokeni[sz](?:ation|e[drs]?|ing)|secretar(?:iat|ial|ies|y)|passwordless|(?:survey|chaos|tamper|grease|violent)?monkey|turkey|donkey|hockey|(?:dis[ck])?jockey|whiskey|mickey)(?:s(?!ecret))?/;
/** Those that count as a whole only: a key of a hot wallet is a `HOTKEYPEM`. */
const ordinaryWord = /^(?:hotkey|turnkey)s?$/;
/** Words that name one only at the end of a name. `PWD` and `PASS_THROUGH` begin with one and name none. */
const shortWords: ReadonlySet<string> = new Set(["pass", "pwd", "pat", "creds", "cookie", "cookies"]);
/** Those that also end a word that is written together, as in `DBPASS`. */
const shortEnding =
  /(?<!^(?:by|com|encom|over|sur|tres|under|low|high|band|all))pass$|(?<!^(?:old|init))pwd$|creds$/;
/** Last words that say which value of several it is, and nothing else. */
const variantWords: ReadonlySet<string> = new Set(
  "v id value prod production dev development stage staging test live old new primary secondary main backup default json pem base".split(
    " ",
  ),
);
/** Last words of the name of something about a credential: where it is, or how it is made. */
const aboutWords: ReadonlySet<string> = new Set(
  "algorithm binding bindings budget bytes count dir directory duration enabled encoding endpoint expiration expiry file filename folder format header host length lifetime limit method methods mode name path port prefix provider region rotation scanning scheme size strategy timeout ttl type uri url".split(
    " ",
  ),
);
/** Endings of a word that is written together and names a path: `KEYFILE`. */
const pathEnding = /(?:file|filename|path|dir|directory|folder)$/;
/** Where a secret itself is the address, as that of a webhook is. `TOKEN_URL` is where tokens come from. */
const addressWords: ReadonlySet<string> = new Set(["uri", "url"]);
const secretAddress = /secret|passw(?:or)?d|bearer/;
/** Words beside `tokens` where these are counted, as those of a model are. */
const countWords: ReadonlySet<string> = new Set(
  "budget count input limit max maximum min minimum num number output thinking threshold".split(" "),
);
/** Those before a single `token`. */
const limitWords: ReadonlySet<string> = new Set(["max", "maximum", "min", "minimum"]);
/** The same, written together. */
const countedTogether = /^(?:max|min|num)(?:input|output|new|total|context|completion|thinking)*tokens$/;
/** Variables whose value is the path of a file, as their programs document. */
const pathVariables: ReadonlySet<string> = new Set([
  "GOOGLE_APPLICATION_CREDENTIALS",
  "GOOGLE_OAUTH_CREDENTIALS",
]);

/** Names of several words, wherever they are written: what a wallet or an account is restored from. */
const recoveryName = /(?:seed|recovery|backup|wallet)[^A-Za-z0-9]?(?:phrase|words)/i;

/** Words that hide the value of a name, wherever they are in the name. A value that is hidden needlessly does little harm. */
const hiddenName =
  /token|secret|passw(?:or)?d|passphrase|passcode|credential|bearer|cookie|mnemonic|connection_?string/i;
/** In capitals only: `auth` is a field of a configuration, whose members errors have to show. */
const hiddenVariable = /AUTH(?!OR(?!IZ))|(?:^|_)(?:PIN|T?OTP|DSN|JWT|PW|SID|SAS|WEBHOOK(?:_URL)?)$/;

/**
 * Whether an environment variable of this name holds a credential.
 *
 * @param use "literal": whether its value must not be written in the clear; "display": whether no message may show it,
 *   which is so for more names.
 */
export function isCredentialVariable(name: string, use: "literal" | "display" = "literal"): boolean {
  if (name.length > nameMaxLength) return true;
  const words = wordsOf(name);
  const isHidden =
    hiddenName.test(name) ||
    hiddenVariable.test(name) ||
    recoveryName.test(name) ||
    words.some(isCredentialWord);
  if (use === "display" && isHidden) return true;
  if (pathVariables.has(name)) return false;
  if (recoveryName.test(name) && !aboutWords.has(words.at(-1) ?? "")) return true;
  const last = words.at(-1) ?? "";
  const isAddress = addressWords.has(last) && words.some((word) => secretAddress.test(word));
  if ((aboutWords.has(last) && !isAddress) || isPathWord(last)) return false;
  const isCounted = words.some((word) => countWords.has(word));
  const end = words.findLastIndex((word) => !variantWords.has(word));
  return words.some((word, at) => {
    if ((word === "tokens" && isCounted) || countedTogether.test(word)) return false;
    // `MAX_TOKEN` is counted, `INPUT_TOKEN` is a token.
    if (word === "token" && at > 0 && limitWords.has(words[at - 1] ?? "")) return false;
    if (isCredentialWord(word)) return true;
    if (at !== end) return false;
    return shortWords.has(word) ? at > 0 || word === "pass" : shortEnding.test(word);
  });
}

/**
 * The names of arguments of calls. Fewer than those of variables: a person who reads a call has to see what it does,
 * and many tools have a `key` that is none.
 */
const argumentName =
  /passw(?:or)?d|passphrase|passcode|(?:^|[-_.])pass$|pwd|secret|token|api[-_.]?key|access[-_.]?key|private[-_.]?key|credential|auth$|authorization|bearer|cookie|session[-_.]?id|(?:^|[-_.])t?(?:otp|pin)$|signature|mnemonic|connection[-_.]?string|(?:^|[-_.])dsn$/i;

/** Whether an argument of a call has the name of a credential. */
export function isCredentialArgument(name: string): boolean {
  return argumentName.test(name) || recoveryName.test(name);
}

/** Whether a word contains the name of a credential, and is no ordinary word that only contains its letters. */
function isCredentialWord(word: string): boolean {
  return !ordinaryWord.test(word) && credentialWord.test(word.replace(ordinaryBeginning, ""));
}

/** Whether the name of a credential and that of a path are written together. */
function isPathWord(word: string): boolean {
  return pathEnding.test(word) && isCredentialWord(word);
}

/** Returns the last word of a name in lower case; empty without one. */
export function lastWordOf(name: string): string {
  return name.length > nameMaxLength ? "" : (wordsOf(name).at(-1) ?? "");
}

/** Returns the words of a name in lower case: between separators and digits, and at capitals within a word. */
function wordsOf(name: string): readonly string[] {
  return name
    .replace(/([Pp])ass[^A-Za-z]?Word/g, "$1assword")
    .replace(/(pass)[^A-Za-z](word)/gi, "$1$2")
    .split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}
