/**
 * Unicode folding: spellings of the same letters become the same letters, so
 * that `Café`, `Ｃａｆｅ` and `cafe` meet.
 *
 * Compatibility forms are decomposed (NFKD), the diacritics of alphabetic
 * scripts dropped, and what is left composed again (NFC): without that last
 * step Hangul syllables would stay taken apart. Marks that are letters in their
 * own right (Indic vowels, Thai tone marks, Japanese voicing) are kept. Case is
 * kept too, because words are split at case changes; `foldWord` drops it.
 *
 * Text in ASCII only is returned as it is: this is the common case.
 */

/** Diacritics (U+0300 to U+036F and the later blocks of them), variation selectors, and characters that show nothing. */
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

/** `text` without diacritics and compatibility forms, case kept. */
export function foldText(text: string): string {
  return nonAscii.test(text) ? text.normalize("NFKD").replace(dropped, "").normalize("NFC") : text;
}

/** One word of a folded text in its final form: lower case, without special letters. */
export function foldWord(word: string): string {
  const lower = word.toLowerCase();
  return nonAscii.test(lower) ? lower.replace(spelledOutLetters, (letter) => spelledOut[letter]!) : lower;
}
