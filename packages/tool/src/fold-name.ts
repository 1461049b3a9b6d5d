/**
 * Folding of names, which finds names that people or models could confuse. The
 * result is not a name: nothing is stored or shown under it.
 */

/** Folds case, separators, width, accents and lookalike letters. Names with equal results collide. */
export function foldName(name: string): string {
  let folded = "";
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  for (const character of plain.replace(/[\p{Cf}\p{Z}]+/gu, "").replace(/[_.\-/:]+/g, "-")) {
    folded += lookalikes.get(character) ?? character;
  }
  return folded;
}

/** Letters of other scripts, and digits, that look like a Latin letter (a selection from Unicode TS 39). */
const lookalikes = new Map(
  Object.entries({
    а: "a",
    в: "b",
    с: "c",
    ԁ: "d",
    е: "e",
    ё: "e",
    һ: "h",
    і: "i",
    ї: "i",
    ј: "j",
    к: "k",
    ӏ: "l",
    м: "m",
    н: "h",
    о: "o",
    р: "p",
    ѕ: "s",
    т: "t",
    у: "y",
    ԝ: "w",
    х: "x",
    г: "r",
    α: "a",
    β: "b",
    ε: "e",
    η: "n",
    ι: "i",
    κ: "k",
    ν: "v",
    ο: "o",
    ρ: "p",
    τ: "t",
    υ: "u",
    χ: "x",
    ω: "w",
    ı: "i",
    ł: "l",
    ø: "o",
    ß: "b",
    "0": "o",
    "1": "l",
    "|": "l",
  }),
);
