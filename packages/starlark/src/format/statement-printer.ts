/**
 * Prints statements as lines. Each statement is on its own line, blocks are indented
 * by four columns, and several empty lines become one. At the top level, one empty
 * line surrounds functions and follows loads.
 *
 * A comment on its own line at the end of a block belongs to the innermost block with
 * at most its indentation.
 */

import type {
  Comment,
  DefStatement,
  ExceptClause,
  Expression,
  File,
  IfStatement,
  LoadBinding,
  LoadStatement,
  Statement,
  TryStatement,
} from "../syntax/ast.ts";
import { type Document, sequence } from "./document.ts";
import { type Element, ExpressionPrinter, textOf } from "./expression-printer.ts";
import { indentWidth, render } from "./render.ts";

/** Thrown when the text becomes too long; never leaves this file. */
const tooLong = new Error("The text became too long");

/** An item with its own lines: a statement, or a comment together with the item below it. */
type ItemKind = "comment" | "load" | "def" | "other";

/** A block that is being printed. */
interface Block {
  readonly indent: number;
  /** Indentation of its first statement in the source. */
  readonly column: number;
  /** Offset of the text after the block. */
  readonly end: number;
  previous: ItemKind | undefined;
  /** Whether the previous line is a comment directly above the next item. */
  isAttached: boolean;
}

/**
 * Prints a file without errors.
 *
 * @returns `undefined` if the text would exceed `maxLength`.
 */
export function printFile(file: File, maxLength: number): string | undefined {
  return new StatementPrinter(file, maxLength).printFile(file);
}

class StatementPrinter extends ExpressionPrinter {
  readonly #maxLength: number;
  readonly #lines: string[] = [];
  #length = 0;

  constructor(file: File, maxLength: number) {
    super(file);
    this.#maxLength = maxLength;
  }

  printFile(file: File): string | undefined {
    try {
      this.#block(file.statements, { indent: 0, column: 0, end: file.end + 1 });
    } catch (error) {
      if (error !== tooLong) throw error;
      return undefined;
    }
    return this.#lines.map((line) => `${line}\n`).join("");
  }

  // Lines.

  #line(indent: number, text: string): void {
    const line = text === "" ? "" : " ".repeat(indent) + text;
    this.#length += line.length + 1;
    if (this.#length > this.#maxLength) throw tooLong;
    this.#lines.push(line);
  }

  /**
   * Prints a statement or the header of one, with the comment on its line.
   *
   * @returns comments that do not fit on that line.
   */
  #lay(document: Document, indent: number, limit: number): readonly string[] {
    const rendered = render(document, indent, this.#maxLength);
    if (rendered === undefined) throw tooLong;
    const comments = [...rendered.endComments];
    const comment = this.comments.peek(limit);
    if (comment !== undefined && !this.comments.isOnOwnLine(comment)) {
      this.comments.take();
      comments.push(textOf(comment));
    }
    const [first, ...others] = comments;
    this.#line(indent, first === undefined ? rendered.text : `${rendered.text}  ${first}`);
    return others;
  }

  // Blocks.

