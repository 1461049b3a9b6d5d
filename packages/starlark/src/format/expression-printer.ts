/**
 * Prints expressions as documents, in the order of the text, and places comments on
 * the way. Comments between elements in brackets, before operators and before clauses
 * of comprehensions stay there and break the enclosing group; others move to the end
 * of the line.
 *
 * Literals keep their spelling, parentheses are kept, and the output parses to the
 * same tree.
 */

import type {
  Argument,
  BinaryExpression,
  Comment,
  Comprehension,
  ConditionalExpression,
  DictEntry,
  Expression,
  File,
  LambdaExpression,
  Parameter,
  SliceExpression,
  TupleExpression,
} from "../syntax/ast.ts";
import { CommentCursor } from "./comment-cursor.ts";
import {
  closingBreak,
  type Document,
  danglingComment,
  endComment,
  group,
  hardBreak,
  indented,
  isBroken,
  lastComma,
  sequence,
  softBreak,
  spaceBreak,
  withBlank,
} from "./document.ts";

/** An element in brackets. */
export interface Element {
  readonly start: number;
  readonly end: number;
  print(): Document;
}

/** Brackets and their content. */
interface Bracketed {
  readonly open: string;
  /** Offset of the opening bracket. */
  readonly openStart: number;
  readonly elements: readonly Element[];
  readonly close: string;
  /** Offset of the closing bracket. */
  readonly closeStart: number;
  /** The document after the last element. @default a comma, if the closing bracket is on its own line */
  readonly last?: Document;
  /** Whether only the width decides about breaks. @default false: a line break after the opening bracket is kept */
  readonly byWidth?: boolean;
}

/** Precedences of binary operators. A chain of operators of one precedence breaks as a whole. */
const precedences: { readonly [Operator in BinaryExpression["operator"]]: number } = {
  or: 0,
  and: 1,
  "==": 3,
  "!=": 3,
  "<": 3,
  ">": 3,
  "<=": 3,
  ">=": 3,
  in: 3,
  "not in": 3,
  "|": 4,
  "^": 5,
  "&": 6,
  "<<": 7,
  ">>": 7,
  "+": 8,
  "-": 8,
  "*": 9,
  "%": 9,
  "/": 9,
  "//": 9,
};

export class ExpressionPrinter {
  protected readonly text: string;
  protected readonly comments: CommentCursor;
  /** Number of enclosing brackets; lines can break only within brackets. */
  #brackets = 0;

  constructor(file: File) {
    this.text = file.source.text;
    this.comments = new CommentCursor(file);
  }

  /** The text of a literal, with line breaks normalized to line feeds. */
  protected raw(start: number, end: number): string {
    return this.text.slice(start, end).replaceAll(/\r\n?/g, "\n");
  }

