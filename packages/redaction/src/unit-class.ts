/**
 * Classes of units. A prefilter does not tell units of one class apart: letters
 * of either case, the characters of both base64 alphabets, and the separators
 * between hexadecimal digits. All units above 127 are one class.
 */

/** Number of bits that tell classes apart. */
export const classBits = 6;
/** Only the classes that a prefilter handles apart have this bit: `breakClass` and `highClass`. */
export const specialBit = 2 ** classBits;
/** The class of line breaks and tabs, which can stand between the characters of wrapped base64. */
export const breakClass = specialBit | 62;
/** The class of all units above 127. */
export const highClass = specialBit | 63;

/** Characters of the same class, by class. All other ASCII units share one class. */
const groups: readonly string[] = [
  ...Array.from("abcdefghijklmnopqrstuvwxyz", (letter) => letter + letter.toUpperCase()),
  ..."0123456789",
  // A space can be "+", base64 for URLs has "-" for "+", and hexadecimal has each of these as a separator.
  " +-:,",
  "/_",
  "%",
  "\\",
  "&",
  "\0",
  ".",
  "=",
  '"',
  "'`",
  "#",
  "$",
  "@",
  ";",
  "!?",
  "()",
  "[]",
  "{}",
  "<>",
  "*^~|",
];

const otherClass = groups.length;
/** The class of each unit. */
export const classOf: Uint8Array = createClasses();

function createClasses(): Uint8Array {
  const classes = new Uint8Array(1 << 16).fill(highClass);
  classes.fill(otherClass, 0, 0x80);
  for (let index = 0; index < groups.length; index += 1) {
    const group = groups[index] as string;
    for (let at = 0; at < group.length; at += 1) classes[group.charCodeAt(at)] = index;
  }
  for (const unit of [0x09, 0x0a, 0x0d]) classes[unit] = breakClass;
  return classes;
}

/** Returns the class of the units of `character`, which is ASCII. */
export function classOfCharacter(character: string): number {
  return classOf[character.charCodeAt(0)] as number;
}
