/**
 * Shows syntax trees as text: `(+ 1 (* 2 3))`. Every field of a node is shown, so
 * that tests cover all of them. No I/O.
 */

import type { Expression, Parameter, Statement } from "@toolcrib/starlark";

type Comprehension = Extract<Expression, { readonly kind: "Comprehension" }>;
type Argument = Extract<Expression, { readonly kind: "CallExpression" }>["args"][number];

export function showStatements(statements: readonly Statement[]): string {
  return statements.map(showStatement).join(" ");
}

export function showStatement(statement: Statement): string {
  switch (statement.kind) {
    case "ExpressionStatement":
      return showExpression(statement.expression);
    case "AssignStatement": {
      const { operator, target, value } = statement;
      return `(${operator} ${showExpression(target)} ${showExpression(value)})`;
    }
    case "DefStatement": {
      const { name, parameters, body } = statement;
      return `(def ${name.name} ${showParameters(parameters)} ${showBlock(body)})`;
    }
    case "IfStatement": {
      const branches = statement.branches.map(
        ({ test, body }) => `${showExpression(test)} ${showBlock(body)}`,
      );
      return `(if ${branches.join(" ")}${showOptional("else", statement.orelse)})`;
    }
    case "ForStatement": {
      const { target, iterable, body } = statement;
      return `(for ${showExpression(target)} ${showExpression(iterable)} ${showBlock(body)})`;
    }
    case "WhileStatement":
      return `(while ${showExpression(statement.test)} ${showBlock(statement.body)})`;
    case "ReturnStatement":
      return statement.value === undefined ? "(return)" : `(return ${showExpression(statement.value)})`;
    case "BranchStatement":
      return statement.word;
    case "LoadStatement": {
      const bindings = statement.bindings.map(({ local, remote }) => `${local.name}=${remote}`);
      return `(load ${JSON.stringify(statement.module.value)} ${bindings.join(" ")})`;
    }
    case "TryStatement": {
      const handlers = statement.handlers.map(({ types, name, body }) => {
        const shown = types === undefined ? "" : ` [${types.map((type) => type.name).join(" ")}]`;
        return ` (except${shown}${name === undefined ? "" : ` as ${name.name}`} ${showBlock(body)})`;
      });
      const rest = showOptional("else", statement.orelse) + showOptional("finally", statement.finalBody);
      return `(try ${showBlock(statement.body)}${handlers.join("")}${rest})`;
    }
  }
}

function showBlock(body: readonly Statement[]): string {
  return `{${showStatements(body)}}`;
}

function showOptional(word: string, body: readonly Statement[] | undefined): string {
  return body === undefined ? "" : ` ${word} ${showBlock(body)}`;
}

function showParameters(parameters: readonly Parameter[]): string {
  const shown = parameters.map(({ kind, name, value }) => {
    const stars = { required: "", optional: "", star: "*", doubleStar: "**" }[kind];
    return `${stars}${name?.name ?? ""}${value === undefined ? "" : `=${showExpression(value)}`}`;
  });
  return `[${shown.join(" ")}]`;
}

export function showExpression(expression: Expression): string {
  switch (expression.kind) {
    case "Identifier":
      return expression.name;
    case "IntLiteral":
      return String(expression.value);
    case "FloatLiteral":
      return Number.isInteger(expression.value) ? `${expression.value}.0` : String(expression.value);
    case "StringLiteral":
      return JSON.stringify(expression.value);
    case "BytesLiteral":
      return `b[${[...expression.value].join(" ")}]`;
    case "FString": {
      const parts = expression.parts.map((part) => {
        if (typeof part === "string") return JSON.stringify(part);
        const { conversion, spec } = part;
        const suffix = `${conversion === undefined ? "" : `!${conversion}`}${spec === undefined ? "" : `:${spec}`}`;
        return `{${showExpression(part.expression)}${suffix}}`;
      });
      return `(f ${parts.join(" ")})`;
    }
    case "ListExpression":
      return `[${expression.elements.map(showExpression).join(" ")}]`;
    case "TupleExpression": {
      const elements = expression.elements.map(showExpression).join(" ");
      return expression.parenthesised ? `(tuple (${elements}))` : `(tuple ${elements})`;
    }
    case "DictExpression": {
      const entries = expression.entries.map(
        ({ key, value }) => `${showExpression(key)}:${showExpression(value)}`,
      );
      return `{${entries.join(" ")}}`;
    }
    case "Comprehension":
      return showComprehension(expression);
    case "UnaryExpression":
      return `(${expression.operator} ${showExpression(expression.operand)})`;
    case "BinaryExpression": {
      const { operator, left, right } = expression;
      return `(${operator} ${showExpression(left)} ${showExpression(right)})`;
    }
    case "ConditionalExpression": {
      const { test, body, orelse } = expression;
      return `(if ${showExpression(test)} ${showExpression(body)} ${showExpression(orelse)})`;
    }
    case "LambdaExpression":
      return `(lambda ${showParameters(expression.parameters)} ${showExpression(expression.body)})`;
    case "CallExpression":
      return `(call ${[showExpression(expression.callee), ...expression.args.map(showArgument)].join(" ")})`;
    case "AttributeExpression":
      return `${showExpression(expression.object)}.${expression.name}`;
    case "IndexExpression":
      return `${showExpression(expression.object)}[${showExpression(expression.index)}]`;
    case "SliceExpression": {
      const { object, low, high, step } = expression;
      const parts = [low, high, step].map((part) => (part === undefined ? "" : showExpression(part)));
      return `${showExpression(object)}[${parts.join(":")}]`;
    }
    case "ParenExpression":
      return `(paren ${showExpression(expression.expression)})`;
  }
}

function showArgument({ kind, name, value }: Argument): string {
  const stars = { positional: "", named: "", star: "*", doubleStar: "**" }[kind];
  return `${stars}${name === undefined ? "" : `${name.name}=`}${showExpression(value)}`;
}

function showComprehension({ body, clauses }: Comprehension): string {
  const shown = clauses.map((clause) =>
    clause.kind === "ForClause"
      ? `for ${showExpression(clause.target)} ${showExpression(clause.iterable)}`
      : `if ${showExpression(clause.test)}`,
  );
  const made =
    body.kind === "DictEntry"
      ? `${showExpression(body.key)}:${showExpression(body.value)}`
      : showExpression(body);
  return `(comprehension ${made} ${shown.join(" ")})`;
}
