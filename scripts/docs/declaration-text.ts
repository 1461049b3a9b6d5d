/**
 * Formats a declaration for API pages: the signature without bodies, private members,
 * comments and initial values. Omitted types are replaced by inferred ones.
 */

import {
  createScanner,
  isClassDeclaration,
  isConstructorDeclaration,
  isFunctionDeclaration,
  isGetAccessorDeclaration,
  isMethodDeclaration,
  isPrivateIdentifier,
  isPropertyDeclaration,
  isVariableDeclaration,
  type Node,
  SyntaxKind,
} from "typescript/unstable/ast";
import type { Checker } from "typescript/unstable/sync";

/** Names of the kinds of exports on the pages. */
export type DeclarationKind = "class" | "constant" | "function" | "interface" | "type";

/** Returns the kind of declaration of `node`. */
export function kindOf(node: Node): DeclarationKind {
  switch (node.kind) {
    case SyntaxKind.ClassDeclaration:
      return "class";
    case SyntaxKind.FunctionDeclaration:
      return "function";
    case SyntaxKind.InterfaceDeclaration:
      return "interface";
    case SyntaxKind.TypeAliasDeclaration:
      return "type";
    case SyntaxKind.VariableDeclaration:
      return "constant";
    default:
      throw new Error(`Cannot describe a declaration of kind ${SyntaxKind[node.kind]}`);
  }
}

/** Formats `node`. */
export function declarationText(node: Node, checker: Checker): string {
  if (isVariableDeclaration(node)) return `const ${node.name.getText()}: ${variableType(node, checker)};`;
  if (isFunctionDeclaration(node)) return `${withoutBody(node, node.body, node.type, checker)};`;
  if (isClassDeclaration(node)) return classText(node, checker);
  return tidy(node.getText());
}

function variableType(node: Node & { readonly type?: Node }, checker: Checker): string {
  if (node.type !== undefined) return tidy(node.type.getText());
  return typeText(node, checker);
}

function typeText(node: Node, checker: Checker): string {
  const type = checker.getTypeAtLocation(node);
  return type === undefined ? "unknown" : checker.typeToString(type, node);
}

/** Returns the text up to `body`, with its return type. */
function withoutBody(
  node: Node,
  body: Node | undefined,
  returnType: Node | undefined,
  checker: Checker,
): string {
  const end = body === undefined ? node.getEnd() : body.getFullStart();
  const text = tidy(node.getSourceFile().text.slice(node.getStart(), end)).replace(/;$/, "");
  if (returnType !== undefined || isConstructorDeclaration(node)) return text;
  const signature = checker.getSignatureFromDeclaration(node);
  const inferred = signature === undefined ? undefined : checker.getReturnTypeOfSignature(signature);
  return inferred === undefined ? text : `${text}: ${checker.typeToString(inferred, node)}`;
}

function classText(node: Node & { readonly members: Iterable<Node> }, checker: Checker): string {
  const text = node.getSourceFile().text;
  const head = tidy(text.slice(node.getStart(), text.indexOf("{", headEnd(node))));
  const members = [...node.members].flatMap((member) => memberText(member, checker));
  return members.length === 0 ? `${head} {}` : `${head} {\n${indent(members.join("\n"))}\n}`;
}

/** Returns the end of the heritage clauses or of the name of a class. */
function headEnd(node: Node): number {
  const { heritageClauses, name } = node as {
    readonly heritageClauses?: readonly Node[];
    readonly name?: Node;
  };
  return heritageClauses?.at(-1)?.getEnd() ?? name?.getEnd() ?? node.getStart();
}

function memberText(member: Node, checker: Checker): string[] {
  const { name } = member as { readonly name?: Node };
  const modifiers = [...((member as { readonly modifiers?: Iterable<Node> }).modifiers ?? [])];
  const isHidden =
    (name !== undefined && isPrivateIdentifier(name)) ||
    modifiers.some(({ kind }) => kind === SyntaxKind.PrivateKeyword);
  if (isHidden) return [];
  if (isConstructorDeclaration(member)) return [`${withoutBody(member, member.body, undefined, checker)};`];
  if (isMethodDeclaration(member) || isGetAccessorDeclaration(member))
    return [`${withoutBody(member, member.body, member.type, checker)};`];
  if (isPropertyDeclaration(member)) {
    const words = modifiers.map((modifier) => `${modifier.getText()} `).join("");
    const type = member.type === undefined ? typeText(member, checker) : tidy(member.type.getText());
    const mark = member.postfixToken?.getText() ?? "";
    return [`${words}${member.name.getText()}${mark}: ${type};`];
  }
  return [];
}

function indent(text: string): string {
  return text.replace(/^(?=.)/gm, "  ");
}

/** Removes `export`, comments and the resulting empty lines, and normalizes the indentation. */
function tidy(text: string): string {
  return withoutComments(text)
    .replace(/^export (?:declare )?(?:async )?/, "")
    .replace(/[ \t]+$/gm, "")
    .replace(/\n{2,}/g, "\n")
    .trim();
}

function withoutComments(text: string): string {
  const scanner = createScanner(false, undefined, text);
  let result = "";
  for (let token = scanner.scan(); token !== SyntaxKind.EndOfFile; token = scanner.scan()) {
    const isComment =
      token === SyntaxKind.SingleLineCommentTrivia || token === SyntaxKind.MultiLineCommentTrivia;
    if (!isComment) result += scanner.getTokenText();
  }
  return result;
}
