/**
 * The gateway does not branch on where a tool comes from: a source states its
 * facts, and code asks for the fact that it needs. Only composition roots
 * compare an origin. Recognizes comparisons with a literal, by the property
 * name `origin`.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import {
  isBinaryExpression,
  isElementAccessExpression,
  isIdentifier,
  isPropertyAccessExpression,
  isStringLiteral,
  isSwitchStatement,
  type Node,
  SyntaxKind,
} from "typescript/unstable/ast";
import { spanOf, visitNodes } from "../syntax.ts";
import type { WorkspaceFile } from "../workspace.ts";

const comparisons: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
  SyntaxKind.EqualsEqualsToken,
  SyntaxKind.ExclamationEqualsToken,
]);

/** The composition roots of the gateway, which know the kinds of sources by name. */
const compositionRoots: ReadonlySet<string> = new Set([
  "packages/gateway/src/start-gateway.ts",
  "packages/registry/src/registry.ts",
]);

/** Returns a finding for each comparison of an origin with a literal in `file`. */
export function checkOrigins(file: WorkspaceFile): Diagnostic[] {
  if (compositionRoots.has(file.name)) return [];
  const findings: Diagnostic[] = [];
  visitNodes(file.syntax, (node) => {
    if (!isOriginBranch(node)) return;
    findings.push({
      severity: "error",
      code: "ARCH_ORIGIN_COMPARED",
      message: "The origin of a tool is compared here; only composition roots may do that",
      hint: "give the source a fact that says what this code needs to know",
      source: file,
      span: spanOf(node),
    });
  });
  return findings;
}

function isOriginBranch(node: Node): boolean {
  if (isSwitchStatement(node)) return isOrigin(node.expression);
  if (!isBinaryExpression(node) || !comparisons.has(node.operatorToken.kind)) return false;
  const { left, right } = node;
  return (isOrigin(left) && isStringLiteral(right)) || (isStringLiteral(left) && isOrigin(right));
}

/** `origin`, `x.origin` or `x["origin"]`. */
function isOrigin(node: Node): boolean {
  if (isIdentifier(node)) return node.text === "origin";
  if (isPropertyAccessExpression(node)) return node.name.text === "origin";
  return (
    isElementAccessExpression(node) &&
    isStringLiteral(node.argumentExpression) &&
    node.argumentExpression.text === "origin"
  );
}