  /** Prints an expression. Its lines are indented, except within its own brackets. */
  protected expression(expression: Expression): Document {
    switch (expression.kind) {
      case "BinaryExpression":
      case "ConditionalExpression":
        break;
      case "TupleExpression":
        if (!expression.parenthesised) break;
        return this.#content(expression, inPlace);
      default:
        return this.#content(expression, inPlace);
    }
    // Without enclosing brackets, it breaks only within its own brackets.
    return this.#brackets === 0
      ? this.#content(expression, inPlace)
      : group(this.#content(expression, indented));
  }

  /**
   * Prints an expression that is the whole content of a bracket; `further` is applied
   * to the lines after its first operand.
   */
  #content(expression: Expression, further: (rest: Document) => Document): Document {
    switch (expression.kind) {
      case "Identifier":
        return this.#word(expression.start, expression.name);
      case "IntLiteral":
      case "FloatLiteral":
      case "StringLiteral":
      case "BytesLiteral":
        return this.#word(expression.start, this.raw(expression.start, expression.end));
      case "FString": {
        const word = this.#word(expression.start, this.raw(expression.start, expression.end));
        this.comments.skip(expression.end);
        return word;
      }
      case "ListExpression":
        return this.#elements("[", expression.start, expression.elements, "]", expression.end - 1);
      case "TupleExpression":
        return this.#tuple(expression, further);
      case "DictExpression": {
        const { start, end, entries } = expression;
        const elements = entries.map((entry) => this.#entryElement(entry));
        return this.bracketed({ open: "{", openStart: start, elements, close: "}", closeStart: end - 1 });
      }
      case "Comprehension":
        return this.#comprehension(expression);
      case "UnaryExpression": {
        const { operator, operand, start } = expression;
        const word = this.#word(start, operator === "not" ? "not " : operator);
        return sequence([word, this.expression(operand)]);
      }
      case "BinaryExpression":
        return this.#binary(expression, further);
      case "ConditionalExpression":
        return this.#conditional(expression, further);
      case "LambdaExpression":
        return this.#lambda(expression);
      case "CallExpression": {
        const { callee, parenStart, args, end } = expression;
        return sequence([this.expression(callee), this.#arguments(parenStart, args, end - 1)]);
      }
      case "AttributeExpression": {
        const { object, name, nameStart } = expression;
        const before = this.expression(object);
        // "1.x" would start with a float.
        const space = object.kind === "IntLiteral" ? " " : "";
        return sequence([before, this.#word(nameStart, `${space}.${name}`)]);
      }
      case "IndexExpression": {
        const { object, bracketStart, index, end } = expression;
        const before = this.expression(object);
        const element: Element = { ...spanOf(index), print: () => this.#content(index, inPlace) };
        return sequence([before, this.#enclosed("[", bracketStart, element, "]", end - 1)]);
      }
      case "SliceExpression":
        return this.#slice(expression);
      case "ParenExpression": {
        const { expression: inner, start, end } = expression;
        const element: Element = { ...spanOf(inner), print: () => this.#content(inner, inPlace) };
        return this.#enclosed("(", start, element, ")", end - 1);
      }
    }
  }

  /** A text, with the comments before it placed at the end of its line. */
  #word(start: number, text: string): Document {
    if (this.comments.peek(start) === undefined) return text;
    const { trailing, own } = this.comments.gap(start);
    return sequence([...[...trailing, ...own].map((comment) => danglingComment(textOf(comment))), text]);
  }

  /** A break between operands, if there are enclosing brackets. */
  #between(end: number): readonly Document[] {
    if (this.#brackets === 0) return [" "];
    const { trailing, own } = this.comments.gap(end);
    return [
      ...trailing.map(commentEnd),
      ...own.flatMap((comment) => [hardBreak, textOf(comment)]),
      own.length > 0 ? hardBreak : spaceBreak,
    ];
  }

  // Operators.

  /** Prints a chain of operators of one precedence: all on one line, or each on its own. */
  #binary(expression: BinaryExpression, further: (rest: Document) => Document): Document {
    const links: BinaryExpression[] = [];
    const precedence = precedences[expression.operator];
    let first: Expression = expression;
    while (first.kind === "BinaryExpression" && precedences[first.operator] === precedence) {
      links.push(first);
      first = first.left;
    }
    const before = this.expression(first);
    const rest: Document[] = [];
    for (const { operator, right } of links.toReversed()) {
      rest.push(...this.#between(right.start), `${operator} `, this.expression(right));
    }
    return sequence([before, further(sequence(rest))]);
  }

  #conditional(
    { body, test, orelse }: ConditionalExpression,
    further: (rest: Document) => Document,
  ): Document {
    const before = this.expression(body);
    const rest = [
      ...this.#between(test.start),
      "if ",
      this.expression(test),
      ...this.#between(orelse.start),
      "else ",
      this.expression(orelse),
    ];
    return sequence([before, further(sequence(rest))]);
  }

  #lambda({ parameters, body, start }: LambdaExpression): Document {
    const parts: Document[] = [this.#word(start, "lambda")];
    parameters.forEach((parameter, index) => {
      parts.push(index === 0 ? " " : ", ", this.parameter(parameter));
    });
    parts.push(": ", this.expression(body));
    return sequence(parts);
  }

  // Brackets.

  #elements(
    open: string,
    openStart: number,
    expressions: readonly Expression[],
    close: string,
    closeStart: number,
    last?: Document,
  ): Document {
    const elements = expressions.map((expression) => this.#element(expression));
    return this.bracketed({ open, openStart, elements, close, closeStart, last });
  }

  #element(expression: Expression): Element {
    return { ...spanOf(expression), print: () => this.expression(expression) };
  }

  #entryElement(entry: DictEntry): Element {
    return { ...spanOf(entry), print: () => this.#entry(entry) };
  }

  #entry({ key, value }: DictEntry): Document {
    return sequence([this.expression(key), ": ", this.expression(value)]);
  }

  #tuple(
    { elements, parenthesised, start, end }: TupleExpression,
    further: (rest: Document) => Document,
  ): Document {
    if (parenthesised) {
      return this.#elements("(", start, elements, ")", end - 1, elements.length === 1 ? "," : undefined);
    }
    const [first, ...others] = elements;
    const before = this.expression(first!);
    const rest: Document[] = [];
    for (const element of others) rest.push(",", ...this.#between(element.start), this.expression(element));
    return sequence([before, further(sequence(rest)), others.length === 0 ? "," : ""]);
  }

  #comprehension({ body, clauses, start, end }: Comprehension): Document {
    const isDict = body.kind === "DictEntry";
    const print = (): Document => {
      const parts: Document[] = [isDict ? this.#entry(body) : this.expression(body)];
      for (const clause of clauses) {
        parts.push(...this.#between(clause.start));
        if (clause.kind === "ForClause") {
          const target = this.expression(clause.target);
          parts.push("for ", target, " in ", this.expression(clause.iterable));
        } else parts.push("if ", this.expression(clause.test));
      }
      return sequence(parts);
    };
    const element: Element = { ...spanOf(body), end: clauses.at(-1)!.end, print };
    const [open, close] = isDict ? ["{", "}"] : ["[", "]"];
    return this.bracketed({
      open,
      openStart: start,
      elements: [element],
      close,
      closeStart: end - 1,
      last: "",
    });
  }

  #slice({ object, bracketStart, low, high, step, end }: SliceExpression): Document {
    const before = this.expression(object);
    const print = (): Document => {
      const parts: Document[] = [];
      if (low !== undefined) parts.push(this.expression(low));
      parts.push(":");
      if (high !== undefined) parts.push(this.expression(high));
      if (step !== undefined) parts.push(":", this.expression(step));
      return sequence(parts);
    };
    const start = low?.start ?? this.comments.nextToken(bracketStart + 1);
    const element: Element = { start, end: end - 1, print };
    return sequence([before, this.#enclosed("[", bracketStart, element, "]", end - 1)]);
  }

  /** Prints brackets around one expression, which break if the line would be too long. */
  #enclosed(open: string, openStart: number, element: Element, close: string, closeStart: number): Document {
    return this.bracketed({
      open,
      openStart,
      elements: [element],
      close,
      closeStart,
      last: "",
      byWidth: true,
    });
  }

  #arguments(parenStart: number, args: readonly Argument[], closeStart: number): Document {
    const only = args.length === 1 ? args[0]! : undefined;
    if (only?.kind === "positional" && this.#isEmbraced(only.value, parenStart, closeStart)) {
      // The brackets of the argument serve as those of the call.
      this.#brackets += 1;
      const value = this.expression(only.value);
      this.#brackets -= 1;
      return sequence(["(", value, ")"]);
    }
    const elements = args.map((argument): Element => {
      return { ...spanOf(argument), print: () => this.#argument(argument) };
    });
    return this.bracketed({ open: "(", openStart: parenStart, elements, close: ")", closeStart });
  }

  /** Whether an argument has its own brackets, with only white space between them and those of the call. */
  #isEmbraced(value: Expression, parenStart: number, closeStart: number): boolean {
    switch (value.kind) {
      case "ListExpression":
      case "DictExpression":
      case "Comprehension":
        break;
      case "TupleExpression":
        if (!value.parenthesised) return false;
        break;
      default:
        return false;
    }
    const around = this.text.slice(parenStart + 1, value.start) + this.text.slice(value.end, closeStart);
    return /^[\s,\\]*$/.test(around);
  }

  #argument({ kind, name, value }: Argument): Document {
    switch (kind) {
      case "positional":
        return this.expression(value);
      case "named":
        return sequence([this.#word(name!.start, `${name!.name}=`), this.expression(value)]);
      case "star":
        return sequence(["*", this.expression(value)]);
      case "doubleStar":
        return sequence(["**", this.expression(value)]);
    }
  }

  /** Prints a parameter of a function. */
  protected parameter({ kind, name, value, start }: Parameter): Document {
    const stars = kind === "star" ? "*" : kind === "doubleStar" ? "**" : "";
    const word = this.#word(name?.start ?? start, `${stars}${name?.name ?? ""}`);
    return value === undefined ? word : sequence([word, "=", this.expression(value)]);
  }

  /** Prints brackets and their elements: all on one line, or each on its own. */
  protected bracketed(brackets: Bracketed): Document {
    const { open, openStart, elements, close, closeStart, last = lastComma, byWidth = false } = brackets;
    const first = elements[0];
    const before = this.#word(openStart, open);
    this.#brackets += 1;
    const inside =
      first === undefined ? this.#emptyInside(closeStart) : this.#inside(elements, closeStart, last);
    this.#brackets -= 1;
    const mustBreak =
      !byWidth && first !== undefined && this.comments.hasLineBreak(openStart + 1, first.start);
    const parts =
      first === undefined && !isBroken(inside) ? [inside, close] : [indented(inside), closingBreak, close];
    // Comments before the bracket do not break it.
    return sequence([before, group(sequence(parts), mustBreak)]);
  }

  #emptyInside(closeStart: number): Document {
    const { trailing, own } = this.comments.gap(closeStart);
    return sequence([...trailing.map(commentEnd), ...own.flatMap((comment) => this.#ownLine(comment, true))]);
  }

  #inside(elements: readonly Element[], closeStart: number, last: Document): Document {
    const parts: Document[] = [];
    let gap = this.comments.gap(elements[0]!.start);
    elements.forEach((element, index) => {
      const isFirst = index === 0;
      parts.push(...gap.trailing.map(commentEnd));
      for (const [at, comment] of gap.own.entries()) {
        parts.push(...this.#ownLine(comment, isFirst && at === 0));
      }
      const lineBreak = gap.own.length > 0 ? hardBreak : isFirst ? softBreak : spaceBreak;
      const isAtStart = isFirst && gap.own.length === 0;
      parts.push(withBlank(lineBreak, !isAtStart && this.comments.hasBlankBefore(element.start)));
      parts.push(element.print());
      const isLast = index === elements.length - 1;
      parts.push(isLast ? last : ",");
      gap = this.comments.gap(isLast ? closeStart : elements[index + 1]!.start);
    });
    parts.push(...gap.trailing.map(commentEnd));
    for (const comment of gap.own) parts.push(...this.#ownLine(comment, false));
    return sequence(parts);
  }

  /** Prints a comment on its own line, with the empty line before it unless it is the first in its brackets. */
  #ownLine(comment: Comment, isFirst: boolean): readonly Document[] {
    const blank = !isFirst && this.comments.hasBlankBefore(comment.start);
    return [withBlank(hardBreak, blank), textOf(comment)];
  }
}

/** Prints lines without an indentation of their own. */
function inPlace(rest: Document): Document {
  return rest;
}

function spanOf({ start, end }: { readonly start: number; readonly end: number }): {
  start: number;
  end: number;
} {
  return { start, end };
}

/** Prints the text of a comment. */
export function textOf({ text }: Comment): string {
  return text.trimEnd();
}

function commentEnd(comment: Comment): Document {
  return endComment(textOf(comment));
}
