/**
 * Stems English words (`issues`, `issue` → `issu`), so that inflected forms share
 * a term.
 *
 * The algorithm is Porter2, "The English (Porter2) stemming algorithm" of the
 * Snowball project as of version 3 (M. F. Porter, R. Boulton and others):
 * https://snowballstem.org/algorithms/english/stemmer.html. Written from its
 * description; step names below are the ones used there.
 *
 * Regions: R1 is the text after the first non-vowel after a vowel, R2 the same
 * within R1. Suffix rules use only the longest matching suffix of their list, and
 * most apply only to a suffix in R1 or R2.
 *
 * The stemmer ignores context, language and case: the caller passes one
 * lower-case word and decides whether stemming it is useful.
 */

/** Exceptions: words that keep their form, or have a stem that does not follow the rules. */
const irregular: ReadonlyMap<string, string> = new Map([
  ["skis", "ski"],
  ["skies", "sky"],
  ["idly", "idl"],
  ["gently", "gentl"],
  ["ugly", "ugli"],
  ["early", "earli"],
  ["only", "onli"],
  ["singly", "singl"],
  ["sky", "sky"],
  ["news", "news"],
  ["howe", "howe"],
  ["atlas", "atlas"],
  ["cosmos", "cosmos"],
  ["bias", "bias"],
  ["andes", "andes"],
]);

/** Prefixes after which R1 starts, independent of their vowels. */
const regionOnePrefixes = [
  "gener",
  "commun",
  "arsen",
  "past",
  "univers",
  "later",
  "emerg",
  "organ",
  "inter",
] as const;

type Rule = readonly [suffix: string, replacement: string];

/** Step 2, longest first; `ogi` and `li` have additional conditions. */
const stepTwoRules: readonly Rule[] = [
  ["ational", "ate"],
  ["fulness", "ful"],
  ["iveness", "ive"],
  ["ization", "ize"],
  ["ousness", "ous"],
  ["biliti", "ble"],
  ["lessli", "less"],
  ["tional", "tion"],
  ["alism", "al"],
  ["aliti", "al"],
  ["ation", "ate"],
  ["entli", "ent"],
  ["fulli", "ful"],
  ["iviti", "ive"],
  ["ogist", "og"],
  ["ousli", "ous"],
  ["abli", "able"],
  ["alli", "al"],
  ["anci", "ance"],
  ["ator", "ate"],
  ["enci", "ence"],
  ["izer", "ize"],
  ["bli", "ble"],
  ["ogi", "og"],
  ["li", ""],
];

/** Step 3, longest first; `ative` needs R2. */
const stepThreeRules: readonly Rule[] = [
  ["ational", "ate"],
  ["tional", "tion"],
  ["alize", "al"],
  ["ative", ""],
  ["icate", "ic"],
  ["iciti", "ic"],
  ["ical", "ic"],
  ["ness", ""],
  ["ful", ""],
];

/** Step 4, longest first; all need R2, `ion` also an `s` or `t` before it. */
const stepFourSuffixes = [
  "ement",
  "able",
  "ance",
  "ence",
  "ible",
  "ment",
  "ant",
  "ate",
  "ent",
  "ion",
  "ism",
  "iti",
  "ive",
  "ize",
  "ous",
  "al",
  "er",
  "ic",
] as const;

/** Words in `ing` that are not participles: inning, outing, canning, … */
const ingNouns: ReadonlySet<string> = new Set(["inn", "out", "cann", "herr", "earr", "even"]);
const eedVerbs: ReadonlySet<string> = new Set(["proc", "exc", "succ"]);

/**
 * Returns the Porter2 stem of `word`.
 *
 * @param word lower case; the rules apply to the letters `a`–`z` and apostrophes.
 * @returns the stem; a word of fewer than three characters is returned unchanged.
 */
export function stemEnglish(word: string): string {
  const known = irregular.get(word);
  if (known !== undefined) return known;
  if (word.length < 3) return word;
  let stem = markConsonantY(word.startsWith("'") ? word.slice(1) : word);
  const regionOne = regionOneOf(stem);
  const regionTwo = afterVowelAndConsonant(stem, regionOne);
  stem = dropPlural(dropPossessive(stem));
  stem = dropPastAndParticiple(stem, regionOne);
  stem = turnFinalY(stem);
  stem = applyStepTwo(stem, regionOne);
  stem = applyStepThree(stem, regionOne, regionTwo);
  stem = applyStepFour(stem, regionTwo);
  stem = applyStepFive(stem, regionOne, regionTwo);
  return stem.replaceAll("Y", "y");
}

/** Marks `y` at the beginning or after a vowel, a consonant, as `Y` until the last step. */
function markConsonantY(word: string): string {
  if (!word.includes("y")) return word;
  let marked = "";
  for (let index = 0; index < word.length; index += 1) {
    const isConsonant = word[index] === "y" && (index === 0 || isVowel(marked, index - 1));
    marked += isConsonant ? "Y" : word[index];
  }
  return marked;
}

function regionOneOf(word: string): number {
  const prefix = regionOnePrefixes.find((candidate) => word.startsWith(candidate));
  return prefix === undefined ? afterVowelAndConsonant(word, 0) : prefix.length;
}

