/**
 * The gateway does not branch on where a tool comes from: a source states its
 * facts, and code asks for the fact that it needs. Only composition roots
 * compare an origin. Recognizes an origin by its name, `origin`: comparisons with
 * anything but another origin (those of two URLs) or `undefined`, and lookups in lists.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import {
  isAsExpression,
  isBinaryExpression,
  isCallExpression,
  isElementAccessExpression,
  isIdentifier,
  isNonNullExpression,
  isParenthesizedExpression,
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

/** The composition roots of the gateway, which know the kinds of sources by name, and the reader of recorded ones. */
const compositionRoots: ReadonlySet<string> = new Set([
  "packages/gateway/src/start-gateway.ts",
  "packages/registry/src/registry.ts",
  // Reads origins in records, whose sources may be gone: they have no facts to ask for.
  "packages/dise/src/chains/recorded-origin.ts",
]);

/** Returns a finding for each comparison of an origin in `file`. */
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

/** Methods that look a value up. */
const lookups: ReadonlySet<string> = new Set(["includes", "indexOf", "has", "get"]);

function isOriginBranch(node: Node): boolean {
  if (isSwitchStatement(node)) return isOrigin(node.expression);
  if (isCallExpression(node)) {
    const { expression, arguments: given } = node;
    const [first] = given;
    if (!isPropertyAccessExpression(expression) || !lookups.has(expression.name.text)) return false;
    // A plain name is also that of the header `Origin`, which lists of allowed ones contain.
    return first !== undefined && !isIdentifier(first) && isOrigin(first);
  }
  if (!isBinaryExpression(node) || !comparisons.has(node.operatorToken.kind)) return false;
  const { left, right } = node;
  if (isOrigin(left) === isOrigin(right)) return false;
  return !isAbsence(isOrigin(left) ? right : left);
}

function isAbsence(node: Node): boolean {
  return node.kind === SyntaxKind.NullKeyword || (isIdentifier(node) && node.text === "undefined");
}

/** `origin`, `x.origin` or `x["origin"]`, also in parentheses, with `as` or with `!`. */
function isOrigin(node: Node): boolean {
  if (isParenthesizedExpression(node) || isAsExpression(node) || isNonNullExpression(node)) {
    return isOrigin(node.expression);
  }
  if (isIdentifier(node)) return node.text === "origin";
  if (isPropertyAccessExpression(node)) return node.name.text === "origin";
  return (
    isElementAccessExpression(node) &&
    isStringLiteral(node.argumentExpression) &&
    node.argumentExpression.text === "origin"
  );
}
