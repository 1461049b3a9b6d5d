/**
 * Generates random programs with a bad layout: any white space between tokens, line
 * breaks and comments at all allowed places, and blocks with any indentation.
 */

import fc from "fast-check";

/** An expression or a simple statement, token by token. */
type Tokens = readonly string[];

/** A line, or a header and its block. */
type Line =
  | { readonly kind: "simple"; readonly statements: readonly Tokens[] }
  | { readonly kind: "compound"; readonly clauses: readonly Clause[] };

interface Clause {
  readonly header: Tokens;
  readonly body: readonly Line[];
}

const names = fc.constantFrom("a", "b", "_c", "value", "a_rather_long_name_of_a_variable");
const literals = fc.constantFrom(
  "0",
  "0x1F",
  "1.",
  ".5e3",
  '"text"',
  "'it'",
  'r"\\d"',
  'b"\\x00"',
  '"""two\n  lines # none"""',
  'f"{a!r:>10} {b + 1}"',
  'f"""{\n  a # inside\n}"""',
  '"a long literal that fills most of a line by itself"',
);
const binaryOperators = fc.constantFrom(
  "or",
  "and",
  "==",
  "<",
  "in",
  "not in",
  "|",
  "<<",
  "+",
  "-",
  "*",
  "//",
);

function joined(separator: string, parts: readonly Tokens[]): Tokens {
  return parts.flatMap((part, index) => (index === 0 ? part : [separator, ...part]));
}

function listOf(open: string, parts: readonly Tokens[], close: string, trailing: boolean): Tokens {
  const comma = trailing && parts.length > 0 ? [","] : [];
  return [open, ...joined(",", parts), ...comma, close];
}

const { expression, parameters } = fc.letrec<{
  expression: Tokens;
  primary: Tokens;
  parameters: readonly Tokens[];
  lambda: Tokens;
}>((tie) => {
  const many = (maxLength: number) => fc.array(tie("expression"), { maxLength });
  const parameters = fc
    .tuple(
      fc.array(names, { maxLength: 2 }),
      fc.array(fc.tuple(names, tie("primary")), { maxLength: 2 }),
      fc.boolean(),
    )
    .map(([required, optional, variadic]) => [
      ...required.map((name) => [name]),
      ...optional.map(([name, value]) => [name, "=", ...value]),
      ...(variadic ? [["*args"], ["**kwargs"]] : []),
    ]);
  const clause = fc.oneof(
    fc.tuple(names, tie("primary")).map(([name, from]) => ["for", name, ",", "in", ...from]),
    fc.tuple(names, tie("primary")).map(([name, from]) => ["for", name, "in", ...from]),
    tie("primary").map((test) => ["if", ...test]),
  );
  const clauses = fc
    .tuple(names, tie("primary"), fc.array(clause, { maxLength: 2 }))
    .map(([name, from, more]) => ["for", name, "in", ...from, ...more.flat()]);
  return {
    parameters,
    lambda: fc
      .tuple(parameters, tie("expression"))
      .map(([given, body]) => ["lambda", ...joined(",", given), ":", ...body]),
    primary: fc.oneof(
      { maxDepth: 4, depthIdentifier: "expression" },
      names.map((name) => [name]),
      literals.map((literal) => [literal]),
      fc.tuple(many(4), fc.boolean()).map(([parts, comma]) => listOf("[", parts, "]", comma)),
      fc
        .tuple(many(4), fc.boolean())
        .map(([parts, comma]) => listOf("(", parts, ")", comma || parts.length === 1)),
      tie("expression").map((inner) => ["(", ...inner, ")"]),
      fc
        .tuple(fc.array(fc.tuple(tie("expression"), tie("expression")), { maxLength: 3 }), fc.boolean())
        .map(([entries, comma]) =>
          listOf(
            "{",
            entries.map(([key, value]) => [...key, ":", ...value]),
            "}",
            comma,
          ),
        ),
      fc.tuple(tie("expression"), clauses).map(([body, more]) => ["[", ...body, ...more, "]"]),
      fc
        .tuple(names, tie("expression"), clauses)
        .map(([key, value, more]) => ["{", key, ":", ...value, ...more, "}"]),
      fc
        .tuple(names, many(3), fc.array(fc.tuple(names, tie("expression")), { maxLength: 2 }), fc.boolean())
        .map(([callee, positional, named, comma]) => {
          const all = [...positional, ...named.map(([name, value]) => [name, "=", ...value]), ["*", callee]];
          return [callee, ...listOf("(", comma ? all : all.slice(0, -1), ")", comma)];
        }),
      fc.tuple(tie("primary"), names).map(([object, name]) => [...object, " ", ".", name]),
      fc
        .tuple(names, many(2))
        .map(([object, index]) =>
          index.length === 0 ? [object, "[", ":", "]"] : [object, "[", ...joined(":", index), "]"],
        ),
      fc.tuple(fc.constantFrom("-", "+", "~"), names).map(([operator, name]) => [operator, name]),
    ),
    expression: fc.oneof(
      { maxDepth: 4, depthIdentifier: "expression" },
      { arbitrary: tie("primary"), weight: 4 },
      {
        arbitrary: fc
          .tuple(tie("primary"), fc.array(fc.tuple(binaryOperators, tie("primary")), { maxLength: 4 }))
          .map(([first, more]) => withOperators(first, more)),
        weight: 3,
      },
      {
        arbitrary: fc
          .tuple(tie("primary"), tie("primary"), tie("primary"))
          .map(([body, test, orelse]) => [...body, "if", ...test, "else", ...orelse]),
        weight: 1,
      },
      { arbitrary: tie("lambda"), weight: 1 },
      { arbitrary: tie("primary").map((operand) => ["not", ...operand]), weight: 1 },
    ),
  };
});

