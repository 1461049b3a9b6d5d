/**
 * The questions of policies about an argument: whether it is equal to a text or a number of the policy, among those of a set, like
 * a pattern, or less or greater. Two values with the same answers are the same for policies that ask nothing else, so
 * that decisions about them can be shared.
 *
 * It decides nothing: the engine does, for the first value with these answers. Whatever it does not recognize, it does
 * not answer, and such an argument counts as a whole.
 */

import type { Expr } from "@cedar-policy/cedar-wasm/nodejs";
import { operationOf } from "./expressions.ts";

/** Answers a question about an argument, in the form in which policies compare it: a well-formed text or a whole number. */
export type ArgumentQuestion = (value: string | number) => boolean;

/** The questions of an expression about one operand. */
export interface AskedOperand {
  /** The operand, which may or may not read an argument; everything else in the expression is literal. */
  readonly operand: Expr;
  readonly question: ArgumentQuestion;
}

const orders: { readonly [operator: string]: (left: number, right: number) => boolean } = {
  "<": (left, right) => left < right,
  "<=": (left, right) => left <= right,
  ">": (left, right) => left > right,
  ">=": (left, right) => left >= right,
};

/** Returns what `expr` asks about one operand; undefined where it asks anything else. */
export function askedOperand(expr: Expr): AskedOperand | undefined {
  return askedEquality(expr) ?? askedOrder(expr) ?? askedMembership(expr) ?? askedPattern(expr);
}

/** `operand == "text"`, and the same with `!=` and the sides exchanged. */
function askedEquality(expr: Expr): AskedOperand | undefined {
  const compared = operationOf(expr, "==") ?? operationOf(expr, "!=");
  if (compared === undefined) return undefined;
  const { left, right } = compared;
  const end = literalOf(right);
  if (end !== undefined) return { operand: left, question: (value) => value === end };
  const start = literalOf(left);
  return start === undefined ? undefined : { operand: right, question: (value) => value === start };
}

/** `operand < 5`, and the same with the sides exchanged. */
function askedOrder(expr: Expr): AskedOperand | undefined {
  for (const [operator, holds] of Object.entries(orders)) {
    const compared = operationOf(expr, operator);
    if (compared === undefined) continue;
    const { left, right } = compared;
    const bound = literalOf(right);
    if (typeof bound === "number") return { operand: left, question: (value) => holds(Number(value), bound) };
    const start = literalOf(left);
    if (typeof start === "number")
      return { operand: right, question: (value) => holds(start, Number(value)) };
  }
  return undefined;
}

/** `["one", "two"].contains(operand)`. */
function askedMembership(expr: Expr): AskedOperand | undefined {
  const contained = operationOf(expr, "contains");
  const items = contained && operationOf<readonly Expr[]>(contained.left, "Set");
  if (contained === undefined || !Array.isArray(items)) return undefined;
  const literals = items.flatMap((item) => literalOf(item) ?? []);
  if (literals.length !== items.length) return undefined;
  return { operand: contained.right, question: (value) => literals.includes(value) };
}

/** `operand like "*text*"`. */
function askedPattern(expr: Expr): AskedOperand | undefined {
  const liked = operationOf<{ readonly left: Expr; readonly pattern: readonly unknown[] }>(expr, "like");
  if (liked === undefined || !Array.isArray(liked.pattern)) return undefined;
  const pieces = piecesOf(liked.pattern);
  if (pieces === undefined) return undefined;
  return { operand: liked.left, question: (value) => isLike(String(value), pieces) };
}

/** Returns a text or a whole number of a policy; undefined for everything else. */
function literalOf(expr: Expr): string | number | undefined {
  const value = operationOf<unknown>(expr, "Value");
  return typeof value === "string" || Number.isSafeInteger(value) ? (value as string | number) : undefined;
}

/** Returns the texts between the wildcards of a pattern: one more than there are wildcards. */
function piecesOf(pattern: readonly unknown[]): readonly string[] | undefined {
  const pieces = [""];
  for (const element of pattern) {
    if (element === "Wildcard") {
      pieces.push("");
      continue;
    }
    const { Literal: text } = (element ?? {}) as { readonly Literal?: unknown };
    if (typeof text !== "string") return undefined;
    pieces.push(`${pieces.pop()}${text}`);
  }
  return pieces;
}

/** Whether a text starts with the first piece, ends with the last one, and has the others between them, in their order. */
function isLike(text: string, [first = "", ...others]: readonly string[]): boolean {
  const last = others.pop();
  if (last === undefined) return text === first;
  if (text.length < first.length + last.length || !text.startsWith(first) || !text.endsWith(last))
    return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of others) {
    const found = text.indexOf(piece, at);
    if (found === -1 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}
