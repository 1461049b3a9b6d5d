/**
 * Finds arguments of commands that are credentials by the name of their option:
 * `--api-key=VALUE`, `--token VALUE`. Other users of the machine can read the
 * arguments of a process.
 */

/** Options whose last word names a credential. `--token-file` and `--max-tokens` are none. */
const credentialOption =
  /^--?(?:[A-Za-z0-9]+[-_.])*(?:(?:api|access|secret|auth|private)[-_]?key|token|secret|password|passwd|passphrase|credentials?)$/i;

/** Those that limit a number of tokens: `--max-token 4096`. */
const countOption = /^--?(?:[A-Za-z0-9]+[-_.])*(?:max|min|maximum|minimum|limit|num)[-_.]/i;

/** Values that only say where the credential is. */
const reference = /^(?:\$|env:|file:|keychain:|op:\/\/|~?\.{0,2}[\\/]|[A-Za-z]:\\)/;

/**
 * Returns the positions of arguments that contain a credential by the name of their option.
 *
 * @param texts the arguments; `undefined` for one that is no text.
 */
export function credentialArguments(texts: readonly (string | undefined)[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (const [index, text] of texts.entries()) {
    if (text === undefined) continue;
    const equals = text.indexOf("=");
    const option = equals === -1 ? text : text.slice(0, equals);
    if (option.length > 100 || !credentialOption.test(option)) continue;
    const [at, value] = equals === -1 ? [index + 1, texts[index + 1]] : [index, text.slice(equals + 1)];
    if (value === undefined || value === "" || reference.test(value)) continue;
    if (equals === -1 && value.startsWith("-")) continue;
    if (countOption.test(option) && /^\d{1,9}$/.test(value)) continue;
    found.add(at);
  }
  return found;
}
