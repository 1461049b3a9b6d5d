/**
 * Parses expressions: recursive descent, with precedence climbing for binary
 * operators. Syntax of other languages is reported and then parsed as its equivalent
 * in Starlark. Messages follow go.starlark.net where it has one.
 *
 * It is one piece because its functions call one another and the grammar is easiest
 * to read in one place.
 */

import { isFormatSpec, parseFormatSpec } from "../library/format-spec-syntax.ts";
import type {
  Argument,
  BinaryOperator,
  DictEntry,
  Expression,
  ForClause,
  FStringField,
  Identifier,
  IfClause,
  Parameter,
  StringLiteral,
  UnaryOperator,
} from "./ast.ts";
import { fStringHint, powerHint, quotable, unpackHint, untilClosed } from "./python-habits.ts";
import type { StringForm } from "./scanner.ts";
import {
  comparisonPrecedence,
  describeToken,
  notPrecedence,
  precedences,
  Token,
  type TokenKind,
  tokenText,
} from "./token.ts";
import { abandoned, TokenReader } from "./token-reader.ts";

export class ExpressionParser extends TokenReader {
  // Names and parameters.

  protected identifier(): Identifier {
    const scanner = this.scanner;
    if (!scanner.is(Token.Identifier)) this.fail("not an identifier", this.advice("identifier"));
    const { text: name, start, end } = scanner;
    scanner.next();
    return { kind: "Identifier", name, binding: undefined, start, end };
  }

  /**
   * Parses parameters up to `close`, which is not consumed. `annotation` receives the
   * position of a type annotation; without it, annotations are not recognized.
   */
  protected parameters(close: TokenKind, annotation: { start: number } | undefined): readonly Parameter[] {
    const scanner = this.scanner;
    const parameters: Parameter[] = [];
    let height = 0;
    while (scanner.kind !== close && !scanner.is(Token.Colon) && !scanner.is(Token.EndOfFile)) {
      if (parameters.length > 0) this.consume(Token.Comma);
      if ((scanner.kind as TokenKind) === close) break;
      parameters.push(this.#parameter(annotation));
      if (this.height > height) height = this.height;
    }
    this.height = height;
    return parameters;
  }

  #parameter(annotation: { start: number } | undefined): Parameter {
    const scanner = this.scanner;
    const { start, kind: first } = scanner;
    this.height = 1;
    if (first === Token.Star || first === Token.StarStar) {
      scanner.next();
      const isNamed = first === Token.StarStar || scanner.is(Token.Identifier);
      const name = isNamed ? this.identifier() : undefined;
      this.#annotation(annotation);
      const kind = first === Token.Star ? "star" : "doubleStar";
      return { kind, name, value: undefined, start, end: name?.end ?? start + 1 };
    }
    const name = this.identifier();
    this.#annotation(annotation);
    if (!scanner.is(Token.Equal)) return { kind: "required", name, value: undefined, start, end: name.end };
    scanner.next();
    const value = this.test();
    return { kind: "optional", name, value, start, end: scanner.previousEnd };
  }