  #block(
    statements: readonly Statement[],
    place: { readonly indent: number; readonly column: number; readonly end: number },
  ): void {
    const block: Block = { ...place, previous: undefined, isAttached: false };
    statements.forEach((statement, index) => {
      this.#ownComments(block, statement.start, kindOf(statement));
      const next = statements[index + 1]?.start ?? block.end;
      this.#separate(block, statement.start, kindOf(statement));
      const further = this.#statement(statement, block.indent, next);
      block.previous = kindOf(statement);
      block.isAttached = false;
      for (const comment of further) {
        if (block.indent === 0 && block.previous === "load") this.#line(0, "");
        this.#line(block.indent, comment);
        block.previous = "comment";
      }
    });
    this.#ownComments(block, block.end, undefined);
  }

  /** Prints the comments before `end` that belong to the block; `next` is the next item in it. */
  #ownComments(block: Block, end: number, next: ItemKind | undefined): void {
    const comments: Comment[] = [];
    for (let comment = this.comments.peek(end); comment !== undefined; comment = this.comments.peek(end)) {
      if (next === undefined && this.comments.column(comment.start) < block.column) break;
      this.comments.take();
      comments.push(comment);
    }
    // Comments directly above a statement belong to it.
    let attachedFrom = comments.length;
    for (let start = end; next !== undefined && attachedFrom > 0; attachedFrom -= 1) {
      if (this.comments.hasBlankBefore(start)) break;
      start = comments[attachedFrom - 1]!.start;
    }
    for (const [index, comment] of comments.entries()) {
      const kind = index < attachedFrom || next === undefined ? "comment" : next;
      this.#separate(block, comment.start, kind);
      this.#line(block.indent, textOf(comment));
      block.previous = kind;
      block.isAttached = kind !== "comment";
    }
  }

  /** Prints an empty line before the next item, if there is one in the source or the layout requires one. */
  #separate(block: Block, start: number, kind: ItemKind): void {
    const { previous, isAttached, indent } = block;
    if (previous === undefined) return;
    const belongs =
      indent === 0 &&
      !isAttached &&
      (previous === "def" || kind === "def" || (previous === "load" && kind !== "load"));
    if (belongs || this.comments.hasBlankBefore(start)) this.#line(0, "");
  }

  /** Prints the block of a header that starts at `headerStart`. */
  #suite(statements: readonly Statement[], indent: number, headerStart: number, end: number): void {
    const first = statements[0]!.start;
    const isBelow = this.comments.isFirstOnLine(first);
    const column = isBelow ? this.comments.column(first) : this.comments.column(headerStart) + 1;
    this.#block(statements, { indent: indent + indentWidth, column, end });
  }

  /** Prints a header, its comment and its block. `next` is the offset of the text after the block. */
  #compound(
    header: Document,
    statements: readonly Statement[],
    place: { readonly indent: number; readonly start: number; readonly end: number },
  ): void {
    const { indent, start, end } = place;
    const further = this.#lay(sequence([header, ":"]), indent, statements[0]!.start);
    for (const comment of further) this.#line(indent + indentWidth, comment);
    this.#suite(statements, indent, start, end);
  }

  /** Prints the comments before a clause such as `else`, at its indentation. */
  #beforeClause(start: number, indent: number): void {
    const { trailing, own } = this.comments.gap(start);
    for (const comment of [...trailing, ...own]) this.#line(indent, textOf(comment));
  }

  // Statements.

  /**
   * Prints a statement. `next` is the offset of the text after the statement.
   *
   * @returns comments to print below it.
   */
  #statement(statement: Statement, indent: number, next: number): readonly string[] {
    const { start } = statement;
    switch (statement.kind) {
      case "ExpressionStatement":
        return this.#lay(this.expression(statement.expression), indent, next);
      case "AssignStatement": {
        const { target, operator, value } = statement;
        const left = this.expression(target);
        return this.#lay(sequence([left, ` ${operator} `, this.expression(value)]), indent, next);
      }
      case "ReturnStatement": {
        const { value } = statement;
        return this.#lay(value === undefined ? "return" : this.#worded("return ", value), indent, next);
      }
      case "BranchStatement":
        return this.#lay(statement.word, indent, next);
      case "LoadStatement":
        return this.#lay(this.#load(statement), indent, next);
      case "DefStatement":
        this.#compound(this.#defHeader(statement), statement.body, { indent, start, end: next });
        break;
      case "ForStatement": {
        const target = this.expression(statement.target);
        const header = sequence(["for ", target, " in ", this.expression(statement.iterable)]);
        this.#compound(header, statement.body, { indent, start, end: next });
        break;
      }
      case "WhileStatement":
        this.#compound(this.#worded("while ", statement.test), statement.body, { indent, start, end: next });
        break;
      case "IfStatement":
        this.#if(statement, indent, next);
        break;
      case "TryStatement":
        this.#try(statement, indent, next);
    }
    return [];
  }

  #worded(word: string, expression: Expression): Document {
    return sequence([word, this.expression(expression)]);
  }

  #if({ branches, orelse }: IfStatement, indent: number, next: number): void {
    const lastBody = branches.at(-1)!.body;
    const elseStart = orelse === undefined ? next : this.#clauseStart(lastBody);
    branches.forEach(({ test, body, start }, index) => {
      this.#beforeClause(start, indent);
      const end = branches[index + 1]?.start ?? elseStart;
      this.#compound(this.#worded(index === 0 ? "if " : "elif ", test), body, { indent, start, end });
    });
    if (orelse === undefined) return;
    this.#clause("else", orelse, { indent, start: elseStart, end: next });
  }

  #try({ body, handlers, orelse, finalBody, start }: TryStatement, indent: number, next: number): void {
    const beforeElse = handlers.at(-1)?.body ?? body;
    const elseStart = orelse === undefined ? undefined : this.#clauseStart(beforeElse);
    const finalStart = finalBody === undefined ? undefined : this.#clauseStart(orelse ?? beforeElse);
    const handlersEnd = elseStart ?? finalStart ?? next;
    this.#compound("try", body, { indent, start, end: handlers[0]?.start ?? handlersEnd });
    handlers.forEach((handler, index) => {
      this.#beforeClause(handler.start, indent);
      const end = handlers[index + 1]?.start ?? handlersEnd;
      this.#compound(this.#exceptHeader(handler), handler.body, { indent, start: handler.start, end });
    });
    if (orelse !== undefined) {
      this.#clause("else", orelse, { indent, start: elseStart!, end: finalStart ?? next });
    }
    if (finalBody !== undefined)
      this.#clause("finally", finalBody, { indent, start: finalStart!, end: next });
  }

  #clause(
    word: string,
    statements: readonly Statement[],
    place: { readonly indent: number; readonly start: number; readonly end: number },
  ): void {
    this.#beforeClause(place.start, place.indent);
    this.#compound(word, statements, place);
  }

  /** The offset of the `else` or `finally` after a block. */
  #clauseStart(before: readonly Statement[]): number {
    return this.comments.nextToken(before.at(-1)!.end, ";");
  }

  // Headers.

  #defHeader({ name, parameters }: DefStatement): Document {
    const openStart = this.comments.nextToken(name.end);
    const closeStart = this.comments.nextToken(parameters.at(-1)?.end ?? openStart + 1, ",");
    const elements = parameters.map((parameter): Element => {
      const { start, end } = parameter;
      return { start, end, print: () => this.parameter(parameter) };
    });
    const list = this.bracketed({ open: "(", openStart, elements, close: ")", closeStart });
    return sequence([`def ${name.name}`, list]);
  }

  #exceptHeader({ types, name, start }: ExceptClause): Document {
    const parts: Document[] = ["except"];
    if (types !== undefined) {
      parts.push(" ");
      const openStart = this.comments.nextToken(start + "except".length);
      const [only] = types;
      if (types.length === 1 && only !== undefined) parts.push(only.name);
      else {
        const elements = types.map((type): Element => {
          return { start: type.start, end: type.end, print: () => type.name };
        });
        const closeStart = this.comments.nextToken(types.at(-1)?.end ?? openStart + 1, ",");
        parts.push(this.bracketed({ open: "(", openStart, elements, close: ")", closeStart }));
      }
    }
    if (name !== undefined) parts.push(` as ${name.name}`);
    return sequence(parts);
  }

  #load({ module, bindings, start, end }: LoadStatement): Document {
    const openStart = this.comments.nextToken(start + "load".length);
    const elements: Element[] = [
      { start: module.start, end: module.end, print: () => this.expression(module) },
      ...bindings.map((binding): Element => {
        return { start: binding.start, end: binding.end, print: () => this.#loadBinding(binding) };
      }),
    ];
    const list = this.bracketed({ open: "(", openStart, elements, close: ")", closeStart: end - 1 });
    return sequence(["load", list]);
  }

  #loadBinding({ local, remoteStart, start, end }: LoadBinding): Document {
    if (local.start !== start) return this.raw(start, end);
    const literalStart = this.#literalStart(remoteStart);
    return sequence([`${local.name}=`, this.raw(literalStart, end)]);
  }

  /** The start of the literal whose content starts at `contentStart`. */
  #literalStart(contentStart: number): number {
    const quotes = this.text.slice(Math.max(0, contentStart - 3), contentStart);
    const start = contentStart - (quotes === '"""' || quotes === "'''" ? 3 : 1);
    return this.text[start - 1] === "r" ? start - 1 : start;
  }
}

function kindOf({ kind }: Statement): ItemKind {
  if (kind === "DefStatement") return "def";
  return kind === "LoadStatement" ? "load" : "other";
}
