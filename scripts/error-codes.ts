/**
 * The codes of errors and diagnostics: read from every `codes.ts`, and held to
 * what the sources do with them. A code that nothing throws or reports is a
 * lie in the reference; a code that no `codes.ts` lists is missing from it.
 */

import type { Diagnostic, Span } from "@toolcrib/diagnostics";
import {
  isArrayLiteralExpression,
  isBinaryExpression,
  isCallExpression,
  isCaseClause,
  isComputedPropertyName,
  isExportSpecifier,
  isIdentifier,
  isImportSpecifier,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteral,
  isTypeQueryNode,
  isVariableDeclaration,
  isVariableStatement,
  type Node,
  SyntaxKind,
} from "typescript/unstable/ast";
import { spanOf, visitNodes } from "./syntax.ts";
import type { Workspace, WorkspaceFile, WorkspacePackage } from "./workspace.ts";

/** One code as its `codes.ts` lists it. */
export interface ErrorCode {
  /** The constant, such as `jsonTooDeep`. */
  readonly name: string;
  /** What it stands for, such as `JSON_TOO_DEEP`. */
  readonly code: string;
  /** Its one sentence. */
  readonly meaning: string;
  /** Folder name of its package. */
  readonly folder: string;
  readonly source: WorkspaceFile;
  readonly span: Span;
}

