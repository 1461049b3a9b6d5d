/**
 * Any Unicode character, for strings of properties. The unit `"binary"` of fast-check generates the same strings, but
 * keeps a table of a million characters, which takes 1.4 s of CPU time and 150 MB in each process.
 */

/** The part of fast-check that is used. */
interface FastCheck<Unit> {
  /** Gives the type of generators of strings. */
  string(): Unit;
  nat(max: number): {
    map(toText: (index: number) => string, toIndex: (text: unknown) => number): unknown;
  };
}

/** First surrogate, and the number of surrogates: they are no characters. */
const surrogates = 0xd800;
const surrogateCount = 0x800;

/** Returns a unit for `fc.string()`: any Unicode character, as a string that is well-formed. */
export function anyCharacter<Unit>(fc: FastCheck<Unit>): Unit {
  return fc.nat(0x10_ffff - surrogateCount).map(toCharacter, toIndex) as Unit;
}

function toCharacter(index: number): string {
  return String.fromCodePoint(index < surrogates ? index : index + surrogateCount);
}

/** Lets fast-check shrink strings that it did not generate character by character, such as `__proto__`. */
function toIndex(character: unknown): number {
  const code = typeof character === "string" ? character.codePointAt(0) : undefined;
  if (code === undefined || character !== String.fromCodePoint(code)) throw new TypeError("Not a character");
  if (code < surrogates) return code;
  if (code < surrogates + surrogateCount) throw new TypeError("A surrogate is no character");
  return code - surrogateCount;
}
