/**
 * What every part of the parser stands on: the current token, the errors, and the
 * levels of the tree. An error either gives up the statement (`fail`, `unexpected`
 * throw `abandoned`, which the parser catches where it goes on) or is recorded
 * while reading goes on (`habit`).
 *
 * Trees are at most `programLimits.treeDepth` levels deep, and what makes the parser call
 * itself nests at most `programLimits.nesting` levels: `level` counts the levels above what
 * is being read, `height` those of the expression that was read last. So neither
 * the parser nor the passes after it run out of stack, whatever they are fed.
 */

import type { Source } from "@toolcrib/diagnostics";
import type { Dialect } from "../dialect.ts";
import { programLimits } from "../program-limits.ts";
import type { ProblemList } from "./problem-list.ts";
import { type Advice, adviseOnMisfit, quotable } from "./python-habits.ts";
import { Scanner } from "./scanner.ts";
import { describeToken, Token, type TokenKind } from "./token.ts";

/** Thrown to give up a statement whose error has been recorded; never leaves the parser. */
export const abandoned = new Error("The statement was given up");

export class TokenReader {
  protected readonly text: string;
  protected readonly dialect: Dialect;
  protected readonly problems: ProblemList;
  protected readonly scanner: Scanner;
  /** Levels of the tree above what is being read. */
  protected level = 0;
  /** Levels of the expression that was read last. */
  protected height = 1;
  /** Statements and expressions so far. */
  #nodeCount = 0;
  /** The statement being read: its offset and first token. */
  protected statementStart = 0;
  protected statementKind: TokenKind = Token.Newline;

  constructor(source: Source, dialect: Dialect, problems: ProblemList) {
    this.text = source.text;
    this.dialect = dialect;
    this.problems = problems;
    this.scanner = new Scanner(source.text, problems, dialect.fStrings === true);
  }

  /** Record an error at the token and give up the statement. */
  protected fail(message: string, advice: Advice | undefined): never {
    const { kind, start, end } = this.scanner;
    if (kind !== Token.Illegal) {
      const code = advice?.code ?? "STARLARK_SYNTAX";
      const isUnfinished = code === "STARLARK_SYNTAX" && kind === Token.EndOfFile && this.#canGoOn();
      // A line break is shown as the place after the line.
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

  /** Whether more lines could complete a statement that the end of the text cuts off. */
  #canGoOn(): boolean {
    const { brackets, previousKind } = this.scanner;
    return brackets.length > 0 || (previousKind === Token.Colon && this.statementKind >= Token.And);
  }

  /** The token does not fit: `got newline, want ')'`. */
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

  /** Record what another language writes differently, and go on. */
  protected habit(start: number, end: number, message: string, hint: string): void {
    this.problems.add({ code: "STARLARK_PYTHON_HABIT", start, end, message, hint });
  }

  protected consume(kind: TokenKind): void {
    if (!this.scanner.is(kind)) this.unexpected(describeToken(kind));
    this.scanner.next();
  }

  /** The expression that was read last stands `levels` deeper than its deepest part, which has `height`. */
  protected grow(height: number, levels = 1): void {
    this.countNode();
    this.height = height + levels;
    if (this.level + this.height > programLimits.treeDepth) this.tooDeep(programLimits.treeDepth);
  }

  /** One level down; the caller comes up again. */
  protected descend(): void {
    this.level += 1;
    if (this.level >= programLimits.nesting) this.tooDeep(programLimits.nesting);
  }

  /** One more statement or expression. */
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

  /** The text of an expression for a hint. */
  protected piece({ start, end }: { readonly start: number; readonly end: number }): string {
    return quotable(this.text, start, end) ?? "…";
  }
}
