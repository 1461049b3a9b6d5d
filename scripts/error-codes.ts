/**
 * Checks the codes of errors and diagnostics: each `codes.ts` is compared with
 * what the sources produce. A code that nothing throws or reports, and a code
 * that no `codes.ts` lists, make the reference page wrong.
 */

import type { Diagnostic, Span } from "@toolcrib/diagnostics";
import {
  isArrayLiteralExpression,
  isAsExpression,
  isBinaryExpression,
  isCallExpression,
  isCaseClause,
  isComputedPropertyName,
  isIdentifier,
  isLiteralTypeNode,
  isNewExpression,
  isNoSubstitutionTemplateLiteral,
  isObjectLiteralExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isStringLiteral,
  isTypeAliasDeclaration,
  isVariableDeclaration,
  isVariableStatement,
  type Node,
  SyntaxKind,
} from "typescript/unstable/ast";
import { spanOf, visitNodes } from "./syntax.ts";
import type { Workspace, WorkspaceFile, WorkspacePackage } from "./workspace.ts";

/** One code as its `codes.ts` lists it. */
export interface ErrorCode {
  /** The code, such as `JSON_TOO_DEEP`. */
  readonly code: string;
  /** Its meaning, in one sentence. */
  readonly meaning: string;
  /** Folder name of its package. */
  readonly folder: string;
  readonly source: WorkspaceFile;
  readonly span: Span;
}

/** The package whose fixtures imitate errors of other programs. */
const testTools = "testing";
const codePattern = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/** Returns every code of every `codes.ts`, in the order of their files, and a finding for each entry in another form. */
export function readErrorCodes(workspace: Workspace): {
  readonly codes: readonly ErrorCode[];
  readonly diagnostics: readonly Diagnostic[];
} {
  const codes: ErrorCode[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const { folder, src } of workspace.packages) {
    for (const source of src.filter(({ name }) => name.endsWith("/codes.ts"))) {
      const refuse = (node: Node) => {
        const message = "A codes.ts exports one object of codes and meanings, and the type of its keys";
        const hint = 'export const thingCodes = { THING_BROKEN: "The thing is broken." } as const;';
        diagnostics.push(finding("ERROR_CODE_FORM", message, source, node, hint));
      };
      for (const statement of source.syntax.statements) {
        if (isTypeAliasDeclaration(statement)) continue;
        const entries = readCodesObject(statement);
        if (entries === undefined) refuse(statement);
        for (const entry of entries ?? []) {
          const listed = readEntry(entry);
          if (listed === undefined) refuse(entry);
          else codes.push({ ...listed, folder, source, span: spanOf(entry) });
        }
      }
    }
  }
  return { codes, diagnostics };
}

/** Returns the properties of `export const xCodes = { … } as const`. */
function readCodesObject(statement: Node): readonly Node[] | undefined {
  if (!isVariableStatement(statement)) return undefined;
  const isExported = [...(statement.modifiers ?? [])].some(({ kind }) => kind === SyntaxKind.ExportKeyword);
  const [declaration, ...others] = statement.declarationList.declarations;
  if (!isExported || declaration === undefined || others.length > 0) return undefined;
  const { name, initializer } = declaration;
  if (!isIdentifier(name) || !name.text.endsWith("Codes")) return undefined;
  if (initializer === undefined || !isAsExpression(initializer)) return undefined;
  return isObjectLiteralExpression(initializer.expression)
    ? [...initializer.expression.properties]
    : undefined;
}

function readEntry(entry: Node): Pick<ErrorCode, "code" | "meaning"> | undefined {
  if (!isPropertyAssignment(entry) || !isIdentifier(entry.name)) return undefined;
  const { initializer } = entry;
  const isText = isStringLiteral(initializer) || isNoSubstitutionTemplateLiteral(initializer);
  return isText ? { code: entry.name.text, meaning: initializer.text } : undefined;
}

