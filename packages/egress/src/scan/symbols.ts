/**
 * How one character may be written: as it is, and escaped for JSON (also within
 * JSON within JSON), for URLs (also twice), and for HTML. A text that is looked
 * for is a row of such symbols, so that escapes may be mixed, and letters and
 * digits found that need no escape and have one.
 */

/** Which bytes may stand at one place: 1 at the index of each. */
export type ByteSet = Uint8Array;

/** One way to write a symbol: a run of one byte, then one byte out of each set. */
export interface Spelling {
  /** The byte of the run. */
  readonly runByte: number;
  readonly runMin: number;
  /** 0 when there is no run. */
  readonly runMax: number;
  readonly sets: readonly ByteSet[];
}

/** One character, or any one of a class, in all its spellings. */
export interface TextSymbol {
  readonly spellings: readonly Spelling[];
  /** The bytes that are the whole symbol and the beginning of no other spelling of it. */
  readonly plain: ByteSet;
}

/** What is looked for. */
export type Form = readonly TextSymbol[];

const backslash = 0x5c;
/** JSON within JSON within JSON doubles each backslash three times. */
const maxBackslashes = 16;
/** `%2f`, `%252f`, `%25252f`. */
const percentDepths = 3;
const entityZeros = 2;

const entities: { readonly [character: string]: string } = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
  "+": "plus",
  "/": "sol",
  "=": "equals",
};

const byteSets = new Map<number, ByteSet>();
const literals = new Map<string, readonly ByteSet[]>();
const hexSets = new Map<string, ByteSet>();
const symbols = new Map<string, TextSymbol>();

const xSet = setOf(["x", "X"]);

/** The symbols of `text`, each character in all its spellings. */
export function escapable(text: string): Form {
  return [...text].map(symbolOf);
}

/** `bytes` in hexadecimal digits of either case. */
export function hexForm(bytes: Uint8Array): Form {
  return [...Buffer.from(bytes).toString("hex")].map((digit) => symbolOfSet(hexSet(digit)));
}

/** `bytes` as they are. */
export function bytesForm(bytes: Uint8Array): Form {
  return [...bytes].map((byte) => symbolOfSet(byteSet(byte)));
}

/** Any one of `characters`, in all their spellings. */
export function anyOf(characters: string): TextSymbol {
  const known = symbols.get(characters);
  if (known !== undefined && characters.length > 1) return known;
  const all = [...characters].map(symbolOf);
  const plain = new Uint8Array(256);
  for (const one of all) {
    one.plain.forEach((is, byte) => {
      if (is) plain[byte] = 1;
    });
  }
  const escapes = all.flatMap(({ spellings }) => spellings.filter((one) => !isPlain(one, plain)));
  const symbol = { spellings: [toSpelling([plain]), ...escapes], plain };
  symbols.set(characters, symbol);
  return symbol;
}

function isPlain({ runMax, sets }: Spelling, plain: ByteSet): boolean {
  return (
    runMax === 0 && sets.length === 1 && sets.every((set) => set.every((is, byte) => !is || plain[byte]))
  );
}

function symbolOf(character: string): TextSymbol {
  const known = symbols.get(character);
  if (known !== undefined) return known;
  const symbol = toSymbol(character);
  // One table for all: texts share their characters.
  if (character.charCodeAt(0) < 0x80) symbols.set(character, symbol);
  return symbol;
}

function toSymbol(character: string): TextSymbol {
  const code = character.codePointAt(0) as number;
  const bytes = [...Buffer.from(character, "utf8")];
  const spellings = [...percentSpellings(bytes), ...entitySpellings(character, code)];
  if (code <= 0xffff) spellings.push(afterBackslashes(1, [byteSet(0x75), ...hexSetsOf(code, 4)]));
  const short = { "\n": "n", "\r": "r", "\t": "t", "\b": "b", "\f": "f" }[character];
  if (short !== undefined) spellings.push(afterBackslashes(1, literal(short)));
  if (character === " ") spellings.push(toSpelling(literal("+")));
  const plain = new Uint8Array(256);
  if (code === backslash) {
    spellings.push(afterBackslashes(1, []));
  } else {
    spellings.push(toSpelling(bytes.map(byteSet)));
    if (!/^[A-Za-z0-9]$/.test(character)) spellings.push(afterBackslashes(1, bytes.map(byteSet)));
    // "%" begins "%25", and "&" begins "&amp;".
    if (bytes.length === 1 && character !== "%" && character !== "&") plain[code] = 1;
  }
  return { spellings, plain };
}

function percentSpellings(bytes: readonly number[]): Spelling[] {
  return [...Array(percentDepths).keys()].map((depth) =>
    toSpelling(bytes.flatMap((byte) => [...literal(`%${"25".repeat(depth)}`), ...hexSetsOf(byte, 2)])),
  );
}

function entitySpellings(character: string, code: number): Spelling[] {
  const spellings: Spelling[] = [];
  for (let zeros = 0; zeros <= entityZeros; zeros += 1) {
    const padding = literal("0".repeat(zeros));
    spellings.push(toSpelling([...literal("&#"), ...padding, ...literal(`${code};`)]));
    spellings.push(toSpelling([...literal("&#"), xSet, ...padding, ...hexSetsOf(code, 1), ...literal(";")]));
  }
  const name = entities[character];
  if (name !== undefined) spellings.push(toSpelling(literal(`&${name};`)));
  return spellings;
}

function toSpelling(sets: readonly ByteSet[]): Spelling {
  return { runByte: backslash, runMin: 0, runMax: 0, sets };
}

function afterBackslashes(runMin: number, sets: readonly ByteSet[]): Spelling {
  return { runByte: backslash, runMin, runMax: maxBackslashes, sets };
}

function symbolOfSet(set: ByteSet): TextSymbol {
  return { spellings: [toSpelling([set])], plain: set };
}

function literal(text: string): readonly ByteSet[] {
  let sets = literals.get(text);
  if (sets === undefined) {
    sets = Array.from(text, (character) => byteSet(character.charCodeAt(0)));
    literals.set(text, sets);
  }
  return sets;
}

function hexSetsOf(number: number, width: number): readonly ByteSet[] {
  return [...number.toString(16).padStart(width, "0")].map(hexSet);
}

/** The set of one byte. */
export function byteSet(byte: number): ByteSet {
  let set = byteSets.get(byte);
  if (set === undefined) {
    set = new Uint8Array(256);
    set[byte] = 1;
    byteSets.set(byte, set);
  }
  return set;
}

function hexSet(digit: string): ByteSet {
  let set = hexSets.get(digit);
  if (set === undefined) {
    set = setOf([digit, digit.toUpperCase()]);
    hexSets.set(digit, set);
  }
  return set;
}

function setOf(characters: readonly string[]): ByteSet {
  const set = new Uint8Array(256);
  for (const character of characters) set[character.charCodeAt(0)] = 1;
  return set;
}