/** The package whose fixtures imitate foreign errors. */
const testTools = "testing";
const codePattern = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/** Every code of every `codes.ts`, in the order of their files, and every line that is not in their form. */
export function readErrorCodes(workspace: Workspace): {
  readonly codes: readonly ErrorCode[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const codes: ErrorCode[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const { folder, src } of workspace.packages) {
    for (const source of src.filter(({ name }) => name.endsWith("/codes.ts"))) {
      for (const statement of source.syntax.statements) {
        const listed = readStatement(statement);
        if (listed === undefined) {
          const message = "A codes.ts holds nothing but codes";
          const hint = '/** One sentence. */ export const someThing = "SOME_THING";';
          diagnostics.push(finding("ERROR_CODE_FORM", message, source, statement, hint));
        } else codes.push({ ...listed, folder, source, span: spanOf(statement) });
      }
    }
  }
  return { codes, diagnostics };
}

function readStatement(statement: Node): Pick<ErrorCode, "name" | "code" | "meaning"> | undefined {
  if (!isVariableStatement(statement)) return undefined;
  const isExported = [...(statement.modifiers ?? [])].some(({ kind }) => kind === SyntaxKind.ExportKeyword);
  const [declaration, ...others] = statement.declarationList.declarations;
  if (!isExported || declaration === undefined || others.length > 0) return undefined;
  const { name, initializer } = declaration;
  if (!isIdentifier(name) || initializer === undefined || !isStringLiteral(initializer)) return undefined;
  const meaning = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(leadingText(statement))?.[1];
  if (meaning === undefined) return undefined;
  return { name: name.text, code: initializer.text, meaning: toProse(meaning) };
}

/** What stands before `node`: white space and comments. */
function leadingText(node: Node): string {
  return node.getSourceFile().text.slice(node.getFullStart(), node.getStart());
}

function toProse(comment: string): string {
  return comment
    .replace(/\n\s*\*/g, " ")
    .replace(/\s+/g, " ")
    .trim();
}

/** Every disagreement between the `codes.ts` files and the sources. */
export function checkErrorCodes(workspace: Workspace): Diagnostic[] {
  const { codes, diagnostics } = readErrorCodes(workspace);
  const known = new Set(codes.map(({ code }) => code));
  const produced = new Set(workspace.packages.flatMap(({ src }) => src.flatMap(listProducedNames)));
  return [
    ...diagnostics,
    ...codes.flatMap((code, index) => checkListed(code, codes.slice(0, index), produced)),
    ...workspace.packages
      .filter(({ folder }) => folder !== testTools)
      .flatMap((one) => [...checkLiterals(one), ...checkMentions(one, known)]),
  ];
}

function checkListed(
  listed: ErrorCode,
  before: readonly ErrorCode[],
  produced: ReadonlySet<string>,
): Diagnostic[] {
  const { source, span, name, code, meaning } = listed;
  const findings: Diagnostic[] = [];
  const add = (id: string, message: string, hint?: string) =>
    findings.push({ severity: "error", code: id, message, hint, source, span });
  const expected = code.toLowerCase().replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  if (!codePattern.test(code) || name !== expected)
    add("ERROR_CODE_NAME", `"${name}" does not name the code "${code}"`, `${expected} = "${code}"`);
  // A sentence may begin with the name of a field.
  if (!/^(?:[A-Z`]|[a-z]+[._]).*\.$/.test(meaning))
    add("ERROR_CODE_MEANING", `The meaning of "${code}" is not a sentence with a full stop`);
  const twin = before.find((other) => other.code === code);
  if (twin !== undefined) add("ERROR_CODE_DUPLICATE", `"${code}" is listed in ${twin.source.name} too`);
  if (!produced.has(name)) add("ERROR_CODE_UNUSED", `Nothing throws or reports "${code}"`, "remove it");
  return findings;
}

/**
 * The names that `file` does something with. Naming a code in an import, a
 * comparison, a list or a key is not yet producing it.
 */
function listProducedNames(file: WorkspaceFile): string[] {
  const names: string[] = [];
  visitNodes(file.syntax, (node) => {
    if (isIdentifier(node) && isProduction(node)) names.push(node.text);
  });
  return names;
}

const comparisons: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.EqualsEqualsEqualsToken,
  SyntaxKind.ExclamationEqualsEqualsToken,
  SyntaxKind.EqualsEqualsToken,
  SyntaxKind.ExclamationEqualsToken,
]);
const lookUps: ReadonlySet<string> = new Set(["has", "includes", "get", "startsWith"]);

function isCompared({ parent }: Node): boolean {
  return isBinaryExpression(parent) && comparisons.has(parent.operatorToken.kind);
}

function isProduction(node: Node): boolean {
  const { parent } = node;
  if (isVariableDeclaration(parent)) return parent.initializer === node;
  if (isPropertyAssignment(parent)) return parent.initializer === node;
  if (isBinaryExpression(parent)) return !isCompared(node);
  if (isCallExpression(parent)) {
    const { expression } = parent;
    return !(isPropertyAccessExpression(expression) && lookUps.has(expression.name.text));
  }
  return !(
    isImportSpecifier(parent) ||
    isExportSpecifier(parent) ||
    isCaseClause(parent) ||
    isArrayLiteralExpression(parent) ||
    isComputedPropertyName(parent) ||
    isTypeQueryNode(parent)
  );
}

/** Codes written out where an error is made or a finding reported. */
function checkLiterals({ src }: WorkspacePackage): Diagnostic[] {
  const findings: Diagnostic[] = [];
  for (const file of src) {
    visitNodes(file.syntax, (node) => {
      const place = codePlaceOf(node);
      if (place === undefined) return;
      for (const literal of [place, ...descendants(place)]) {
        const isLiteral = isStringLiteral(literal) || isNoSubstitutionTemplateLiteral(literal);
        if (!isLiteral || !codePattern.test(literal.text) || isCompared(literal)) continue;
        const message = `The code "${literal.text}" is written out here`;
        const hint = "list it in the package's codes.ts and import it";
        findings.push(finding("ERROR_CODE_UNLISTED", message, file, literal, hint));
      }
    });
  }
  return findings;
}

/** The expression that gives a code: the first argument of an error, or the value of `code:`. */
function codePlaceOf(node: Node): Node | undefined {
  if (isNewExpression(node) && isIdentifier(node.expression) && /Error$/.test(node.expression.text))
    return node.arguments?.[0];
  if (isCallExpression(node) && node.expression.kind === SyntaxKind.SuperKeyword) return node.arguments[0];
  if (isPropertyAssignment(node) && isIdentifier(node.name) && node.name.text === "code")
    return node.initializer;
  return undefined;
}

function descendants(root: Node): Node[] {
  const all: Node[] = [];
  visitNodes(root, (node) => {
    all.push(node);
  });
  return all;
}

/** Codes that a `@throws` line promises. */
function checkMentions({ src }: WorkspacePackage, known: ReadonlySet<string>): Diagnostic[] {
  const findings: Diagnostic[] = [];
  for (const source of src) {
    for (const promise of source.text.matchAll(/@throws[^@]*?(?=\n\s*\*\s*@|\*\/|\n\s*\*\s*\n)/g)) {
      for (const mention of promise[0].matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)) {
        const code = mention[1] ?? "";
        if (known.has(code)) continue;
        const start = promise.index + mention.index + 1;
        const message = `"${code}" is promised here and listed in no codes.ts`;
        const span = { start, end: start + code.length };
        findings.push({ severity: "error", code: "ERROR_CODE_UNKNOWN", message, source, span });
      }
    }
  }
  return findings;
}

function finding(
  code: string,
  message: string,
  source: WorkspaceFile,
  node: Node,
  hint?: string,
): Diagnostic {
  return { severity: "error", code, message, hint, source, span: spanOf(node) };
}
