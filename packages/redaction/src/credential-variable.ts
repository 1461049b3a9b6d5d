/**
 * Decides by the words of its name whether a variable holds a credential. `MONKEY_URL` and `MAX_TOKENS` do not,
 * `OPENAI_KEY` and `githubToken` do. In doubt a name is one of a credential. Pure; never sees a value.
 */

/** Longest name whose words are read; a longer one is one of a credential. */
const nameMaxLength = 256;

/**
 * Words that name a credential, also at the end of a word that is written together, such as `PGPASSWORD` or `APIKEY`.
 * A number or a word about the same value can follow: `AWS_ACCESSKEYID`.
 */
const credentialWord =
  /(?:keys?|tokens?|secrets?|passwords?|passwd|passphrases?|passcodes?|credentials?)(?:id|value)?$/;
/** Words that name one only as words of their own. `PWD` and `PASS_THROUGH` begin with one and name none. */
const shortWords: ReadonlySet<string> = new Set(["pass", "pwd", "pat", "creds", "cookie", "cookies"]);
/** Other words that end in `key`. */
const ordinaryWord =
  /^(?:survey|chaos|tamper|grease|violent)?monkeys?$|^(?:turkey|donkey|hockey|jockey|disk?jockey|whiskey|mickey|hotkey|turnkey)s?$/;
/** Last words of the name of something about a credential: where it is, or how it is made. */
const aboutWords: ReadonlySet<string> = new Set(
  "algorithm bytes count dir directory duration enabled encoding endpoint expiration expiry file filename folder format header host length lifetime limit name path port prefix region size timeout ttl type uri url".split(
    " ",
  ),
);
/** Words beside `tokens` where these are counted, as those of a model are. */
const countWords: ReadonlySet<string> = new Set(
  "budget count input limit max maximum min minimum num number output thinking threshold".split(" "),
);
/** Variables whose value is the path of a file, as their programs document. */
const pathVariables: ReadonlySet<string> = new Set([
  "GOOGLE_APPLICATION_CREDENTIALS",
  "GOOGLE_OAUTH_CREDENTIALS",
]);

/** Whether an environment variable of this name holds a credential. */
export function isCredentialVariable(name: string): boolean {
  if (name.length > nameMaxLength) return true;
  if (pathVariables.has(name)) return false;
  const words = wordsOf(name);
  const last = words.at(-1) ?? "";
  if (aboutWords.has(last)) return false;
  const isCounted = words.some((word) => countWords.has(word));
  return words.some((word, at) => {
    if (word === "tokens" && isCounted) return false;
    if (shortWords.has(word)) return at === words.length - 1 && (at > 0 || word === "pass");
    return credentialWord.test(word) && !ordinaryWord.test(word);
  });
}

/** Returns the words of a name in lower case: between separators and digits, and at capitals within a word. */
function wordsOf(name: string): readonly string[] {
  return name
    .split(/[^A-Za-z]+|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/)
    .filter((word) => word !== "")
    .map((word) => word.toLowerCase());
}
