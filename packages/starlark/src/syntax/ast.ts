/**
 * The syntax tree. Every node has a range of the source as UTF-16 offsets (`end` is
 * exclusive). Nodes are data: the parser creates them, the resolver sets `binding`
 * and `scope`, and nothing else changes them.
 *
 * The parser limits trees to `programLimits.treeDepth` levels, so that passes over
 * them can recurse.
 */

import type { Source, Span } from "@toolcrib/diagnostics";
import type { Binding, Scope } from "../resolve/binding.ts";

/** A parsed file. */
export interface File extends Span {
  readonly kind: "File";
  readonly source: Source;
  readonly statements: readonly Statement[];
  /** All comments in order, for the formatter. */
  readonly comments: readonly Comment[];
  /** Set by the resolver: the file's own locals (comprehension variables, loads) and cells. */
  scope?: Scope;
  /** Set by the resolver: its globals, by index. */
  globals?: readonly Binding[];
}

/** A `#` comment, without its line break. */
export interface Comment extends Span {
  readonly text: string;
}

/** One statement; a suite is a list of them. */
export type Statement =
  | ExpressionStatement
  | AssignStatement
  | DefStatement
  | IfStatement
  | ForStatement
  | WhileStatement
  | ReturnStatement
  | BranchStatement
  | LoadStatement
  | TryStatement;

/** An expression that is evaluated for its effect, such as a call. */
export interface ExpressionStatement extends Span {
  readonly kind: "ExpressionStatement";
  readonly expression: Expression;
}

/** `target = value` and augmented assignments. */
export interface AssignStatement extends Span {
  readonly kind: "AssignStatement";
  readonly operator: AssignOperator;
  /** Offset of the operator. */
  readonly operatorStart: number;
  readonly target: Expression;
  readonly value: Expression;
}

/** The operator of an assignment. */
export type AssignOperator = "=" | `${ArithmeticOperator}=`;

/** `def name(parameters): body` */
export interface DefStatement extends Span {
  readonly kind: "DefStatement";
  readonly name: Identifier;
  readonly parameters: readonly Parameter[];
  readonly body: readonly Statement[];
  scope?: Scope;
}

/** A parameter of a function: `x`, `x=1`, `*`, `*args`, `**kwargs`. */
export interface Parameter extends Span {
  /** `star` without a name is the bare `*` that separates keyword-only parameters. */
  readonly kind: "required" | "optional" | "star" | "doubleStar";
  readonly name?: Identifier;
  /** The default of an `optional` parameter. */
  readonly value?: Expression;
}

/** `if`, any number of `elif`, and `else`. The branches are a flat list, so a long chain is not deep. */
export interface IfStatement extends Span {
  readonly kind: "IfStatement";
  readonly branches: readonly IfBranch[];
  readonly orelse?: readonly Statement[];
}

/** A branch of `if` or `elif`, including its body. */
export interface IfBranch extends Span {
  readonly test: Expression;
  readonly body: readonly Statement[];
}

/** `for target in iterable: body` */
export interface ForStatement extends Span {
  readonly kind: "ForStatement";
  readonly target: Expression;
  readonly iterable: Expression;
  readonly body: readonly Statement[];
}

/** `while test: body` */
export interface WhileStatement extends Span {
  readonly kind: "WhileStatement";
  readonly test: Expression;
  readonly body: readonly Statement[];
}

/** `return`, with or without a value. */
export interface ReturnStatement extends Span {
  readonly kind: "ReturnStatement";
  readonly value?: Expression;
}

/** `break`, `continue` or `pass`. */
export interface BranchStatement extends Span {
  readonly kind: "BranchStatement";
  readonly word: "break" | "continue" | "pass";
}

/** `load(module, "name", local="name")` */
export interface LoadStatement extends Span {
  readonly kind: "LoadStatement";
  readonly module: StringLiteral;
  readonly bindings: readonly LoadBinding[];
}

/** `local = "remote"`; both names are the same for a plain `"name"`. */
export interface LoadBinding extends Span {
  readonly local: Identifier;
  readonly remote: string;
  readonly remoteStart: number;
}

/** Tool dialect only. */
export interface TryStatement extends Span {
  readonly kind: "TryStatement";
  readonly body: readonly Statement[];
  readonly handlers: readonly ExceptClause[];
  readonly orelse?: readonly Statement[];
  readonly finalBody?: readonly Statement[];
}

/** `except`, `except Type` or `except (A, B) as name`. Without types, it catches every error that can be caught. */
export interface ExceptClause extends Span {
  readonly types?: readonly ExceptType[];
  readonly name?: Identifier;
  readonly body: readonly Statement[];
}

/** An error type: `Error` or `ToolError`. */
export interface ExceptType extends Span {
  readonly name: string;
}

/** An expression. */
export type Expression =
  | Identifier
  | IntLiteral
  | FloatLiteral
  | StringLiteral
  | BytesLiteral
  | FString
  | ListExpression
  | TupleExpression
  | DictExpression
  | Comprehension
  | UnaryExpression
  | BinaryExpression
  | ConditionalExpression
  | LambdaExpression
  | CallExpression
  | AttributeExpression
  | IndexExpression
  | SliceExpression
  | ParenExpression;

/** A name, including `None`, `True` and `False`, which are universal names. */
export interface Identifier extends Span {
  readonly kind: "Identifier";
  readonly name: string;
  /** Set by the resolver. Absent for an undefined name, which has a diagnostic. */
  binding?: Binding;
}

