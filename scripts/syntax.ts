/**
 * Syntax functions that several checks use: the imports and exports of a file, and a
 * traversal of its nodes. See `workspace.ts` about the API.
 */

import type { Span } from "@toolcrib/diagnostics";
import {
  isCallExpression,
  isExportDeclaration,
  isExternalModuleReference,
  isIdentifier,
  isImportDeclaration,
  isImportEqualsDeclaration,
  isImportTypeNode,
  isLiteralTypeNode,
  isNamedImports,
  isNoSubstitutionTemplateLiteral,
  isStringLiteral,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";

/** A reference to another module. */
export interface ModuleReference {
  readonly specifier: string;
  /** Position of the specifier. */
  readonly span: Span;
  readonly isTypeOnly: boolean;
  /** The imported names as exported by the other module, including `default` and `*`. */
  readonly names: readonly string[];
}

/** Calls `visit` for every node below `root`, outer nodes first. */
export function visitNodes(root: Node, visit: (node: Node) => void): void {
  root.forEachChild((child) => {
    visit(child);
    visitNodes(child, visit);
  });
}

/** Returns the span of `node`, without the comments before it. */
export function spanOf(node: Node): Span {
  return { start: node.getStart(), end: node.getEnd() };
}

/** Returns every reference of `file` to a module: imports, re-exports, `import()` of a constant, `import("x").Type`. */
export function listModuleReferences(file: SourceFile): ModuleReference[] {
  const references: ModuleReference[] = [];
  function add(specifier: Node | undefined, isTypeOnly: boolean, names: readonly string[] = []): void {
    if (specifier === undefined) return;
    if (!isStringLiteral(specifier) && !isNoSubstitutionTemplateLiteral(specifier)) return;
    references.push({ specifier: specifier.text, span: spanOf(specifier), isTypeOnly, names });
  }
  visitNodes(file, (node) => {
    if (isImportDeclaration(node)) {
      const clause = node.importClause;
      const isTypeOnly = clause?.phaseModifier === SyntaxKind.TypeKeyword;
      const bindings = clause?.namedBindings;
      const names = clause?.name === undefined ? [] : ["default"];
      if (bindings !== undefined && isNamedImports(bindings)) {
        names.push(...bindings.elements.map((element) => (element.propertyName ?? element.name).text));
      } else if (bindings !== undefined) names.push("*");
      add(node.moduleSpecifier, isTypeOnly, names);
    } else if (isExportDeclaration(node)) {
      add(node.moduleSpecifier, node.isTypeOnly);
    } else if (isCallExpression(node)) {
      const { expression } = node;
      const loads =
        expression.kind === SyntaxKind.ImportKeyword ||
        (isIdentifier(expression) && expression.text === "require");
      if (loads) add(node.arguments[0], false);
    } else if (isImportTypeNode(node)) {
      add(isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, true);
    } else if (isImportEqualsDeclaration(node) && isExternalModuleReference(node.moduleReference)) {
      add(node.moduleReference.expression, node.isTypeOnly);
    }
  });
  return references;
}

/** Returns the comment at the beginning of `text`, after a `#!` line; empty if there is none. */
export function headerOf(text: string): string {
  return /^(?:#![^\n]*\n)?\s*(\/\*[\s\S]*?\*\/|(?:\/\/[^\n]*\n?)+)/.exec(text)?.[1] ?? "";
}
