/**
 * Changes a source file in one place at a time, as a mistake would: a condition is negated, `&&` and `||`,
 * `===` and `!==`, `some` and `every`, `true` and `false` are exchanged. Reads nothing and writes nothing.
 */

import type { Span } from "@toolcrib/diagnostics";
import {
  isBinaryExpression,
  isConditionalExpression,
  isIfStatement,
  isLiteralTypeNode,
  isPropertyAccessExpression,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";
import { spanOf, visitNodes } from "./syntax.ts";

/** One change. */
export interface Mutation {
  readonly span: Span;
  /** The text in the place of that at `span`. */
  readonly text: string;
  /** Position at the start of the changed expression: code that is executed where the change has an effect. */
  readonly executedAt: number;
}

const exchanged: { readonly [text: string]: string } = {
  "&&": "||",
  "||": "&&",
  "===": "!==",
  "!==": "===",
  "<": ">=",
  ">=": "<",
  ">": "<=",
  "<=": ">",
  some: "every",
  every: "some",
  true: "false",
  false: "true",
};

/** Returns every change of `file`, in the order of the text. */
export function mutationsOf(file: SourceFile): readonly Mutation[] {
  const mutations: Mutation[] = [];
  const negate = (condition: Node) => {
    const span = spanOf(condition);
    mutations.push({ span, text: `!(${condition.getText()})`, executedAt: span.start });
  };
  const exchange = (node: Node, of: Node) => {
    const text = exchanged[node.getText()];
    if (text !== undefined) mutations.push({ span: spanOf(node), text, executedAt: spanOf(of).start });
  };
  /** Conditions that consist of one comparison, whose negation is the exchange of its operator. */
  const negated = new Set<Node>();
  visitNodes(file, (node) => {
    if (isIfStatement(node)) {
      negate(node.expression);
      negated.add(node.expression);
    } else if (isConditionalExpression(node)) {
      negate(node.condition);
      negated.add(node.condition);
    } else if (isBinaryExpression(node)) {
      const { kind } = node.operatorToken;
      const isJunction = kind === SyntaxKind.AmpersandAmpersandToken || kind === SyntaxKind.BarBarToken;
      if (isJunction || !negated.has(node)) exchange(node.operatorToken, node);
    } else if (isPropertyAccessExpression(node)) {
      const { text } = node.name;
      if (text === "some" || text === "every") exchange(node.name, node);
    } else if (node.kind === SyntaxKind.TrueKeyword || node.kind === SyntaxKind.FalseKeyword) {
      if (!isLiteralTypeNode(node.parent)) exchange(node, node);
    }
  });
  return mutations.sort((a, b) => a.span.start - b.span.start);
}