/** An int literal of any base. */
export interface IntLiteral extends Span {
  readonly kind: "IntLiteral";
  /** A number if it is a safe integer, otherwise a bigint. */
  readonly value: number | bigint;
}

/** A float literal; always finite. */
export interface FloatLiteral extends Span {
  readonly kind: "FloatLiteral";
  readonly value: number;
}

/** A string literal; `value` has its escape sequences replaced. */
export interface StringLiteral extends Span {
  readonly kind: "StringLiteral";
  readonly value: string;
}

/** `b"…"`; `value` is its text in UTF-8, with escape sequences replaced. */
export interface BytesLiteral extends Span {
  readonly kind: "BytesLiteral";
  readonly value: Uint8Array;
}

/** Tool dialect only: `f"…{expression!r:spec}…"`. */
export interface FString extends Span {
  readonly kind: "FString";
  readonly parts: readonly (string | FStringField)[];
}

/** `{expression}` of an f-string, including the braces. */
export interface FStringField extends Span {
  readonly expression: Expression;
  /** `!r`, `!s`, or absent. */
  readonly conversion?: "r" | "s";
  /** The text after `:`: a format specification such as `>10` or `.2f`, which the parser has checked. */
  readonly spec?: string;
}

/** `[a, b]` */
export interface ListExpression extends Span {
  readonly kind: "ListExpression";
  readonly elements: readonly Expression[];
}

/** A tuple with or without parentheses. Its parentheses are part of it, without a `ParenExpression`. */
export interface TupleExpression extends Span {
  readonly kind: "TupleExpression";
  readonly elements: readonly Expression[];
  readonly parenthesised: boolean;
}

/** `{a: b}` */
export interface DictExpression extends Span {
  readonly kind: "DictExpression";
  readonly entries: readonly DictEntry[];
}

/** `key: value` */
export interface DictEntry extends Span {
  readonly kind: "DictEntry";
  readonly key: Expression;
  readonly colonStart: number;
  readonly value: Expression;
}

/** `[body for …]` or `{key: value for …}`. */
export interface Comprehension extends Span {
  readonly kind: "Comprehension";
  /** A `DictEntry` makes a dict, any other expression a list. */
  readonly body: Expression | DictEntry;
  /** The first one is a `ForClause`. */
  readonly clauses: readonly (ForClause | IfClause)[];
}

/** `for target in iterable` in a comprehension. */
export interface ForClause extends Span {
  readonly kind: "ForClause";
  readonly target: Expression;
  readonly iterable: Expression;
}

/** `if test` in a comprehension. */
export interface IfClause extends Span {
  readonly kind: "IfClause";
  readonly test: Expression;
}

/** `-x`, `not x` */
export interface UnaryExpression extends Span {
  readonly kind: "UnaryExpression";
  readonly operator: UnaryOperator;
  readonly operand: Expression;
}

/** Unary operators. */
export type UnaryOperator = "+" | "-" | "~" | "not";

/** `left operator right` */
export interface BinaryExpression extends Span {
  readonly kind: "BinaryExpression";
  readonly operator: BinaryOperator;
  readonly operatorStart: number;
  readonly left: Expression;
  readonly right: Expression;
}

/** Operators that can be combined with `=`. */
export type ArithmeticOperator = "+" | "-" | "*" | "/" | "//" | "%" | "&" | "|" | "^" | "<<" | ">>";
/** Comparison operators, which do not associate. */
export type ComparisonOperator = "==" | "!=" | "<" | ">" | "<=" | ">=";
/** Binary operators. */
export type BinaryOperator = ArithmeticOperator | ComparisonOperator | "in" | "not in" | "and" | "or";

/** `body if test else orelse`. */
export interface ConditionalExpression extends Span {
  readonly kind: "ConditionalExpression";
  readonly test: Expression;
  readonly body: Expression;
  readonly orelse: Expression;
}

/** `lambda parameters: body` */
export interface LambdaExpression extends Span {
  readonly kind: "LambdaExpression";
  readonly parameters: readonly Parameter[];
  readonly body: Expression;
  scope?: Scope;
}

/** `callee(args)` */
export interface CallExpression extends Span {
  readonly kind: "CallExpression";
  readonly callee: Expression;
  /** Offset of the opening parenthesis, at which errors of the call are reported. */
  readonly parenStart: number;
  readonly args: readonly Argument[];
}

/** `x`, `name=x`, `*x` or `**x` of a call. */
export interface Argument extends Span {
  readonly kind: "positional" | "named" | "star" | "doubleStar";
  /** The name of a `named` argument. */
  readonly name?: Identifier;
  readonly value: Expression;
}

/** `object.name` */
export interface AttributeExpression extends Span {
  readonly kind: "AttributeExpression";
  readonly object: Expression;
  readonly dotStart: number;
  readonly name: string;
  readonly nameStart: number;
}

/** `object[index]` */
export interface IndexExpression extends Span {
  readonly kind: "IndexExpression";
  readonly object: Expression;
  readonly bracketStart: number;
  readonly index: Expression;
}

/** `object[low:high:step]` */
export interface SliceExpression extends Span {
  readonly kind: "SliceExpression";
  readonly object: Expression;
  readonly bracketStart: number;
  readonly low?: Expression;
  readonly high?: Expression;
  readonly step?: Expression;
}

/** An expression in parentheses, unless it is a tuple. */
export interface ParenExpression extends Span {
  readonly kind: "ParenExpression";
  readonly expression: Expression;
}
