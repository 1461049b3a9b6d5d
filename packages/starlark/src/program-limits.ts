/** The limits of a program before it is executed: from its text to its code. */

/** Limits of the text, the syntax tree and the code of a program. They are fixed. */
export const programLimits = {
  /** Maximum length of the text, in UTF-16 units. */
  sourceLength: 1 << 20,
  /** Maximum number of syntax errors that are reported. */
  syntaxErrors: 20,
  /** Maximum number of errors in the use of names that are reported. */
  nameErrors: 200,
  /** Maximum number of statements and expressions. */
  treeNodes: 500_000,
  /** Maximum depth of the syntax tree; chains such as `a + b + c` and `a.b.c` count a level for each link. */
  treeDepth: 1000,
  /** Maximum nesting of brackets, blocks, lambdas, conditionals and unary operators, which the parser parses recursively. */
  nesting: 300,
  /** Maximum number of positional, and of named, arguments in one call, not counting `*args` and `**kwargs`. */
  callArguments: 255,
  /**
   * Maximum number of variables that all functions together capture. A function also
   * captures what its inner functions use, so captures can outnumber names by far.
   */
  captures: 100_000,
  /** Maximum number of instructions, closures and captured variables in the code. */
  codeSize: 1_000_000,
} as const;
