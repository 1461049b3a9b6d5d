/** Expressions of policies, as the JSON form of Cedar writes them: visited, and split into conditions. */

import type { Expr, PolicyJson } from "@cedar-policy/cedar-wasm/nodejs";

/** An expression as a map from its operator to its operands. */
type Operation = { readonly [operator: string]: unknown };

/** Returns the operands of `expr` that are expressions. */
export function operandsOf(expr: Expr): readonly Expr[] {
  const [[operator, operands] = ["", undefined]] = Object.entries(expr as Operation);
  if (operator === "Value" || operator === "Var" || operator === "Slot") return [];
  if (Array.isArray(operands)) return operands as Expr[];
  if (typeof operands !== "object" || operands === null) return [];
  if (operator === "Record") return Object.values(operands) as Expr[];
  const {
    left,
    right,
    arg,
    if: condition,
    then,
    else: otherwise,
    in: container,
  } = operands as {
    readonly [name: string]: Expr | undefined;
  };
  return [left, right, arg, condition, then, otherwise, container].filter((one) => one !== undefined);
}

/** Returns the operands of `expr` where its operator is `operator`. */
export function operationOf<Operands = { readonly left: Expr; readonly right: Expr }>(
  expr: Expr,
  operator: string,
): Operands | undefined {
  return (expr as Operation)[operator] as Operands | undefined;
}

/** Returns the member that `expr` reads, such as `read_only` of `resource.read_only`, and of what. */
export function memberOf(expr: Expr): { readonly left: Expr; readonly attr: string } | undefined {
  return operationOf<{ readonly left: Expr; readonly attr: string }>(expr, ".");
}

/** Whether `expr` is the variable `name`. */
export function isVariable(expr: Expr, name: "principal" | "action" | "resource" | "context"): boolean {
  return operationOf<string>(expr, "Var") === name;
}

/** Returns the text of a literal. */
export function textOf(expr: Expr): string | undefined {
  const value = operationOf<unknown>(expr, "Value");
  return typeof value === "string" ? value : undefined;
}

/** Returns the entity that a literal names. */
export function entityOf(expr: Expr): { readonly type: string; readonly id: string } | undefined {
  const value = operationOf<{ readonly __entity?: { readonly type: string; readonly id: string } } | string>(
    expr,
    "Value",
  );
  return typeof value === "object" ? value?.__entity : undefined;
}

/** Returns the conditions of `policy`, all of which must hold: each part of a `when` that `&&` joins, and each `unless`, negated. */
export function conditionsOf({ conditions }: Pick<PolicyJson, "conditions">): readonly Expr[] {
  return conditions.flatMap(({ kind, body }) =>
    kind === "when" ? conjunctsOf(body) : [{ "!": { arg: body } }],
  );
}

function conjunctsOf(expr: Expr): readonly Expr[] {
  const both = operationOf(expr, "&&");
  return both === undefined ? [expr] : [...conjunctsOf(both.left), ...conjunctsOf(both.right)];
}
