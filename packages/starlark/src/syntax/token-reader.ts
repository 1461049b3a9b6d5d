/**
 * The base of the parser: the current token, the errors, and the depth of the tree.
 * An error either abandons the statement (`fail` and `unexpected` throw `abandoned`,
 * which the parser catches to recover) or is recorded while parsing continues
 * (`habit`).
 *
 * Trees are at most `programLimits.treeDepth` levels deep, and syntax that the parser
 * parses recursively is nested at most `programLimits.nesting` levels. `level` counts
 * the levels above the current position, `height` those of the last expression.
 * Neither the parser nor the passes after it overflow the stack.
 */

import type { Source } from "@toolcrib/diagnostics";
import type { Dialect } from "../dialect.ts";
import { programLimits } from "../program-limits.ts";
import type { ProblemList } from "./problem-list.ts";
import { type Advice, adviseOnMisfit, quotable } from "./python-habits.ts";
import { Scanner } from "./scanner.ts";
import { describeToken, Token, type TokenKind } from "./token.ts";

/** Thrown to abandon a statement whose error has been recorded; never leaves the parser. */
export const abandoned = new Error("The statement was given up");

export class TokenReader {
  protected readonly text: string;
  protected readonly dialect: Dialect;
  protected readonly problems: ProblemList;
  protected readonly scanner: Scanner;
  /** Levels of the tree above the current position. */
  protected level = 0;
  /** Levels of the last expression. */
  protected height = 1;
  /** Number of statements and expressions so far. */
  #nodeCount = 0;
  /** The current statement: its offset and the kind of its first token. */
  protected statementStart = 0;
  protected statementKind: TokenKind = Token.Newline;

  constructor(source: Source, dialect: Dialect, problems: ProblemList) {
    this.text = source.text;
    this.dialect = dialect;
    this.problems = problems;
    this.scanner = new Scanner(source.text, problems, dialect.fStrings === true);
  }

  /** Records an error at the token and abandons the statement. */
  protected fail(message: string, advice: Advice | undefined): never {
    const { kind, start, end } = this.scanner;
    if (kind !== Token.Illegal) {
      const code = advice?.code ?? "STARLARK_SYNTAX";
      const isUnfinished = code === "STARLARK_SYNTAX" && kind === Token.EndOfFile && this.#canGoOn();
      // A line break is reported as the position at the end of the line.
      const problemEnd = kind === Token.Newline ? start : end;
      this.problems.add({
        code: isUnfinished ? "STARLARK_UNFINISHED" : code,
        start,
        end: problemEnd,
        message,
        hint: advice?.hint,
      });
    }
    throw abandoned;
  }

  /** Whether more lines could complete a statement that is cut off by the end of the text. */
  #canGoOn(): boolean {
    const { brackets, previousKind } = this.scanner;
    return brackets.length > 0 || (previousKind === Token.Colon && this.statementKind >= Token.And);
  }

  /** Reports an unexpected token: `got newline, want ')'`. */
  protected unexpected(want: string): never {
    this.fail(`got ${describeToken(this.scanner.kind)}, want ${want}`, this.advice(want));
  }

  protected advice(want: string): Advice | undefined {
    const { kind, start, end, previousKind, previousStart, previousEnd, brackets } = this.scanner;
    return adviseOnMisfit({
      text: this.text,
      dialect: this.dialect,
      kind,
      start,
      end,
      previousKind,
      previousStart,
      previousEnd,
      want,
      statementStart: this.statementStart,
      statementKind: this.statementKind,
      bracket: brackets.at(-1) ?? -1,
    });
  }

  /** Records syntax of another language, and continues. */
  protected habit(start: number, end: number, message: string, hint: string): void {
    this.problems.add({ code: "STARLARK_PYTHON_HABIT", start, end, message, hint });
  }

  protected consume(kind: TokenKind): void {
    if (!this.scanner.is(kind)) this.unexpected(describeToken(kind));
    this.scanner.next();
  }

  /** Records that the last expression is `levels` deeper than its deepest part, which has `height`. */
  protected grow(height: number, levels = 1): void {
    this.countNode();
    this.height = height + levels;
    if (this.level + this.height > programLimits.treeDepth) this.tooDeep(programLimits.treeDepth);
  }

  /** Enters a level. The caller leaves it. */
  protected descend(): void {
    this.level += 1;
    if (this.level >= programLimits.nesting) this.tooDeep(programLimits.nesting);
  }

  /** Counts a statement or an expression. */
  protected countNode(): void {
    this.#nodeCount += 1;
    if (this.#nodeCount <= programLimits.treeNodes) return;
    const { start, end } = this.scanner;
    const message = `The program has more than ${programLimits.treeNodes} statements and expressions`;
    const hint = "pass large data as an argument";
    this.problems.add({ code: "STARLARK_TOO_LARGE", start, end, message, hint });
    this.problems.stop();
    throw abandoned;
  }

  protected tooDeep(limit: number): never {
    const { start, end } = this.scanner;
    const message = `The program nests deeper than ${limit} levels`;
    const hint = "give parts of it names, and join long lists with join() or a loop";
    this.problems.add({ code: "STARLARK_TOO_DEEP", start, end, message, hint });
    throw abandoned;
  }

  /** The text of an expression, for a hint. */
  protected piece({ start, end }: { readonly start: number; readonly end: number }): string {
    return quotable(this.text, start, end) ?? "…";
  }
}