/** Returns every disagreement between the `codes.ts` files and the sources. */
export function checkErrorCodes(workspace: Workspace): Diagnostic[] {
  const { codes, diagnostics } = readErrorCodes(workspace);
  const known = new Set(codes.map(({ code }) => code));
  const produced = new Set(workspace.packages.flatMap(({ src }) => src.flatMap(listProducedCodes)));
  return [
    ...diagnostics,
    ...codes.flatMap((code, index) => checkListed(code, codes.slice(0, index), produced)),
    ...workspace.packages
      .filter(({ folder }) => folder !== testTools)
      .flatMap((one) => [...checkLiterals(one, known), ...checkMentions(one, known)]),
  ];
}

function checkListed(
  { source, span, code, meaning }: ErrorCode,
  before: readonly ErrorCode[],
  produced: ReadonlySet<string>,
): Diagnostic[] {
  const findings: Diagnostic[] = [];
  const add = (id: string, message: string, hint?: string) =>
    findings.push({ severity: "error", code: id, message, hint, source, span });
  if (!codePattern.test(code)) add("ERROR_CODE_NAME", `"${code}" is not in upper case with underscores`);
  // A sentence may begin with the name of a field.
  if (!/^(?:[A-Z`]|[a-z]+[._]).*\.$/.test(meaning))
    add("ERROR_CODE_MEANING", `The meaning of "${code}" is not a sentence with a full stop`);
  const twin = before.find((other) => other.code === code);
  if (twin !== undefined) add("ERROR_CODE_DUPLICATE", `"${code}" is listed in ${twin.source.name} too`);
  if (!produced.has(code)) add("ERROR_CODE_UNUSED", `Nothing throws or reports "${code}"`, "remove it");
  return findings;
}

/** Returns the codes that `file` produces. A comparison, a list or a key names a code without producing it. */
function listProducedCodes(file: WorkspaceFile): string[] {
  const codes: string[] = [];
  visitNodes(file.syntax, (node) => {
    const isText = isStringLiteral(node) || isNoSubstitutionTemplateLiteral(node);
    if (isText && codePattern.test(node.text) && isProduction(node)) codes.push(node.text);
  });
  return codes;
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
    isCaseClause(parent) ||
    isArrayLiteralExpression(parent) ||
    isComputedPropertyName(parent) ||
    isLiteralTypeNode(parent)
  );
}

/** Returns the codes that an error or a finding is made with and that no `codes.ts` lists. */
function checkLiterals({ src }: WorkspacePackage, known: ReadonlySet<string>): Diagnostic[] {
  const findings: Diagnostic[] = [];
  for (const file of src) {
    visitNodes(file.syntax, (node) => {
      const place = codePlaceOf(node);
      if (place === undefined) return;
      for (const literal of [place, ...descendants(place)]) {
        const isLiteral = isStringLiteral(literal) || isNoSubstitutionTemplateLiteral(literal);
        if (!isLiteral || !codePattern.test(literal.text) || isCompared(literal)) continue;
        if (known.has(literal.text)) continue;
        const message = `The code "${literal.text}" is in no codes.ts`;
        const hint = "list it in the package's codes.ts with its meaning";
        findings.push(finding("ERROR_CODE_UNLISTED", message, file, literal, hint));
      }
    });
  }
  return findings;
}

/** Returns the expression of a code: the first argument of an error, or the value of `code:`. */
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

/** Returns the codes that a `@throws` line documents and that no `codes.ts` lists. */
function checkMentions({ src }: WorkspacePackage, known: ReadonlySet<string>): Diagnostic[] {
  const findings: Diagnostic[] = [];
  for (const source of src) {
    for (const promise of source.text.matchAll(/@throws[^@]*?(?=\n\s*\*\s*@|\*\/|\n\s*\*\s*\n)/g)) {
      for (const mention of promise[0].matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`/g)) {
        const code = mention[1] ?? "";
        if (known.has(code)) continue;
        const start = promise.index + mention.index + 1;
        const message = `"${code}" is documented here and listed in no codes.ts`;
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