/** Returns the index after the first non-vowel after the first vowel from `start`; the length of the word without one. */
function afterVowelAndConsonant(word: string, start: number): number {
  let index = start;
  while (index < word.length && !isVowel(word, index)) index += 1;
  while (index < word.length && isVowel(word, index)) index += 1;
  return Math.min(index + 1, word.length);
}

/** The first half of step 1a: `'`, `'s`, `'s'`. */
function dropPossessive(word: string): string {
  if (word.endsWith("'s'")) return word.slice(0, -3);
  if (word.endsWith("'s")) return word.slice(0, -2);
  return word.endsWith("'") ? word.slice(0, -1) : word;
}

/** The second half of step 1a: plurals and third persons. */
function dropPlural(word: string): string {
  if (word.endsWith("sses")) return word.slice(0, -2);
  if (word.endsWith("ied") || word.endsWith("ies")) return word.slice(0, word.length > 4 ? -2 : -1);
  if (!word.endsWith("s") || word.endsWith("us") || word.endsWith("ss")) return word;
  // The vowel must precede the letter before the "s": gaps → gap, but gas stays.
  return hasVowel(word, word.length - 2) ? word.slice(0, -1) : word;
}

/** Step 1b: `eed`, `ed`, `ing` and their adverbs. */
function dropPastAndParticiple(word: string, regionOne: number): string {
  const eed = longestSuffix(word, ["eedly", "eed"]);
  if (eed !== undefined) {
    const base = word.slice(0, -eed.length);
    return base.length < regionOne || eedVerbs.has(base) ? word : `${base}ee`;
  }
  const suffix = longestSuffix(word, ["ingly", "edly", "ing", "ed"]);
  if (suffix === undefined) return word;
  const base = word.slice(0, -suffix.length);
  if (suffix === "ing") {
    if (base.length === 2 && base[1] === "y" && !isVowel(base, 0)) return `${base[0]}ie`;
    if (ingNouns.has(base)) return word;
  }
  return hasVowel(base, base.length) ? repairEnding(base, regionOne) : word;
}

/** Repairs a verb after the removal of `ed` or `ing`: hoping → hope, hopping → hop. */
function repairEnding(base: string, regionOne: number): string {
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`;
  if (/(?:bb|dd|ff|gg|mm|nn|pp|rr|tt)$/.test(base)) {
    return base.length === 3 && /^[aeo]/.test(base) ? base : base.slice(0, -1);
  }
  return base.length === regionOne && endsInShortSyllable(base, base.length) ? `${base}e` : base;
}

/** Step 1c: a final `y` after a consonant becomes `i`, except in words like "by". */
function turnFinalY(word: string): string {
  if (!/[yY]$/.test(word) || word.length < 3 || isVowel(word, word.length - 2)) return word;
  return `${word.slice(0, -1)}i`;
}

function applyStepTwo(word: string, regionOne: number): string {
  const rule = stepTwoRules.find(([suffix]) => word.endsWith(suffix));
  if (rule === undefined) return word;
  const base = word.slice(0, -rule[0].length);
  if (base.length < regionOne) return word;
  if (rule[0] === "ogi" && !base.endsWith("l")) return word;
  if (rule[0] === "li" && !/[cdeghkmnrt]$/.test(base)) return word;
  return base + rule[1];
}

function applyStepThree(word: string, regionOne: number, regionTwo: number): string {
  const rule = stepThreeRules.find(([suffix]) => word.endsWith(suffix));
  if (rule === undefined) return word;
  const base = word.slice(0, -rule[0].length);
  return base.length < (rule[0] === "ative" ? Math.max(regionOne, regionTwo) : regionOne)
    ? word
    : base + rule[1];
}

function applyStepFour(word: string, regionTwo: number): string {
  const suffix = longestSuffix(word, stepFourSuffixes);
  if (suffix === undefined) return word;
  const base = word.slice(0, -suffix.length);
  if (base.length < regionTwo || (suffix === "ion" && !/[st]$/.test(base))) return word;
  return base;
}

/** Step 5: a final `e`, and the second `l` of `ll`. */
function applyStepFive(word: string, regionOne: number, regionTwo: number): string {
  const end = word.length - 1;
  if (word.endsWith("e")) {
    const goes = end >= regionTwo || (end >= regionOne && !endsInShortSyllable(word, end));
    return goes ? word.slice(0, -1) : word;
  }
  return end >= regionTwo && word.endsWith("ll") ? word.slice(0, -1) : word;
}

/** Whether `word` up to `end` ends in a short syllable: `hop`, `ow` at the beginning, or `past`. */
function endsInShortSyllable(word: string, end: number): boolean {
  if (end >= 4 && word.slice(end - 4, end) === "past") return true;
  if (end < 2 || isVowel(word, end - 1) || !isVowel(word, end - 2)) return false;
  return end === 2 || (!/[wxY]/.test(word[end - 1]!) && !isVowel(word, end - 3));
}

function hasVowel(word: string, end: number): boolean {
  for (let index = 0; index < end; index += 1) {
    if (isVowel(word, index)) return true;
  }
  return false;
}

function isVowel(word: string, index: number): boolean {
  return "aeiouy".includes(word[index]!);
}

function longestSuffix(word: string, longestFirst: readonly string[]): string | undefined {
  return longestFirst.find((suffix) => word.endsWith(suffix));
}
