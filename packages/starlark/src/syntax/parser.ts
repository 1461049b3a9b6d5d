/**
 * Parses a file and its statements to a syntax tree. Findings are collected and
 * parsing continues: after an error, the parser skips to the end of the statement (a
 * line break outside brackets, or a line that clearly starts another statement), and
 * parses its block for more findings.
 *
 * The parser never throws to its caller, and takes time linear in the length of the
 * text.
 *
 * It is one piece because the grammar is easiest to read in one place.
 */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import type { Dialect } from "../dialect.ts";
import { programLimits } from "../program-limits.ts";
import type {
  AssignOperator,
  ExceptClause,
  ExceptType,
  Expression,
  File,
  Identifier,
  IfBranch,
  LoadBinding,
  Parameter,
  Statement,
} from "./ast.ts";
import { ExpressionParser } from "./expression-parser.ts";
import { ProblemList } from "./problem-list.ts";
import { quotable, restOfLine } from "./python-habits.ts";
import { describeToken, isKeyword, Token, type TokenKind, tokenText } from "./token.ts";
import { abandoned } from "./token-reader.ts";

/** The result of parsing a text, including one with errors. */
export interface ParsedFile {
  /** Complete if `diagnostics` has no errors; otherwise without the statements that have errors. */
  readonly value: File;
  /** Ordered by position; at most 20 errors, plus warnings. */
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Parses a program.
 *
 * @param source a text of at most 1,048,576 UTF-16 units (1 MiB of ASCII).
 */
export function parseFile(source: Source, dialect: Dialect): ParsedFile {
  return new Parser(source, dialect).parseFile();
}

/**
 * Parses one expression, for example at a prompt. A comma-separated list is a tuple.
 *
 * @returns a file with one expression statement, or with none if there are errors.
 */
export function parseExpression(source: Source, dialect: Dialect): ParsedFile {
  return new Parser(source, dialect).parseExpression();
}

class Parser extends ExpressionParser {
  readonly #source: Source;
  /** Whether the previous statement was abandoned, so that its block has no header. */
  #hasRecovered = false;

  constructor(source: Source, dialect: Dialect) {
    const isTooLarge = source.text.length > programLimits.sourceLength;
    const problems = new ProblemList(source, { limit: programLimits.syntaxErrors, isOnePerPlace: true });
    super(isTooLarge ? { ...source, text: "" } : source, dialect, problems);
    this.#source = source;
    if (isTooLarge) {
      const message = `The program is longer than ${programLimits.sourceLength} characters`;
      const hint = "pass large data as an argument";
      problems.add({ code: "STARLARK_TOO_LARGE", start: 0, end: 0, message, hint });
    }
  }

  parseFile(): ParsedFile {
    const scanner = this.scanner;
    const statements: Statement[] = [];
    scanner.next();
    while (!scanner.is(Token.EndOfFile) && !this.problems.isFull) {
      if (scanner.is(Token.Newline) || scanner.is(Token.Outdent)) scanner.next();
      else this.#statement(statements);
    }
    return this.#parsed(statements);
  }

  parseExpression(): ParsedFile {
    const scanner = this.scanner;
    const statements: Statement[] = [];
    try {
      scanner.next();
      if (scanner.is(Token.Indent)) scanner.next();
      const start = scanner.start;
      this.statementStart = start;
      this.statementKind = scanner.kind;
      const expression = this.expression(false);
      const end = scanner.previousEnd;
      while (scanner.is(Token.Newline) || scanner.is(Token.Outdent)) scanner.next();
      if (!scanner.is(Token.EndOfFile)) {
        this.fail(`got ${describeToken(scanner.kind)} after expression, want EOF`, undefined);
      }
      statements.push({ kind: "ExpressionStatement", expression, start, end });
    } catch (error) {
      if (error !== abandoned) throw error;
    }
    return this.#parsed(statements);
  }

  #parsed(statements: readonly Statement[]): ParsedFile {
    const value: File = {
      kind: "File",
      source: this.#source,
      statements,
      comments: this.scanner.comments,
      start: 0,
      end: this.#source.text.length,
    };
    return { value, diagnostics: this.problems.sorted() };
  }

