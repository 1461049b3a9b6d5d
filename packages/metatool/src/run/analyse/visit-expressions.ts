/**
 * Visits the expressions of a file in the order of the text. The visitor decides
 * whether to visit the parts of each. Pure.
 */

import type { Expression, File, Parameter, Statement } from "@toolcrib/starlark";

/** The expressions of one kind. */
export type ExpressionOf<Kind extends Expression["kind"]> = Extract<Expression, { readonly kind: Kind }>;

type DictEntry = ExpressionOf<"DictExpression">["entries"][number];

/** Visits an expression; `false` skips its parts. */
export type ExpressionVisitor = (expression: Expression) => boolean;

/** Visits every expression of `file`. */
export function visitFile(file: File, visit: ExpressionVisitor): void {
  visitStatements(file.statements, visit);
}

/** Visits `expression` and, unless the visitor returns `false`, its parts. */
export function visitExpression(expression: Expression, visit: ExpressionVisitor): void {
  if (visit(expression)) visitParts(expression, visit);
}

function visitStatements(statements: readonly Statement[], visit: ExpressionVisitor): void {
  for (const statement of statements) visitStatement(statement, visit);
}

function visitStatement(statement: Statement, visit: ExpressionVisitor): void {
  switch (statement.kind) {
    case "ExpressionStatement":
      visitExpression(statement.expression, visit);
      break;
    case "AssignStatement":
      visitExpression(statement.target, visit);
      visitExpression(statement.value, visit);
      break;
    case "DefStatement":
      visitParameters(statement.parameters, visit);
      visitStatements(statement.body, visit);
      break;
    case "IfStatement":
      for (const branch of statement.branches) {
        visitExpression(branch.test, visit);
        visitStatements(branch.body, visit);
      }
      visitStatements(statement.orelse ?? [], visit);
      break;
    case "ForStatement":
      visitExpression(statement.target, visit);
      visitExpression(statement.iterable, visit);
      visitStatements(statement.body, visit);
      break;
    case "WhileStatement":
      visitExpression(statement.test, visit);
      visitStatements(statement.body, visit);
      break;
    case "ReturnStatement":
      if (statement.value !== undefined) visitExpression(statement.value, visit);
      break;
    case "TryStatement":
      visitStatements(statement.body, visit);
      for (const handler of statement.handlers) visitStatements(handler.body, visit);
      visitStatements(statement.orelse ?? [], visit);
      visitStatements(statement.finalBody ?? [], visit);
      break;
    case "BranchStatement":
    case "LoadStatement":
      break;
  }
}

function visitParts(expression: Expression, visit: ExpressionVisitor): void {
  switch (expression.kind) {
    case "ParenExpression":
      visitExpression(expression.expression, visit);
      break;
    case "FString":
      for (const part of expression.parts)
        if (typeof part !== "string") visitExpression(part.expression, visit);
      break;
    case "ListExpression":
    case "TupleExpression":
      visitAll(expression.elements, visit);
      break;
    case "DictExpression":
      for (const entry of expression.entries) visitEntry(entry, visit);
      break;
    case "Comprehension":
      for (const clause of expression.clauses) {
        if (clause.kind === "IfClause") visitExpression(clause.test, visit);
        else visitAll([clause.target, clause.iterable], visit);
      }
      if (expression.body.kind === "DictEntry") visitEntry(expression.body, visit);
      else visitExpression(expression.body, visit);
      break;
    case "UnaryExpression":
      visitExpression(expression.operand, visit);
      break;
    case "BinaryExpression":
      visitAll([expression.left, expression.right], visit);
      break;
    case "ConditionalExpression":
      visitAll([expression.body, expression.test, expression.orelse], visit);
      break;
    case "LambdaExpression":
      visitParameters(expression.parameters, visit);
      visitExpression(expression.body, visit);
      break;
    case "CallExpression":
      visitExpression(expression.callee, visit);
      for (const argument of expression.args) visitExpression(argument.value, visit);
      break;
    case "AttributeExpression":
      visitExpression(expression.object, visit);
      break;
    case "IndexExpression":
      visitAll([expression.object, expression.index], visit);
      break;
    case "SliceExpression":
      visitExpression(expression.object, visit);
      for (const part of [expression.low, expression.high, expression.step]) {
        if (part !== undefined) visitExpression(part, visit);
      }
      break;
    default:
      // Names and literals have no parts.
      break;
  }
}

function visitAll(expressions: readonly Expression[], visit: ExpressionVisitor): void {
  for (const expression of expressions) visitExpression(expression, visit);
}

function visitEntry({ key, value }: DictEntry, visit: ExpressionVisitor): void {
  visitExpression(key, visit);
  visitExpression(value, visit);
}

function visitParameters(parameters: readonly Parameter[], visit: ExpressionVisitor): void {
  for (const { value } of parameters) if (value !== undefined) visitExpression(value, visit);
}