/** At most one comparison, because comparisons do not associate. */
function withOperators(first: Tokens, more: readonly (readonly [string, Tokens])[]): Tokens {
  const tokens = [...first];
  let hasComparison = false;
  for (const [operator, operand] of more) {
    const isComparison = ["==", "<", "in", "not in"].includes(operator);
    const usable = isComparison && hasComparison ? "+" : operator;
    hasComparison ||= isComparison;
    tokens.push(...usable.split(" "), ...operand);
  }
  return tokens;
}

const simple: fc.Arbitrary<Tokens> = fc.oneof(
  expression,
  fc
    .tuple(names, fc.constantFrom("=", "+=", "//="), expression)
    .map(([name, operator, value]) => [name, operator, ...value]),
  fc.tuple(names, names, expression).map(([one, two, value]) => [one, ",", two, "=", ...value]),
  expression.map((value) => ["return", ...value]),
  fc.constantFrom<Tokens>(["pass"], ["return"], ["break"]),
  fc
    .tuple(names, fc.boolean())
    .map(([name, comma]) => listOf("load(", [['"m.star"'], ['"x"'], [name, "=", 'r"y"']], ")", comma)),
);

const { line } = fc.letrec<{ line: Line; body: readonly Line[] }>((tie) => {
  const clause = (header: fc.Arbitrary<Tokens>) =>
    fc.record({ header: fc.tuple(header).map(([tokens]) => [...tokens, ":"]), body: tie("body") });
  const word = (text: string) => fc.constant<Tokens>([text]);
  const ifClauses = fc
    .tuple(
      clause(expression.map((test) => ["if", ...test])),
      fc.array(clause(expression.map((test) => ["elif", ...test])), { maxLength: 2 }),
      fc.array(clause(word("else")), { maxLength: 1 }),
    )
    .map((parts) => parts.flat());
  const tryClauses = fc
    .tuple(
      clause(word("try")),
      fc.array(
        clause(
          fc.constantFrom<Tokens>(
            ["except", "Error"],
            ["except", "(", "Error", ")", "as", "e"],
            ["except", "(", "Error", ",", "ToolError", ",", ")"],
          ),
        ),
        { minLength: 1, maxLength: 2 },
      ),
      fc.array(clause(word("else")), { maxLength: 1 }),
      fc.array(clause(word("finally")), { maxLength: 1 }),
    )
    .map((parts) => parts.flat());
  const single = (header: fc.Arbitrary<Tokens>) => clause(header).map((one) => [one]);
  return {
    body: fc.array(tie("line"), { minLength: 1, maxLength: 3 }),
    line: fc.oneof(
      { maxDepth: 3, depthIdentifier: "block" },
      {
        arbitrary: fc
          .array(simple, { minLength: 1, maxLength: 2 })
          .map((statements): Line => ({ kind: "simple", statements })),
        weight: 4,
      },
      {
        arbitrary: fc
          .oneof(
            ifClauses,
            tryClauses,
            single(fc.tuple(names, expression).map(([name, from]) => ["for", name, "in", ...from])),
            single(expression.map((test) => ["while", ...test])),
            single(parameters.map((all) => ["def", "f", "(", ...joined(",", all), ")"])),
          )
          .map((clauses): Line => ({ kind: "compound", clauses })),
        weight: 2,
      },
    ),
  };
});