  /**
   * Skips the rest of an abandoned statement, and the lines that appear to continue
   * it: lines that are indented deeper, unless the first line was a header, and lines
   * that start with a closing bracket. `column` is the indentation of the statement.
   */
  #recover(start: number, column: number): void {
    const { scanner, problems } = this;
    problems.muted = true;
    let blockCount = 0;
    let isOver = false;
    while (!isOver && !scanner.is(Token.EndOfFile)) {
      if (scanner.brackets.length > 0) {
        // Brackets that are never closed end at a line that clearly does not belong to them.
        const { isFirstOnLine, kind } = scanner;
        isOver = isFirstOnLine && scanner.start > start && scanner.column <= column && beginsStatement(kind);
        problems.muted = !isOver;
        if (isOver) scanner.restartLine();
        else scanner.next();
      } else {
        if (scanner.is(Token.Indent)) blockCount += 1;
        else if (scanner.is(Token.Newline)) {
          const isHeader = blockCount === 0 && scanner.previousKind === Token.Colon;
          const line = scanner.nextLine();
          isOver = !line.closes && (line.column <= column || isHeader);
        } else if (scanner.is(Token.Outdent)) {
          if (blockCount === 0) break;
          blockCount -= 1;
        }
        problems.muted = !isOver;
        if (isOver) scanner.leaveField(-1, false);
        scanner.next();
      }
    }
    problems.muted = false;
    for (; blockCount > 0 && scanner.is(Token.Outdent); blockCount -= 1) scanner.next();
    this.#hasRecovered = true;
  }

  // Statements.

  #statement(statements: Statement[]): void {
    const scanner = this.scanner;
    const { start } = scanner;
    const column = scanner.is(Token.Indent) ? scanner.outerColumn : scanner.column;
    const level = this.level;
    const hasRecovered = this.#hasRecovered;
    this.#hasRecovered = false;
    this.statementStart = start;
    this.statementKind = scanner.kind;
    try {
      if (scanner.is(Token.Async)) this.#skipAsync();
      switch (scanner.kind) {
        case Token.Def:
          statements.push(this.#def());
          break;
        case Token.If:
          statements.push(this.#if());
          break;
        case Token.For:
          statements.push(this.#for());
          break;
        case Token.While:
          statements.push(this.#while());
          break;
        case Token.Try:
          statements.push(this.#try());
          break;
        case Token.Indent:
          this.#unexpectedBlock(statements, hasRecovered);
          break;
        case Token.Newline:
          scanner.next();
          break;
        default:
          this.#simpleStatements(statements);
      }
    } catch (error) {
      if (error !== abandoned) throw error;
      this.level = level;
      this.#recover(start, column);
    }
  }

  /** Skips the `async` before `def`, `for` or `with`. */
  #skipAsync(): void {
    const scanner = this.scanner;
    this.habit(scanner.start, scanner.end, "got async, want primary expression", "remove async: calls wait");
    while (scanner.is(Token.Async)) scanner.next();
    this.statementStart = scanner.start;
    this.statementKind = scanner.kind;
  }

  /** Handles an indented block without a header: that of an abandoned statement, or an unexpected one. */
  #unexpectedBlock(statements: Statement[], hasHeader: boolean): void {
    if (hasHeader) this.#block(statements);
    else {
      const hint = "indent this line like the one before";
      this.fail("got indent, want primary expression", { code: "STARLARK_SYNTAX", hint });
    }
  }

  /** Parses from INDENT to OUTDENT. */
  #block(statements: Statement[]): void {
    const scanner = this.scanner;
    this.descend();
    this.#hasRecovered = false;
    scanner.next();
    while (!scanner.is(Token.Outdent) && !scanner.is(Token.EndOfFile) && !this.problems.isFull) {
      this.#statement(statements);
    }
    if (scanner.is(Token.Outdent)) scanner.next();
    this.#hasRecovered = false;
    this.level -= 1;
  }

  /** Parses the suite of a header: `: NEWLINE INDENT … OUTDENT`, or simple statements on the same line. */
  #suite(): readonly Statement[] {
    const scanner = this.scanner;
    const statements: Statement[] = [];
    if (scanner.is(Token.Newline)) {
      const advice = this.advice("':'");
      const { start } = scanner;
      this.problems.add({
        code: advice?.code ?? "STARLARK_SYNTAX",
        start,
        end: start,
        message: "got newline, want ':'",
        hint: advice?.hint,
      });
    } else this.consume(Token.Colon);
    if (!scanner.is(Token.Newline)) {
      this.descend();
      this.#simpleStatements(statements);
      this.level -= 1;
      return statements;
    }
    scanner.next();
    if (scanner.is(Token.Indent)) {
      this.#block(statements);
      return statements;
    }
    const { kind, start, end } = scanner;
    if (kind !== Token.Illegal) {
      this.problems.add({
        code: scanner.isAtEnd ? "STARLARK_UNFINISHED" : "STARLARK_SYNTAX",
        start,
        end: scanner.isAtEnd ? start : end,
        message: `got ${describeToken(kind)}, want indent`,
        hint: "indent the block below its header; an empty block is pass",
      });
    }
    return statements;
  }

  #def(): Statement {
    this.countNode();
    const scanner = this.scanner;
    const { start } = scanner;
    scanner.next();
    const name = this.identifier();
    if (!scanner.is(Token.LeftParen)) this.unexpected("'('");
    scanner.next();
    const annotation: { start: number } = { start: -1 };
    const parameters = this.parameters(Token.RightParen, annotation);
    this.consume(Token.RightParen);
    if (scanner.is(Token.Minus) && this.text.charCodeAt(scanner.end) === 62) {
      if (annotation.start < 0) annotation.start = scanner.start;
      scanner.next();
      scanner.next();
      this.test();
    }
    if (annotation.start >= 0) {
      const shown = parameters.map((parameter) => this.#parameterText(parameter)).join(", ");
      const message = "got ':', want ','";
      const hint = `types are not declared; write def ${name.name}(${shown}):`;
      this.habit(annotation.start, annotation.start + 1, message, hint);
    }
    const body = this.#suite();
    return { kind: "DefStatement", name, parameters, body, scope: undefined, start, end: this.#endOf(body) };
  }

  #parameterText({ kind, name, value }: Parameter): string {
    const stars = kind === "star" ? "*" : kind === "doubleStar" ? "**" : "";
    const fallback = value === undefined ? "" : `=${quotable(this.text, value.start, value.end) ?? "…"}`;
    return `${stars}${name?.name ?? ""}${fallback}`;
  }

  #endOf(body: readonly Statement[]): number {
    return body.at(-1)?.end ?? this.scanner.previousEnd;
  }

  #if(): Statement {
    this.countNode();
    const scanner = this.scanner;
    const { start } = scanner;
    const branches: IfBranch[] = [this.#ifBranch()];
    let orelse: readonly Statement[] | undefined;
    for (;;) {
      if (scanner.is(Token.Elif)) branches.push(this.#ifBranch());
      else if (this.#isForeignElif()) {
        const message = `got identifier, want newline`;
        this.habit(scanner.start, scanner.end, message, "write elif");
        branches.push(this.#ifBranch());
      } else if (!scanner.is(Token.Else)) break;
      else {
        const elseStart = scanner.start;
        scanner.next();
        if (scanner.is(Token.If)) {
          this.habit(scanner.start, scanner.end, "got if, want ':'", "write elif");
          branches.push({ ...this.#ifBranch(), start: elseStart });
        } else {
          orelse = this.#suite();
          break;
        }
      }
    }
    const end = this.#endOf(orelse ?? branches.at(-1)!.body);
    return { kind: "IfStatement", branches, orelse, start, end };
  }

  #isForeignElif(): boolean {
    const { kind, text, end } = this.scanner;
    if (kind !== Token.Identifier || (text !== "elsif" && text !== "elseif")) return false;
    return this.text.charCodeAt(end) === 32;
  }

  #ifBranch(): IfBranch {
    const { start } = this.scanner;
    this.scanner.next();
    const test = this.#condition();
    const body = this.#suite();
    return { test, body, start, end: this.#endOf(body) };
  }

  /** Parses the test of an `if` or `while`. */
  #condition(): Expression {
    const scanner = this.scanner;
    const test = this.test();
    if (scanner.is(Token.Equal) && this.text.charCodeAt(scanner.end) !== 62) {
      this.habit(scanner.start, scanner.end, "got '=', want ':'", "write == to compare");
      scanner.next();
      this.test();
    }
    return test;
  }

  #for(): Statement {
    this.countNode();
    const scanner = this.scanner;
    const { start } = scanner;
    scanner.next();
    const target = this.loopVariables();
    if (scanner.is(Token.Identifier) && scanner.text === "of") {
      this.habit(scanner.start, scanner.end, "got identifier, want in", "write in");
      scanner.next();
    } else this.consume(Token.In);
    const iterable = this.expression(false);
    const body = this.#suite();
    const end = this.#endOf(body);
    this.#foreignElse();
    return { kind: "ForStatement", target, iterable, body, start, end };
  }

  #while(): Statement {
    this.countNode();
    const { start } = this.scanner;
    this.scanner.next();
    const test = this.#condition();
    const body = this.#suite();
    const end = this.#endOf(body);
    this.#foreignElse();
    return { kind: "WhileStatement", test, body, start, end };
  }

  /** Reports the `else` of a loop. */
  #foreignElse(): void {
    const scanner = this.scanner;
    if (!scanner.is(Token.Else)) return;
    const hint =
      "loops have no else; set found = False before, found = True where you break, and test it after";
    this.habit(scanner.start, scanner.end, "got else, want primary expression", hint);
    scanner.next();
    this.#suite();
  }

  #try(): Statement {
    this.countNode();
    const scanner = this.scanner;
    const { start } = scanner;
    const isKnown = this.dialect.tryExcept === true;
    if (!isKnown) {
      const hint = "there are no exceptions to catch; test before you act, as in d.get(key) and if key in d";
      const message = "got try, want primary expression";
      const end = scanner.end;
      this.problems.add({ code: "STARLARK_NOT_IN_DIALECT", start, end, message, hint });
    }
    scanner.next();
    const body = this.#suite();
    const handlers: ExceptClause[] = [];
    while (scanner.is(Token.Except)) {
      if (handlers.length > 0 && handlers.at(-1)!.types === undefined) {
        const { start: at, end } = scanner;
        const message = "except after an except that catches every error";
        const hint = "put the except without a type last";
        this.problems.add({ code: "STARLARK_SYNTAX", start: at, end, message, hint });
      }
      handlers.push(this.#exceptClause(isKnown));
    }
    let orelse: readonly Statement[] | undefined;
    if (scanner.is(Token.Else) && handlers.length > 0) {
      scanner.next();
      orelse = this.#suite();
    }
    let finalBody: readonly Statement[] | undefined;
    if (scanner.is(Token.Finally)) {
      scanner.next();
      finalBody = this.#suite();
    } else if (handlers.length === 0 && !scanner.is(Token.Illegal)) {
      const { kind, start: at, end } = scanner;
      const isEnd = scanner.isAtEnd;
      this.problems.add({
        code: isEnd ? "STARLARK_UNFINISHED" : "STARLARK_SYNTAX",
        start: at,
        end: isEnd ? at : end,
        message: `got ${describeToken(kind)}, want except or finally`,
        hint: "add except: or finally: below the block of the try, at its indentation",
      });
    }
    const last = finalBody ?? orelse ?? handlers.at(-1)?.body ?? body;
    return { kind: "TryStatement", body, handlers, orelse, finalBody, start, end: this.#endOf(last) };
  }

  #exceptClause(isKnown: boolean): ExceptClause {
    const scanner = this.scanner;
    const { start } = scanner;
    scanner.next();
    let types: ExceptType[] | undefined;
    let name: Identifier | undefined;
    if (!scanner.is(Token.Colon) && !scanner.is(Token.Newline)) {
      types = [];
      if (scanner.is(Token.LeftParen)) {
        scanner.next();
        while (!scanner.is(Token.RightParen)) {
          if (types.length > 0) this.consume(Token.Comma);
          if (!scanner.is(Token.RightParen)) types.push(this.#exceptType(isKnown));
        }
        scanner.next();
      } else {
        types.push(this.#exceptType(isKnown));
        if (scanner.is(Token.Comma)) {
          const hint = `write except (${types[0]!.name}, …):, or except ${types[0]!.name} as e:`;
          this.habit(scanner.start, scanner.end, "got ',', want ':'", hint);
          scanner.next();
          this.#exceptType(false);
        }
      }
      if (scanner.is(Token.As)) {
        scanner.next();
        name = this.identifier();
      }
    }
    const body = this.#suite();
    return { types, name, body, start, end: this.#endOf(body) };
  }

  #exceptType(isKnown: boolean): ExceptType {
    const scanner = this.scanner;
    const { start } = scanner;
    let name = this.identifier().name;
    while (scanner.is(Token.Dot)) {
      scanner.next();
      name += `.${this.identifier().name}`;
    }
    const end = scanner.previousEnd;
    if (isKnown && name !== "Error" && name !== "ToolError") {
      const hint = "write except Error for every error, or except ToolError for those of tools";
      this.habit(start, end, `there is no error type "${name}"`, hint);
    }
    return { name, start, end };
  }

  /** Parses the statements of one line, separated by semicolons. */
  #simpleStatements(statements: Statement[]): void {
    const scanner = this.scanner;
    for (;;) {
      statements.push(this.#simpleStatement());
      if (!scanner.is(Token.Semicolon)) break;
      scanner.next();
      if (scanner.is(Token.Newline) || scanner.is(Token.EndOfFile)) break;
    }
    // The end of the text also ends the last statement.
    if (!scanner.is(Token.EndOfFile)) this.consume(Token.Newline);
  }

  #simpleStatement(): Statement {
    this.countNode();
    const scanner = this.scanner;
    const { kind, start } = scanner;
    switch (kind) {
      case Token.Return: {
        scanner.next();
        const isBare =
          scanner.is(Token.EndOfFile) || scanner.is(Token.Newline) || scanner.is(Token.Semicolon);
        const value = isBare ? undefined : this.expression(false);
        return { kind: "ReturnStatement", value, start, end: scanner.previousEnd };
      }
      case Token.Break:
      case Token.Continue:
      case Token.Pass: {
        scanner.next();
        const word = kind === Token.Break ? "break" : kind === Token.Continue ? "continue" : "pass";
        return { kind: "BranchStatement", word, start, end: scanner.previousEnd };
      }
      case Token.Load:
        return this.#load();
      default:
        return this.#assignmentOrExpression();
    }
  }

  #assignmentOrExpression(): Statement {
    const scanner = this.scanner;
    const { start } = scanner;
    const target = this.expression(false);
    if (scanner.is(Token.Colon) && this.#isAnnotation(target)) this.#skipAnnotation(target);
    const { kind } = scanner;
    if (kind !== Token.Equal && (kind < Token.PlusEqual || kind > Token.GreaterGreaterEqual)) {
      this.#warnOfIncrement(target);
      return { kind: "ExpressionStatement", expression: target, start, end: scanner.previousEnd };
    }
    const operatorStart = scanner.start;
    const operator = tokenText(kind) as AssignOperator;
    scanner.next();
    const value = this.expression(false);
    const end = scanner.previousEnd;
    if (scanner.is(Token.Equal) && this.text.charCodeAt(scanner.end) !== 62) {
      this.#chainedAssignment(target, value);
    }
    return { kind: "AssignStatement", operator, operatorStart, target, value, start, end };
  }

  /** Reports `a = b = c`. */
  #chainedAssignment(target: Expression, second: Expression): void {
    const scanner = this.scanner;
    const { start, end } = scanner;
    const value = restOfLine(this.text, end).replace(/^.*=\s*/, "");
    const [first, middle] = [this.piece(target), this.piece(second)];
    this.habit(start, end, "got '=', want newline", `write ${middle} = ${value}; ${first} = ${middle}`);
    while (scanner.is(Token.Equal)) {
      scanner.next();
      this.expression(false);
    }
  }

  /** Reports `x: int = 1`, but not `x := 1` or a label. */
  #isAnnotation(target: Expression): boolean {
    const { end } = this.scanner;
    if (target.kind !== "Identifier" && target.kind !== "AttributeExpression") return false;
    return /^[ \t]*[\w"'[(]/.test(this.text.slice(end, end + 40));
  }

  #skipAnnotation(target: Expression): void {
    const scanner = this.scanner;
    const { start, end } = scanner;
    const value = /^[^=]*=\s*([^=].*)$/.exec(restOfLine(this.text, end))?.[1];
    const instead =
      value === undefined ? "remove the line, or assign a value" : `write ${this.piece(target)} = ${value}`;
    this.habit(start, end, "got ':', want newline", `types are not declared; ${instead}`);
    scanner.next();
    this.test();
  }

  /** Reports `++x`, which means `+(+x)` and has no effect. */
  #warnOfIncrement(expression: Expression): void {
    if (expression.kind !== "UnaryExpression") return;
    const { operator, operand, start } = expression;
    if (operand.kind !== "UnaryExpression" || operand.operator !== operator || operand.start !== start + 1)
      return;
    if (operator !== "+" && operator !== "-") return;
    this.problems.add({
      severity: "warning",
      code: "STARLARK_PYTHON_HABIT",
      start,
      end: start + 2,
      message: `"${operator}${operator}" changes nothing`,
      hint: `write ${this.piece(operand.operand)} ${operator}= 1`,
    });
  }

  #load(): Statement {
    const scanner = this.scanner;
    const { start } = scanner;
    scanner.next();
    const parenStart = scanner.start;
    this.consume(Token.LeftParen);
    if (!scanner.is(Token.String)) {
      const hint = 'write load("module.star", "name")';
      const advice = { code: "STARLARK_SYNTAX", hint };
      this.fail("first operand of load statement must be a string literal", advice);
    }
    const module = this.stringLiteral();
    const bindings: LoadBinding[] = [];
    while (!scanner.is(Token.RightParen) && !scanner.is(Token.EndOfFile)) {
      this.consume(Token.Comma);
      if (scanner.is(Token.RightParen)) break;
      bindings.push(this.#loadBinding());
    }
    this.consume(Token.RightParen);
    const end = scanner.previousEnd;
    if (bindings.length === 0) {
      const message = "load statement must import at least 1 symbol";
      const hint = `write load(${this.piece(module)}, "name")`;
      this.problems.add({ code: "STARLARK_SYNTAX", start: parenStart, end, message, hint });
    }
    return { kind: "LoadStatement", module, bindings, start, end };
  }

  #loadBinding(): LoadBinding {
    const scanner = this.scanner;
    const { start } = scanner;
    if (scanner.is(Token.String)) {
      const contentStart = scanner.form.contentStart;
      const { value, end } = this.stringLiteral();
      const local: Identifier = {
        kind: "Identifier",
        name: value,
        binding: undefined,
        start: contentStart,
        end: Math.max(contentStart, end - (contentStart - start > 2 ? 3 : 1)),
      };
      return { local, remote: value, remoteStart: contentStart, start, end };
    }
    if (scanner.is(Token.Identifier)) {
      const local = this.identifier();
      if (!scanner.is(Token.Equal)) {
        const form = `"${local.name}" or ${local.name}="originalname"`;
        const hint = `write "${local.name}"`;
        const message = `load operand must be ${form} (want '=' after ${local.name})`;
        this.fail(message, { code: "STARLARK_SYNTAX", hint });
      }
      scanner.next();
      if (!scanner.is(Token.String)) {
        const hint = `write ${local.name}="${scanner.text}"`;
        const message = `original name of loaded symbol must be quoted: ${local.name}="originalname"`;
        this.fail(message, { code: "STARLARK_SYNTAX", hint });
      }
      const remoteStart = scanner.form.contentStart;
      const remote = this.stringLiteral();
      return { local, remote: remote.value, remoteStart, start, end: remote.end };
    }
    const got = describeToken(scanner.kind);
    this.fail(`load operand must be "name" or localname="name" (got ${got})`, undefined);
  }
}

/** Whether a line that starts with `kind` starts a statement, rather than continuing an expression. */
function beginsStatement(kind: TokenKind): boolean {
  switch (kind) {
    case Token.And:
    case Token.Or:
    case Token.Not:
    case Token.In:
    case Token.Is:
    case Token.If:
    case Token.Else:
    case Token.For:
    case Token.Lambda:
      return false;
    default:
      return kind === Token.Identifier || isKeyword(kind);
  }
}
