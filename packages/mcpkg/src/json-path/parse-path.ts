/**
 * Parses JSONPath (RFC 9535) in assertions and input mappings. The grammar and the types of
 * functions are checked by json-p3; its objects are turned into plain data here, because its own
 * evaluation has no limits. Evaluates nothing.
 */

import { isCodedError } from "@toolcrib/diagnostics";
import {
  type FilterFunction,
  FunctionExpressionType,
  JSONPathEnvironment,
  jsonpath,
  TokenKind,
} from "json-p3";

/** A path after it was parsed. */
export interface PathQuery {
  readonly segments: readonly PathSegment[];
}

/** A part of a path that selects children, or children at all depths. */
export interface PathSegment {
  readonly isDescendant: boolean;
  readonly selectors: readonly PathSelector[];
}

/** A selector (RFC 9535, section 2.3). */
export type PathSelector =
  | { readonly kind: "name"; readonly name: string }
  | { readonly kind: "index"; readonly index: number }
  | {
      readonly kind: "slice";
      readonly start: number | undefined;
      readonly end: number | undefined;
      readonly step: number;
    }
  | { readonly kind: "wildcard" }
  | { readonly kind: "filter"; readonly condition: PathExpression };

/** Names of functions (RFC 9535, section 2.4). */
export type PathFunction = "length" | "count" | "match" | "search" | "value";

/** A part of a filter. */
export type PathExpression =
  | { readonly kind: "literal"; readonly value: string | number | boolean | null }
  | { readonly kind: "query"; readonly from: "root" | "current"; readonly query: PathQuery }
  | { readonly kind: "not"; readonly operand: PathExpression }
  | {
      readonly kind: "infix";
      readonly operator: string;
      readonly left: PathExpression;
      readonly right: PathExpression;
    }
  | { readonly kind: "call"; readonly name: PathFunction; readonly args: readonly PathExpression[] };

/** Longest path in UTF-16 units. */
const pathMaxLength = 2000;

let known: JSONPathEnvironment | undefined;

/**
 * An environment whose functions have types only: nothing here can run a pattern of a path. It is made for the first path, so
 * that a program without packages does not load the library.
 */
function environment(): JSONPathEnvironment {
  if (known !== undefined) return known;
  const made = new JSONPathEnvironment();
  const { ValueType: value, LogicalType: logical, NodesType: nodes } = FunctionExpressionType;
  made.functionRegister.clear();
  made.functionRegister.set("length", typed([value], value));
  made.functionRegister.set("count", typed([nodes], value));
  made.functionRegister.set("match", typed([value, value], logical));
  made.functionRegister.set("search", typed([value, value], logical));
  made.functionRegister.set("value", typed([nodes], value));
  known = made;
  return made;
}

function typed(argTypes: FunctionExpressionType[], returnType: FunctionExpressionType): FilterFunction {
  return {
    argTypes,
    returnType,
    call() {
      throw new Error("functions are evaluated by evaluatePath");
    },
  };
}

/** Parses `path`, or returns why it is not a JSONPath. @throws {CodedError} `LIBRARY_UNAVAILABLE` */
export function parsePath(path: string): PathQuery | { readonly reason: string } {
  if (path.length > pathMaxLength) return { reason: `a path has at most ${pathMaxLength} characters` };
  try {
    return toQuery(environment().compile(path));
  } catch (thrown) {
    // The library could not be loaded.
    if (isCodedError(thrown)) throw thrown;
    // Expressions that nest too deep overflow the stack.
    if (thrown instanceof RangeError) return { reason: "it nests too deep" };
    return { reason: (thrown as Error).message };
  }
}

/** Returns why `path` is not a JSONPath; `undefined` if it is one. */
export function lintJsonPath(path: string): string | undefined {
  const parsed = parsePath(path);
  return "reason" in parsed ? parsed.reason : undefined;
}

/** Returns the first member name of a path that begins with one, such as `input` in `$.input.path`. */
export function firstNameOf(path: string): string | undefined {
  const found = /^\$\s*(?:\.\s*([\p{L}_][\p{L}\p{N}_]*)|\[\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*\])/u.exec(path);
  return found?.[1] ?? found?.[2] ?? found?.[3];
}

function toQuery({ segments }: { readonly segments: readonly jsonpath.JSONPathSegment[] }): PathQuery {
  return {
    segments: segments.map(({ token, selectors: all }) => ({
      isDescendant: token.kind === TokenKind.DDOT,
      selectors: all.map(toSelector),
    })),
  };
}

function toSelector(selector: jsonpath.JSONPathSelector): PathSelector {
  const { selectors } = jsonpath;
  if (selector instanceof selectors.NameSelector) return { kind: "name", name: selector.name };
  if (selector instanceof selectors.IndexSelector) return { kind: "index", index: selector.index };
  if (selector instanceof selectors.SliceSelector) {
    const { start, stop: end, step = 1 } = selector;
    return { kind: "slice", start, end, step };
  }
  if (selector instanceof selectors.WildcardSelector) return { kind: "wildcard" };
  if (selector instanceof selectors.FilterSelector) {
    return { kind: "filter", condition: toExpression(selector.expression) };
  }
  throw new Error("it has a selector that RFC 9535 does not have");
}

function toExpression(expression: jsonpath.expressions.FilterExpression): PathExpression {
  const { expressions } = jsonpath;
  if (expression instanceof expressions.LogicalExpression) return toExpression(expression.expression);
  if (expression instanceof expressions.NullLiteral) return { kind: "literal", value: null };
  if (
    expression instanceof expressions.BooleanLiteral ||
    expression instanceof expressions.StringLiteral ||
    expression instanceof expressions.NumberLiteral
  ) {
    return { kind: "literal", value: expression.value };
  }
  if (expression instanceof expressions.PrefixExpression) {
    return { kind: "not", operand: toExpression(expression.right) };
  }
  if (expression instanceof expressions.InfixExpression) {
    const { operator, left, right } = expression;
    return { kind: "infix", operator, left: toExpression(left), right: toExpression(right) };
  }
  if (expression instanceof expressions.FilterQuery) {
    const from = expression instanceof expressions.RootQuery ? "root" : "current";
    return { kind: "query", from, query: toQuery(expression.path) };
  }
  if (expression instanceof expressions.FunctionExtension) {
    // The environment refuses other names.
    const name = expression.name as PathFunction;
    return { kind: "call", name, args: expression.args.map(toExpression) };
  }
  throw new Error("it has an expression that RFC 9535 does not have");
}
