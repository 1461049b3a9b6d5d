/**
 * The kinds of tokens, with their names in messages and their precedence.
 */

/** The kinds of tokens, as numbers that index tables. */
export const Token = {
  EndOfFile: 0,
  Newline: 1,
  Indent: 2,
  Outdent: 3,
  /** An invalid token, which the scanner has reported. */
  Illegal: 4,

  Identifier: 5,
  Int: 6,
  Float: 7,
  String: 8,
  Bytes: 9,
  /** The prefix and the opening quotes of an f-string. The parser requests its parts one by one. */
  FString: 10,

  Plus: 11,
  Minus: 12,
  Star: 13,
  Slash: 14,
  SlashSlash: 15,
  Percent: 16,
  Ampersand: 17,
  Pipe: 18,
  Caret: 19,
  LessLess: 20,
  GreaterGreater: 21,
  Tilde: 22,
  Dot: 23,
  Comma: 24,
  Equal: 25,
  Semicolon: 26,
  Colon: 27,
  LeftParen: 28,
  RightParen: 29,
  LeftBracket: 30,
  RightBracket: 31,
  LeftBrace: 32,
  RightBrace: 33,
  Less: 34,
  Greater: 35,
  GreaterEqual: 36,
  LessEqual: 37,
  EqualEqual: 38,
  NotEqual: 39,
  PlusEqual: 40,
  MinusEqual: 41,
  StarEqual: 42,
  SlashEqual: 43,
  SlashSlashEqual: 44,
  PercentEqual: 45,
  AmpersandEqual: 46,
  PipeEqual: 47,
  CaretEqual: 48,
  LessLessEqual: 49,
  GreaterGreaterEqual: 50,
  StarStar: 51,
  /** The `!` of `{x!r}`; a token only there. */
  Bang: 52,

  And: 53,
  Break: 54,
  Continue: 55,
  Def: 56,
  Elif: 57,
  Else: 58,
  For: 59,
  If: 60,
  In: 61,
  Lambda: 62,
  Load: 63,
  Not: 64,
  /** Combined from `not` and `in` by the parser. */
  NotIn: 65,
  Or: 66,
  Pass: 67,
  Return: 68,
  While: 69,

  // Reserved words. Some of them have a meaning in the tool dialect.
  As: 70,
  Async: 71,
  Await: 72,
  Class: 73,
  Del: 74,
  Except: 75,
  Finally: 76,
  From: 77,
  Global: 78,
  Import: 79,
  Is: 80,
  Nonlocal: 81,
  Raise: 82,
  Try: 83,
  With: 84,
  Yield: 85,
} as const;

/** A kind of token. */
export type TokenKind = (typeof Token)[keyof typeof Token];

const operators =
  "+ - * / // % & | ^ << >> ~ . , = ; : ( ) [ ] { } < > >= <= == != += -= *= /= //= %= &= |= ^= <<= >>= ** !";
const grammarWords = "and break continue def elif else for if in lambda load not not_in or pass return while";
const reservedWords =
  "as async await class del except finally from global import is nonlocal raise try with yield";

/** The text of each kind, by number; a description for kinds without a fixed text. */
const tokenTexts: readonly string[] = [
  ...["end of file", "newline", "indent", "outdent", "illegal token"],
  ...["identifier", "int literal", "float literal", "string literal", "bytes literal", "f-string literal"],
  ...operators.split(" "),
  ...grammarWords.split(" ").map((word) => word.replace("_", " ")),
  ...reservedWords.split(" "),
];

/** The text of an operator or a keyword. */
export function tokenText(kind: TokenKind): string {
  return tokenTexts[kind]!;
}

/** The name of `kind` in messages: `newline`, `int literal`, `'+'`, `else`. */
export function describeToken(kind: TokenKind): string {
  const text = tokenTexts[kind]!;
  return kind >= Token.Plus && kind <= Token.Bang ? `'${text}'` : text;
}

/** Whether `kind` is a word that cannot be used as a name. */
export function isKeyword(kind: TokenKind): boolean {
  return kind >= Token.And;
}

/** Keywords by their text. */
export const keywords: ReadonlyMap<string, TokenKind> = new Map(
  tokenTexts.flatMap((text, kind) =>
    kind >= Token.And && kind !== Token.NotIn ? [[text, kind as TokenKind]] : [],
  ),
);

/** The precedence of `not`. Operands of higher precedence cannot contain it without parentheses. */
export const notPrecedence = 2;
/** The precedence of comparisons, which do not associate. */
export const comparisonPrecedence = 3;

/** The precedence of binary operators, by kind; -1 for other tokens. */
export const precedences: Int8Array = (() => {
  const table = new Int8Array(tokenTexts.length).fill(-1);
  const levels: readonly (readonly TokenKind[])[] = [
    [Token.Or],
    [Token.And],
    [],
    [
      Token.EqualEqual,
      Token.NotEqual,
      Token.Less,
      Token.Greater,
      Token.LessEqual,
      Token.GreaterEqual,
      Token.In,
      Token.NotIn,
    ],
    [Token.Pipe],
    [Token.Caret],
    [Token.Ampersand],
    [Token.LessLess, Token.GreaterGreater],
    [Token.Plus, Token.Minus],
    [Token.Star, Token.Percent, Token.Slash, Token.SlashSlash],
  ];
  levels.forEach((kinds, level) => {
    for (const kind of kinds) table[kind] = level;
  });
  return table;
})();
