/**
 * Removes from untrusted text what a person does not see and a model, a terminal or an
 * editor interprets: control characters and terminal sequences, bidirectional controls,
 * and every character without a visible form (zero width, tags, fillers, private use,
 * halves of surrogate pairs).
 *
 * Joiners and variation selectors stay where a script or an emoji needs them, one at a
 * place: after an emoji, between two emoji, at the virama of an Indic script, after an
 * Arabic, Syriac, N'Ko or Mongolian letter. Of the flags that are written with tags only
 * the three that Unicode recommends stay. Selectors of ideographs are removed: one of 240
 * after each ideograph would be a byte. So what is left can hide less than three bits for
 * each such letter or emoji that a person sees, and nothing in other text. Unusual spaces
 * become ordinary ones, except for a single one before something visible. The number of
 * ordinary spaces and the choice of visible words can carry data, as in any text.
 *
 * It finds no instructions: visible text passes unchanged.
 */

/** Everything that can need a change, and more: texts in ASCII without controls are done after this. */
const unusual = /[^\t\n\r\u0020-\u007e]/;
/** Control sequences (ECMA-48, 5.4) and operating system commands of terminals. */
const terminalSequences =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)/g;
const lineSeparators = /[\u2028\u2029]/g;

/** Joiners and variation selectors that can be needed. */
const joiner = String.raw`[\u200c\u200d\ufe0e\ufe0f\u180b-\u180d\u180f]`;
/** Format characters of Arabic, Syriac and Kaithi that are visible: signs around numbers, and the like. */
const visibleFormat = String.raw`[\u0600-\u0605\u06dd\u070f\u0890\u0891\u08e2\u{110bd}\u{110cd}]`;
/** Characters without a form of their own that no property of Unicode names: controls of hieroglyphs, a selector, a filler, an empty note head, the place of an object. */
const formless = String.raw`[\u{13430}-\u{1345f}\u{1bc9d}\u{16fe4}\u{1d159}\ufffc]`;
const hidden = String.raw`[[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}${formless}]--[\t\n\r${joiner}${visibleFormat}]]`;
/** England, Scotland, Wales: a black flag, and letters as tags. */
const taggedFlag = String.raw`\u{1f3f4}\u{e0067}\u{e0062}(?:\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}`;
const hiddenCharacters = new RegExp(`(${taggedFlag})|${hidden}`, "gv");

/** Viramas of the scripts in which a joiner next to one selects a form. */
const virama = String.raw`[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b\u0d3c\u0d4d\u0dca]`;
const joinedScripts = String.raw`[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}]`;
/** Each begins with the character that stays, so that a search finds it by that character. */
const neededJoiners = [
  String.raw`[\ufe0e\ufe0f](?<=\p{Extended_Pictographic}.)`,
  String.raw`\ufe0f(?<=[0-9#*].)(?=\u20e3)`,
  String.raw`\u200d(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]\ufe0f?.)(?=\p{Extended_Pictographic})`,
  String.raw`[\u200c\u200d](?<=${virama}.)`,
  String.raw`\u200d(?<=\p{L}.)(?=${virama})`,
  String.raw`\u200c(?<=${joinedScripts}\p{Mn}{0,2}.)`,
  String.raw`[\u180b-\u180d\u180f](?<=[\u1820-\u1878\u1880-\u18aa].)`,
];
const joiners = new RegExp(`(${neededJoiners.join("|")})|${joiner}`, "gv");

/** Spaces that stay where there is one, followed by something visible. */
const typographicSpace = String.raw`[\u00a0\u2009\u202f\u3000]`;
const otherSpace = String.raw`[\u1680\u2000-\u2008\u200a\u205f\u2800]`;
const spaces = new RegExp(
  String.raw`${otherSpace}|${typographicSpace}(?:(?=\s|\u2800|$)|(?<=[[\s\u2800]--[\r\n]].))`,
  "gv",
);
/** Whether anything is left to do after one pass: most texts with letters outside ASCII are done after this. */
const questionable = new RegExp(
  `${hidden}|${joiner}|${typographicSpace}|${otherSpace}|[\\u2028\\u2029]`,
  "v",
);

/**
 * Returns `text` without hidden characters. Line and paragraph separators become line feeds. Takes linear time, and
 * does not change a text that it has returned.
 */
export function stripHidden(text: string): string {
  if (!unusual.test(text) || !questionable.test(text)) return text;
  return text
    .replace(terminalSequences, "")
    .replace(lineSeparators, "\n")
    .replace(hiddenCharacters, "$1")
    .replace(joiners, "$1")
    .replace(spaces, " ");
}