/** A sequence of numbers that determines the layout. */
type Choices = () => number;

function pick<T>(choices: Choices, options: readonly T[]): T {
  return options[choices() % options.length]!;
}

class Layout {
  readonly #choices: Choices;
  #comments = 0;
  text = "";

  constructor(choices: Choices) {
    this.#choices = choices;
  }

  #comment(): string {
    this.#comments += 1;
    return `#${pick(this.#choices, ["", " "])}comment ${this.#comments}${pick(this.#choices, ["", "  ", " \\"])}`;
  }

  #newline(): string {
    return pick(this.#choices, ["\n", "\n", "\n", "\r\n", "\r"]);
  }

  #space(depth: number): string {
    const choice = this.#choices() % (depth > 0 ? 14 : 7);
    switch (choice) {
      case 5:
        return "   ";
      case 6:
        return ` \\${this.#newline()}  `;
      case 7:
      case 8:
        return `${this.#newline()}  `;
      case 9:
        return `${this.#newline()}\t ${this.#newline()}`;
      case 10:
        return `  ${this.#comment()}${this.#newline()}`;
      case 11:
        return `${this.#newline()} ${this.#comment()}${this.#newline()}`;
      case 12:
        return `${this.#newline()}${this.#newline()} ${this.#comment()}${this.#newline()}${this.#newline()}`;
      default:
        return " ";
    }
  }

  tokens(tokens: Tokens): void {
    let depth = 0;
    tokens.forEach((token, index) => {
      if (index > 0) this.text += this.#space(depth);
      this.text += token;
      if (/[([{]$/.test(token) && !/["']/.test(token)) depth += 1;
      if (/^[)\]}]/.test(token)) depth -= 1;
    });
  }

  #ends(): void {
    if (this.#choices() % 3 === 0) this.text += `  ${this.#comment()}`;
    this.text += this.#newline();
    while (this.#choices() % 4 === 0) {
      const indent = " ".repeat(this.#choices() % 10);
      this.text += pick(this.#choices, ["", " ", `${indent}${this.#comment()}`]) + this.#newline();
    }
  }

  lines(lines: readonly Line[], indent: string): void {
    for (const one of lines) {
      if (one.kind === "simple") {
        this.text += indent;
        one.statements.forEach((statement, index) => {
          if (index > 0) this.text += pick(this.#choices, [";", "; ", " ;"]);
          this.tokens(statement);
        });
        this.text += pick(this.#choices, ["", "", ";"]);
        this.#ends();
        continue;
      }
      for (const { header, body } of one.clauses) {
        this.text += indent;
        this.tokens(header);
        const [only] = body;
        if (body.length === 1 && only?.kind === "simple" && this.#choices() % 2 === 0) {
          this.lines([only], " ");
        } else {
          this.#ends();
          this.lines(body, `${indent}${pick(this.#choices, [" ", "  ", "    ", "\t"])}`);
        }
      }
    }
  }
}

/** Texts of programs without syntax errors. */
export const randomProgram: fc.Arbitrary<string> = fc
  .tuple(
    fc.array(line, { maxLength: 6 }),
    fc.infiniteStream(fc.nat({ max: 5039 })),
    fc.constantFrom("", "\ufeff", "# first\n", "\n\n"),
  )
  .map(([lines, stream, begin]) => {
    const layout = new Layout(() => stream.next().value as number);
    layout.text = begin;
    layout.lines(lines, "");
    return layout.text;
  });