  #annotation(annotation: { start: number } | undefined): void {
    const scanner = this.scanner;
    if (annotation === undefined || !scanner.is(Token.Colon)) return;
    if (annotation.start < 0) annotation.start = scanner.start;
    scanner.next();
    this.test();
    this.height = 1;
  }

  /** Parses the targets of a `for`. `expression` would take the `in` for an operator. */
  protected loopVariables(): Expression {
    const scanner = this.scanner;
    const first = this.operand();
    if (!scanner.is(Token.Comma)) return first;
    const elements = [first];
    let height = this.height;
    while (scanner.is(Token.Comma)) {
      scanner.next();
      if (endsExpressionList(scanner.kind) || scanner.is(Token.In)) break;
      elements.push(this.operand());
      if (this.height > height) height = this.height;
    }
    this.grow(height);
    const end = scanner.previousEnd;
    return { kind: "TupleExpression", elements, parenthesised: false, start: first.start, end };
  }

  // Expressions.

  /** Parses one test, or several separated by commas: a tuple without parentheses. */
  protected expression(isInParens: boolean): Expression {
    const scanner = this.scanner;
    const first = this.test();
    if (!scanner.is(Token.Comma)) return first;
    const elements = [first];
    this.#elements(elements, isInParens);
    const end = scanner.previousEnd;
    return { kind: "TupleExpression", elements, parenthesised: false, start: first.start, end };
  }

  /** Parses the rest of a list of tests, from a comma on. */
  #elements(elements: Expression[], allowsTrailingComma: boolean): void {
    const scanner = this.scanner;
    let height = this.height;
    while (scanner.is(Token.Comma)) {
      const { start, end } = scanner;
      scanner.next();
      if (endsExpressionList(scanner.kind)) {
        if (!allowsTrailingComma) {
          const message = "unparenthesized tuple with trailing comma";
          const hint = "put the tuple in parentheses, or remove the comma";
          this.problems.add({ code: "STARLARK_SYNTAX", start, end, message, hint });
        }
        break;
      }
      elements.push(this.test());
      if (this.height > height) height = this.height;
    }
    this.grow(height);
  }

  /** Parses a conditional, a lambda, or an operator of higher precedence. */
  protected test(): Expression {
    this.descend();
    const scanner = this.scanner;
    let expression: Expression;
    if (scanner.is(Token.Lambda)) expression = this.#lambda(true);
    else {
      expression = this.#binary(0);
      if (scanner.is(Token.If)) expression = this.#conditional(expression);
    }
    this.level -= 1;
    return expression;
  }

  #conditional(body: Expression): Expression {
    const scanner = this.scanner;
    const ifStart = scanner.start;
    const ifEnd = scanner.end;
    let height = this.height;
    scanner.next();
    const test = this.#binary(0);
    height = Math.max(height, this.height);
    if (!scanner.is(Token.Else)) {
      if (!scanner.is(Token.Illegal)) {
        const message = "conditional expression without else clause";
        const hint = `write ${this.piece(body)} if ${this.piece(test)} else None`;
        this.problems.add({ code: "STARLARK_SYNTAX", start: ifStart, end: ifEnd, message, hint });
      }
      throw abandoned;
    }
    scanner.next();
    const orelse = this.test();
    this.grow(Math.max(height, this.height));
    const end = scanner.previousEnd;
    return { kind: "ConditionalExpression", test, body, orelse, start: body.start, end };
  }

  #lambda(allowsConditional: boolean): Expression {
    const scanner = this.scanner;
    const { start } = scanner;
    scanner.next();
    const parameters = scanner.is(Token.Colon) ? [] : this.parameters(Token.Colon, undefined);
    const height = parameters.length === 0 ? 0 : this.height + 1;
    this.consume(Token.Colon);
    let body: Expression;
    if (allowsConditional) body = this.test();
    else {
      this.descend();
      body = scanner.is(Token.Lambda) ? this.#lambda(false) : this.#binary(0);
      this.level -= 1;
    }
    this.grow(Math.max(height, this.height));
    return { kind: "LambdaExpression", parameters, body, scope: undefined, start, end: scanner.previousEnd };
  }

  /** Parses operators of at least `minimum` precedence, by precedence climbing. */
  #binary(minimum: number): Expression {
    const scanner = this.scanner;
    let left = scanner.is(Token.Not) && minimum <= notPrecedence ? this.#not() : this.operand();
    let isComparison = false;
    for (;;) {
      let kind = scanner.kind;
      let precedence = precedences[kind]!;
      if (precedence < 0) {
        if (kind === Token.Not) this.#notIn();
        else if (kind === Token.Is) this.#is();
        else if (kind === Token.StarStar) this.#power();
        else return left;
        kind = scanner.kind;
        precedence = precedences[kind]!;
      }
      if (precedence < minimum) return left;
      const operatorStart = scanner.start;
      const operatorEnd = scanner.end;
      let height = this.height;
      scanner.next();
      this.descend();
      const right = this.#binary(precedence + 1);
      this.level -= 1;
      if (this.height > height) height = this.height;
      if (precedence === comparisonPrecedence) {
        if (isComparison) this.#chainedComparison(left, kind, operatorStart, operatorEnd, right);
        isComparison = true;
      } else isComparison = false;
      this.grow(height);
      const operator = tokenText(kind) as BinaryOperator;
      const { start } = left;
      left = {
        kind: "BinaryExpression",
        operator,
        operatorStart,
        left,
        right,
        start,
        end: scanner.previousEnd,
      };
    }
  }

  /** Parses `not x` and `not not x`. This is a loop because only the depth of trees limits their number. */
  #not(): Expression {
    const scanner = this.scanner;
    const starts: number[] = [];
    const level = this.level;
    while (scanner.is(Token.Not)) {
      starts.push(scanner.start);
      this.descend();
      scanner.next();
    }
    let expression = this.#binary(comparisonPrecedence);
    this.level = level;
    for (let at = starts.length - 1; at >= 0; at -= 1) {
      this.grow(this.height);
      const end = scanner.previousEnd;
      expression = { kind: "UnaryExpression", operator: "not", operand: expression, start: starts[at]!, end };
    }
    return expression;
  }

  /** Combines `not` and `in` into one token. */
  #notIn(): void {
    const scanner = this.scanner;
    const { start } = scanner;
    scanner.next();
    if (!scanner.is(Token.In)) this.unexpected("in");
    scanner.kind = Token.NotIn;
    scanner.start = start;
  }

  /** Parses `is` and `is not` as `==` and `!=`. */
  #is(): void {
    const scanner = this.scanner;
    const { start, end: isEnd, previousEnd } = scanner;
    const left = quotable(this.text, this.#operandStart, previousEnd) ?? "x";
    const rest = /^is(?:\s+(not)\b)?\s+(None|True|False|[\w.]+|"[^"]*"|'[^']*')/.exec(
      this.text.slice(start, start + 120),
    );
    const operator = rest?.[1] === undefined ? "==" : "!=";
    this.habit(start, isEnd, "got is, want an operator", `write ${left} ${operator} ${rest?.[2] ?? "…"}`);
    if (operator === "!=") scanner.next();
    scanner.kind = operator === "==" ? Token.EqualEqual : Token.NotEqual;
    scanner.start = start;
  }

  /** Start of the last operand, for hints. */
  #operandStart = 0;

  /** Parses `x ** y` as a multiplication. */
  #power(): void {
    const scanner = this.scanner;
    const left = quotable(this.text, this.#operandStart, scanner.previousEnd) ?? "x";
    const hint = powerHint(left, this.text.slice(scanner.end, scanner.end + 60));
    this.habit(scanner.start, scanner.end, "got '**', want an operator", hint);
    scanner.kind = Token.Star;
  }

  /** `a < b < c` */
  #chainedComparison(left: Expression, kind: TokenKind, start: number, end: number, right: Expression): void {
    if (left.kind !== "BinaryExpression") return;
    const operator = tokenText(kind);
    const [first, middle, last] = [left, left.right, right].map((part) => this.piece(part));
    const message = `${left.operator} does not associate with ${operator} (use parens)`;
    this.habit(start, end, message, `write ${first} and ${middle} ${operator} ${last}`);
  }

  /** Parses a primary expression and everything that follows it: `.name`, `[…]`, `(…)`. */
  protected operand(): Expression {
    this.countNode();
    const scanner = this.scanner;
    const start = scanner.start;
    let expression: Expression;
    switch (scanner.kind) {
      case Token.Identifier: {
        const { text: name, end } = scanner;
        scanner.next();
        this.height = 1;
        expression = { kind: "Identifier", name, binding: undefined, start, end };
        if (scanner.is(Token.String) && scanner.start === end) this.#foreignPrefix(name);
        break;
      }
      case Token.Int: {
        const { number: value, end } = scanner;
        scanner.next();
        this.height = 1;
        expression = { kind: "IntLiteral", value, start, end };
        break;
      }
      case Token.Float: {
        const { number: value, end } = scanner;
        scanner.next();
        this.height = 1;
        expression = { kind: "FloatLiteral", value: value as number, start, end };
        break;
      }
      case Token.String:
      case Token.Bytes:
      case Token.FString:
        expression = this.#strings();
        break;
      case Token.LeftBracket:
        expression = this.#list();
        break;
      case Token.LeftBrace:
        expression = this.#dict();
        break;
      case Token.LeftParen:
        expression = this.#parens();
        break;
      case Token.Minus:
      case Token.Plus:
      case Token.Tilde:
        return this.#unary();
      default:
        expression = this.#foreignOperand();
    }
    for (;;) {
      if (scanner.is(Token.Dot)) {
        const dotStart = scanner.start;
        scanner.next();
        const nameStart = scanner.start;
        this.grow(this.height);
        const { name, end } = this.identifier();
        expression = {
          kind: "AttributeExpression",
          object: expression,
          dotStart,
          name,
          nameStart,
          start,
          end,
        };
      } else if (scanner.is(Token.LeftParen)) expression = this.#call(expression);
      else if (scanner.is(Token.LeftBracket)) expression = this.#subscript(expression);
      else {
        this.#operandStart = start;
        return expression;
      }
    }
  }

  #unary(): Expression {
    const scanner = this.scanner;
    const { start, kind } = scanner;
    const operator = tokenText(kind) as UnaryOperator;
    this.descend();
    scanner.next();
    const operand = this.operand();
    this.level -= 1;
    this.grow(this.height);
    return { kind: "UnaryExpression", operator, operand, start, end: scanner.previousEnd };
  }

  /** Handles a token that starts no operand. Syntax of other languages is parsed as its equivalent. */
  #foreignOperand(): Expression {
    const scanner = this.scanner;
    const { kind, start, end } = scanner;
    const message = `got ${describeToken(kind)}, want primary expression`;
    switch (kind) {
      case Token.Star:
      case Token.StarStar:
        if (!this.#isFollowedByOperand()) this.unexpected("primary expression");
        this.habit(start, end, message, this.#unpackHint(kind));
        break;
      case Token.Await:
        if (!this.#isFollowedByOperand()) this.unexpected("primary expression");
        this.habit(start, end, message, "remove await: calls wait");
        break;
      case Token.Yield:
        this.habit(start, end, message, "collect the values in a list and return it");
        if (!this.#isFollowedByOperand()) throw abandoned;
        break;
      default:
        this.unexpected("primary expression");
    }
    this.descend();
    scanner.next();
    if (kind === Token.Yield && scanner.is(Token.From)) scanner.next();
    const expression = this.operand();
    this.level -= 1;
    return expression;
  }

  /** Whether the token after the current one, on the same line, may start an operand. */
  #isFollowedByOperand(): boolean {
    const { end } = this.scanner;
    return /^[ \t]*[\p{L}\w"'([{*-]/u.test(this.text.slice(end, end + 40));
  }

  /** `a, *b = x`, `[*a, *b]`, `{**a, "b": 1}` */
  #unpackHint(kind: TokenKind): string {
    const scanner = this.scanner;
    if (kind === Token.StarStar) return 'merge dicts with a | b, as in defaults | {"b": 1}';
    return unpackHint(this.text, this.statementStart, scanner.start, scanner.brackets.at(-1) ?? -1);
  }

  /** Reports a name directly before a string: an f-string in a dialect without f-strings, for example. */
  #foreignPrefix(name: string): void {
    const scanner = this.scanner;
    if (!/^(?:f|fr|rf)$/i.test(name)) return;
    const hint = fStringHint(this.text.slice(scanner.start, scanner.end));
    this.habit(scanner.start, scanner.end, "got string literal, want newline", hint);
    scanner.next();
  }

  // Strings.

  protected stringLiteral(): StringLiteral {
    const { text: value, start, end } = this.scanner;
    this.scanner.next();
    this.height = 1;
    return { kind: "StringLiteral", value, start, end };
  }

  #strings(): Expression {
    const scanner = this.scanner;
    const first = this.#string();
    let height = this.height;
    while (isString(scanner.kind)) {
      const { start } = scanner;
      if (this.#isDictKey(first.start)) {
        const hint = `write ${this.piece(first)}: ${this.piece(scanner)}`;
        this.fail("got string literal, want ':'", { code: "STARLARK_SYNTAX", hint });
      }
      const second = this.#string();
      if (this.height > height) height = this.height;
      const hint = `write ${this.piece(first)} + ${this.piece(second)}`;
      this.habit(start, second.end, `got ${this.#nameOf(second)}, want an operator`, hint);
    }
    this.height = height;
    return first;
  }

  /** Whether `start` is at the position of a dict key. */
  #isDictKey(start: number): boolean {
    const brace = this.scanner.brackets.at(-1);
    if (this.scanner.isField || brace === undefined || this.text[brace] !== "{") return false;
    return /[{,]\s*$/.test(this.text.slice(Math.max(brace, start - 100), start));
  }

  #nameOf({ kind }: Expression): string {
    if (kind === "FString") return describeToken(Token.FString);
    return describeToken(kind === "BytesLiteral" ? Token.Bytes : Token.String);
  }

  #string(): Expression {
    const scanner = this.scanner;
    if (scanner.is(Token.String)) return this.stringLiteral();
    if (scanner.is(Token.FString)) return this.#fString();
    const { bytes: value, start, end } = scanner;
    scanner.next();
    this.height = 1;
    return { kind: "BytesLiteral", value, start, end };
  }

  #fString(): Expression {
    const scanner = this.scanner;
    const { form } = scanner;
    const { start } = form;
    const { openFString, isField } = scanner;
    const bracketCount = scanner.brackets.length;
    const level = this.level;
    const parts: (string | FStringField)[] = [];
    let height = 0;
    this.descend();
    try {
      for (;;) {
        const stop = scanner.fStringText(form);
        if (stop === "illegal") {
          scanner.kind = Token.Illegal;
          throw abandoned;
        }
        if (scanner.text !== "") parts.push(scanner.text);
        if (stop === "end") break;
        parts.push(this.#fStringField(form));
        scanner.leaveField(openFString, isField);
        if (this.height > height) height = this.height;
      }
    } catch (error) {
      if (error !== abandoned || this.problems.isFull || scanner.is(Token.EndOfFile)) throw error;
      // Only the f-string was abandoned; the text around it is intact.
      this.level = level + 1;
      scanner.skipFString(form, bracketCount);
      // A field that contains the closing quote was read beyond it.
      const beyond = parts.findIndex((part) => typeof part !== "string" && part.end > scanner.end);
      if (beyond !== -1) parts.length = beyond;
    }
    this.level = level;
    scanner.leaveField(openFString, isField);
    const { end } = scanner;
    scanner.kind = Token.FString;
    scanner.next();
    this.grow(height);
    return { kind: "FString", parts, start, end };
  }

  /** Parses a field from after the opening brace to after the closing one, where the text continues. */
  #fStringField(form: StringForm): FStringField {
    const scanner = this.scanner;
    const start = scanner.end - 1;
    scanner.enterField(form);
    scanner.next();
    if (scanner.is(Token.RightBrace)) {
      const hint = "write {{}} for a pair of braces";
      this.fail("f-string: empty expression", { code: "STARLARK_SYNTAX", hint });
    }
    const expression = this.expression(false);
    const height = this.height;
    let conversion: "r" | "s" | undefined;
    if (scanner.is(Token.Bang)) {
      scanner.next();
      const word = scanner.text;
      if (!scanner.is(Token.Identifier) || (word !== "r" && word !== "s")) {
        const hint = "write !r for repr(x) or !s for str(x)";
        this.fail("f-string: want r or s after '!'", { code: "STARLARK_SYNTAX", hint });
      }
      conversion = word;
      scanner.next();
    }
    let spec: string | undefined;
    if (scanner.is(Token.Colon)) spec = this.#formatSpec(form);
    else if (scanner.is(Token.Equal)) {
      const shown = this.piece(expression);
      const hint = `write ${shown} = {${shown}!r}`;
      const code = "STARLARK_PYTHON_HABIT";
      this.fail("f-string: got '=', want '}'", { code, hint });
    } else if (!scanner.is(Token.RightBrace)) {
      const hint = "close the field with }; write {{ for a brace";
      const known = this.advice("'}'");
      const advice = known?.code === "STARLARK_PYTHON_HABIT" ? known : { code: "STARLARK_SYNTAX", hint };
      this.fail(`f-string: got ${describeToken(scanner.kind)}, want '}'`, advice);
    }
    this.height = height + 1;
    return { expression, conversion, spec, start, end: scanner.end };
  }

  /** Parses from a colon to the closing brace. */
  #formatSpec(form: StringForm): string {
    const scanner = this.scanner;
    const start = scanner.end;
    const spec = scanner.formatSpec(form);
    if (spec === undefined) throw abandoned;
    const end = start + spec.length;
    const read = parseFormatSpec(spec);
    if (!isFormatSpec(read)) {
      const message = `f-string: ${read.problem}: ${JSON.stringify(spec)}`;
      this.problems.add({ code: "STARLARK_SYNTAX", start, end, message, hint: read.hint });
    }
    return spec;
  }

  // Brackets.

  #parens(): Expression {
    const scanner = this.scanner;
    const { start } = scanner;
    scanner.next();
    if (scanner.is(Token.RightParen)) {
      scanner.next();
      this.height = 1;
      return { kind: "TupleExpression", elements: [], parenthesised: true, start, end: scanner.previousEnd };
    }
    const expression = this.expression(true);
    if (scanner.is(Token.For) && expression.kind !== "TupleExpression") {
      return this.#generator(start, expression, "got for, want ')'");
    }
    this.consume(Token.RightParen);
    const end = scanner.previousEnd;
    if (expression.kind === "TupleExpression" && !expression.parenthesised) {
      return { kind: "TupleExpression", elements: expression.elements, parenthesised: true, start, end };
    }
    this.grow(this.height);
    return { kind: "ParenExpression", expression, start, end };
  }

  /** Parses `(x for x in xs)`, including its closing parenthesis. */
  #generator(start: number, body: Expression, message: string): Expression {
    const scanner = this.scanner;
    const { start: forStart, end: forEnd } = scanner;
    const shown = untilClosed(this.text, body.start) ?? "… for …";
    this.habit(forStart, forEnd, message, `put brackets around it: [${shown}]`);
    return this.#comprehension(start, body, Token.RightParen);
  }

  #list(): Expression {
    const scanner = this.scanner;
    const { start } = scanner;
    scanner.next();
    const elements: Expression[] = [];
    if (scanner.is(Token.RightBracket)) this.height = 1;
    else {
      const first = this.test();
      if (scanner.is(Token.For)) return this.#comprehension(start, first, Token.RightBracket);
      elements.push(first);
      this.#elements(elements, true);
      if (!scanner.is(Token.RightBracket)) this.unexpected("']'");
    }
    scanner.next();
    return { kind: "ListExpression", elements, start, end: scanner.previousEnd };
  }

  #dict(): Expression {
    const scanner = this.scanner;
    const { start } = scanner;
    scanner.next();
    const entries: DictEntry[] = [];
    let height = 0;
    while (!scanner.is(Token.RightBrace)) {
      if (entries.length > 0) {
        this.consume(Token.Comma);
        if (scanner.is(Token.RightBrace)) break;
      }
      if (scanner.is(Token.StarStar)) {
        this.#skipUnpackedEntry();
        continue;
      }
      const key = this.test();
      const keyHeight = this.height;
      if (entries.length === 0 && isSetDelimiter(scanner.kind)) return this.#foreignSet(start, key);
      const colonStart = scanner.start;
      this.consume(Token.Colon);
      const value = this.test();
      this.height = Math.max(keyHeight, this.height) + 1;
      if (this.height > height) height = this.height;
      const entry: DictEntry = {
        kind: "DictEntry",
        key,
        colonStart,
        value,
        start: key.start,
        end: scanner.previousEnd,
      };
      if (entries.length === 0 && scanner.is(Token.For)) {
        return this.#comprehension(start, entry, Token.RightBrace);
      }
      entries.push(entry);
    }
    scanner.next();
    this.grow(height);
    return { kind: "DictExpression", entries, start, end: scanner.previousEnd };
  }

  /** `**a` in a dict. */
  #skipUnpackedEntry(): void {
    const scanner = this.scanner;
    const message = "got '**', want primary expression";
    this.habit(scanner.start, scanner.end, message, this.#unpackHint(Token.StarStar));
    scanner.next();
    this.test();
    if (scanner.is(Token.Comma)) scanner.next();
    else if (!scanner.is(Token.RightBrace)) this.unexpected("'}'");
  }

  /** Reports `{1, 2}` and `{x for x in xs}`, which parse like dicts without values. */
  #foreignSet(start: number, first: Expression): Expression {
    const scanner = this.scanner;
    const message = `got ${describeToken(scanner.kind)}, want ':'`;
    const shown = untilClosed(this.text, start + 1) ?? "…";
    const instead = this.dialect.set ? `write set([${shown}])` : `write [${shown}]; there are no sets`;
    this.habit(scanner.start, scanner.end, message, instead);
    if (scanner.is(Token.For)) return this.#comprehension(start, first, Token.RightBrace);
    const elements = [first];
    this.#elements(elements, true);
    this.consume(Token.RightBrace);
    return { kind: "ListExpression", elements, start, end: scanner.previousEnd };
  }

  /** Parses `for … in …` and `if …`, including `close`. */
  #comprehension(start: number, body: Expression | DictEntry, close: TokenKind): Expression {
    const scanner = this.scanner;
    const clauses: (ForClause | IfClause)[] = [];
    let height = this.height;
    while (scanner.kind !== close) {
      const clauseStart = scanner.start;
      if (scanner.is(Token.For)) {
        scanner.next();
        const target = this.loopVariables();
        height = Math.max(height, this.height + 1);
        this.consume(Token.In);
        // A conditional is not allowed, because its `if` would belong to the comprehension, and
        // neither is a lambda or a bare tuple.
        const iterable = this.#binary(0);
        const end = scanner.previousEnd;
        clauses.push({ kind: "ForClause", target, iterable, start: clauseStart, end });
      } else if (scanner.is(Token.If)) {
        scanner.next();
        const test = scanner.is(Token.Lambda) ? this.#lambda(false) : this.#binary(0);
        clauses.push({ kind: "IfClause", test, start: clauseStart, end: scanner.previousEnd });
      } else this.unexpected(`${describeToken(close)}, for, or if`);
      height = Math.max(height, this.height + 1);
    }
    scanner.next();
    // Each clause is a loop or a condition nested in the previous one.
    this.grow(height + 3 * clauses.length);
    return { kind: "Comprehension", body, clauses, start, end: scanner.previousEnd };
  }

  // Suffixes of operands.

  #call(callee: Expression): Expression {
    const scanner = this.scanner;
    const parenStart = scanner.start;
    let height = this.height;
    const args: Argument[] = [];
    scanner.next();
    while (!scanner.is(Token.RightParen) && !scanner.is(Token.EndOfFile)) {
      if (args.length > 0) this.consume(Token.Comma);
      if (scanner.is(Token.RightParen)) break;
      const argument = this.#argument();
      if (this.height >= height) height = this.height + 1;
      args.push(argument);
      if (scanner.is(Token.For) && argument.kind === "positional") {
        const message = args.length > 1 ? "got for, want ','" : "got for, want ')'";
        this.#generator(argument.start, argument.value, message);
        this.grow(Math.max(height, this.height));
        return {
          kind: "CallExpression",
          callee,
          parenStart,
          args,
          start: callee.start,
          end: scanner.previousEnd,
        };
      }
    }
    this.consume(Token.RightParen);
    this.grow(height);
    return {
      kind: "CallExpression",
      callee,
      parenStart,
      args,
      start: callee.start,
      end: scanner.previousEnd,
    };
  }

  #argument(): Argument {
    const scanner = this.scanner;
    const { start, kind } = scanner;
    if (kind === Token.Star || kind === Token.StarStar) {
      scanner.next();
      const value = this.test();
      const end = scanner.previousEnd;
      return { kind: kind === Token.Star ? "star" : "doubleStar", name: undefined, value, start, end };
    }
    const value = this.test();
    if (!scanner.is(Token.Equal)) {
      return { kind: "positional", name: undefined, value, start, end: scanner.previousEnd };
    }
    if (value.kind !== "Identifier") {
      const hint = "write == to compare, or a name before the =";
      this.fail("keyword argument must have form name=expr", { code: "STARLARK_SYNTAX", hint });
    }
    scanner.next();
    const named = this.test();
    return { kind: "named", name: value, value: named, start, end: scanner.previousEnd };
  }

  /** `x[i]`, `x[low:high:step]` */
  #subscript(object: Expression): Expression {
    const scanner = this.scanner;
    const bracketStart = scanner.start;
    let height = this.height;
    const { start } = object;
    let low: Expression | undefined;
    let high: Expression | undefined;
    let step: Expression | undefined;
    scanner.next();
    if (!scanner.is(Token.Colon)) {
      low = this.expression(false);
      if (this.height > height) height = this.height;
      if (scanner.is(Token.RightBracket)) {
        scanner.next();
        this.grow(height);
        return { kind: "IndexExpression", object, bracketStart, index: low, start, end: scanner.previousEnd };
      }
    }
    if (scanner.is(Token.Colon)) {
      scanner.next();
      if (!scanner.is(Token.Colon) && !scanner.is(Token.RightBracket)) {
        high = this.test();
        if (this.height > height) height = this.height;
      }
    }
    if (scanner.is(Token.Colon)) {
      scanner.next();
      if (!scanner.is(Token.RightBracket)) {
        step = this.test();
        if (this.height > height) height = this.height;
      }
    }
    this.consume(Token.RightBracket);
    this.grow(height);
    return {
      kind: "SliceExpression",
      object,
      bracketStart,
      low,
      high,
      step,
      start,
      end: scanner.previousEnd,
    };
  }
}

function endsExpressionList(kind: TokenKind): boolean {
  switch (kind) {
    case Token.EndOfFile:
    case Token.Newline:
    case Token.Equal:
    case Token.RightBrace:
    case Token.RightBracket:
    case Token.RightParen:
    case Token.Semicolon:
      return true;
    default:
      return false;
  }
}

function isString(kind: TokenKind): boolean {
  return kind === Token.String || kind === Token.Bytes || kind === Token.FString;
}

/** Tokens that follow the first element of a set, where a dict would have a colon. */
function isSetDelimiter(kind: TokenKind): boolean {
  return kind === Token.Comma || kind === Token.RightBrace || kind === Token.For;
}
