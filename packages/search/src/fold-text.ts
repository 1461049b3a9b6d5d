/**
 * Unicode folding: different spellings of the same letters become equal, so that
 * `Café`, `Ｃａｆｅ` and `cafe` match.
 *
 * Compatibility forms are decomposed (NFKD), the diacritics of alphabetic
 * scripts removed, and the result is composed again (NFC); without that last
 * step Hangul syllables would stay decomposed. Marks that are letters (Indic
 * vowels, Thai tone marks, Japanese voicing) are kept. Case is kept too, because
 * words are split at case changes; `foldWord` removes it.
 *
 * ASCII text, the common case, is returned unchanged.
 */

/** Diacritics (U+0300 to U+036F and later blocks), variation selectors, and invisible characters. */
const dropped =
  /[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]|\u00ad|\u200c|\u200d|\u2060|\ufeff/g;

const nonAscii = /[^\x00-\x7f]/;

/** Letters without a decomposition, in lower case. */
const spelledOut: { readonly [letter: string]: string } = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  đ: "d",
  ð: "d",
  ħ: "h",
  ı: "i",
  ł: "l",
  ŋ: "n",
  ŧ: "t",
  þ: "th",
  ς: "σ",
  "’": "'",
};
const spelledOutLetters = /[ßæœøđðħıłŋŧþς’]/g;

/** Returns `text` without diacritics and compatibility forms, in its case. */
export function foldText(text: string): string {
  return nonAscii.test(text) ? text.normalize("NFKD").replace(dropped, "").normalize("NFC") : text;
}

/** Returns the final form of one word of a folded text: lower case, without special letters. */
export function foldWord(word: string): string {
  const lower = word.toLowerCase();
  return nonAscii.test(lower) ? lower.replace(spelledOutLetters, (letter) => spelledOut[letter]!) : lower;
}
