/**
 * Limits the length of functions. A long function that returns closures over shared
 * variables is a class that editors cannot outline. Parsers, compilers and tables are
 * exempt: their file's header says why the file, or the function, is "one piece".
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import {
  isArrowFunction,
  isClassStaticBlockDeclaration,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isFunctionExpression,
  isGetAccessorDeclaration,
  isMethodDeclaration,
  isSetAccessorDeclaration,
  type Node,
} from "typescript/unstable/ast";
import { headerOf, spanOf, visitNodes } from "../syntax.ts";
import type { WorkspaceFile } from "../workspace.ts";

/** Maximum number of lines of a function, from its first to its closing brace. */
const maxFunctionLines = 120;

/** Returns a finding for each function of `file` that is too long, unless the file is one piece. */
export function checkFunctions(file: WorkspaceFile): Diagnostic[] {
  if (/\bone piece\b/.test(headerOf(file.text))) return [];
  const findings: Diagnostic[] = [];
  visitNodes(file.syntax, (node) => {
    if (!isFunctionLike(node)) return;
    const span = spanOf(node);
    const lines = file.text.slice(span.start, span.end).split("\n").length;
    if (lines <= maxFunctionLines) return;
    findings.push({
      severity: "error",
      code: "ARCH_FUNCTION_TOO_LONG",
      message: `The function has ${lines} lines; the limit is ${maxFunctionLines}`,
      hint: "make it a class with #fields and pure functions",
      source: file,
      span: { start: span.start, end: span.start + 1 },
    });
  });
  return findings;
}

function isFunctionLike(node: Node): boolean {
  return (
    isFunctionDeclaration(node) ||
    isFunctionExpression(node) ||
    isArrowFunction(node) ||
    isMethodDeclaration(node) ||
    isConstructorDeclaration(node) ||
    isGetAccessorDeclaration(node) ||
    isSetAccessorDeclaration(node) ||
    isClassStaticBlockDeclaration(node)
  );
}
