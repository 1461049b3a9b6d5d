/** Spellings of names that people or models could confuse. */

/** Names that people or models could take for `name`, which has a separator. */
export function* confusableWith(name: string): Generator<string> {
  const [first = "", second = ""] = name.split("_");
  for (const separator of ["-", ".", "/", ":", "__", "_-", "._"]) yield `${first}${separator}${second}`;
  for (const [at, letter] of [...name].entries()) {
    const withLetter = (other: string) => name.slice(0, at) + other + name.slice(at + 1);
    if (letter !== letter.toUpperCase()) yield withLetter(letter.toUpperCase());
    for (const lookalike of lookalikes[letter] ?? []) yield withLetter(lookalike);
    // Full width, an accent, a joiner, and a space that takes no space.
    if (/[a-z]/.test(letter)) yield withLetter(String.fromCodePoint(0xff41 + letter.charCodeAt(0) - 97));
    if (/[a-z]/.test(letter)) yield `${name.slice(0, at + 1)}\u0301${name.slice(at + 1)}`;
    yield `${name.slice(0, at + 1)}\u200d${name.slice(at + 1)}`;
    yield `${name.slice(0, at + 1)}\u200b${name.slice(at + 1)}`;
  }
}

/** Letters of other scripts that look like a Latin letter. */
const lookalikes: { readonly [letter: string]: readonly string[] } = {
  a: ["\u0430", "\u03b1"],
  c: ["\u0441"],
  e: ["\u0435"],
  i: ["\u0456", "\u03b9"],
  o: ["\u043e", "\u03bf"],
  p: ["\u0440", "\u03c1"],
  s: ["\u0455"],
  x: ["\u0445"],
  y: ["\u0443"],
};

/** Names with a separator. */
export const namesToConfuse = [
  "read_file",
  "send_email",
  "get_issue",
  "list_repos",
  "copy_box",
  "create_ticket",
];

/** At least 300 spellings of `namesToConfuse`. */
export const confusableNames: readonly string[] = [
  ...new Set(namesToConfuse.flatMap((name) => [...confusableWith(name)])),
];
