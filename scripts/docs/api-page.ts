/**
 * `docs/api/<package>.api.md`: the exports of a package with their signatures, so that
 * a review sees every change of an interface as a change of this page.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import {
  isExportDeclaration,
  isFunctionDeclaration,
  isNamedExports,
  type Node,
} from "typescript/unstable/ast";
import type { Checker } from "typescript/unstable/sync";
import { spanOf } from "../syntax.ts";
import type { WorkspaceFile, WorkspacePackage } from "../workspace.ts";
import { type DeclarationKind, declarationText, kindOf } from "./declaration-text.ts";

/** One export of an `index.ts`. */
export interface ApiEntry {
  readonly name: string;
  readonly kind: DeclarationKind;
  /** The doc comment before its tags; empty if there is none. */
  readonly doc: string;
  /** Its declarations, without bodies and comments. */
  readonly text: string;
  /** Its heading in `index.ts`. */
  readonly section: string;
  /** Its position in `index.ts`. */
  readonly node: Node;
}

/** Returns all exports of `owner`, in the order of its `index.ts`. */
export function listApi(owner: WorkspacePackage, checker: Checker): ApiEntry[] {
  const entries: ApiEntry[] = [];
  let section = "";
  for (const statement of indexOf(owner)?.syntax.statements ?? []) {
    const comments = statement.getSourceFile().text.slice(statement.getFullStart(), statement.getStart());
    section = [...comments.matchAll(/^\/\/ *(.*?)\.?$/gm)].at(-1)?.[1] ?? section;
    if (!isExportDeclaration(statement)) continue;
    const clause = statement.exportClause;
    if (clause === undefined || !isNamedExports(clause)) continue;
    for (const element of clause.elements) {
      const symbol = checker.getSymbolAtLocation(element.name);
      const target = symbol === undefined ? undefined : checker.getAliasedSymbol(symbol);
      const nodes = target?.declarations.map((declaration) => declaration.resolve()) ?? [];
      const all = nodes.filter((node) => node !== undefined);
      // The implementation of an overloaded function is not visible to callers.
      const overloads = all.filter((node) => !(isFunctionDeclaration(node) && node.body !== undefined));
      const declarations = overloads.length > 0 ? overloads : all;
      const [first] = declarations;
      if (target === undefined || first === undefined)
        throw new Error(`${owner.folder} exports ${element.name.text}, which is declared nowhere`);
      entries.push({
        name: element.name.text,
        kind: kindOf(first),
        doc: target.getDocumentationComment(checker),
        text: declarations.map((node) => declarationText(node, checker)).join("\n"),
        section,
        node: element,
      });
    }
  }
  return entries;
}

function indexOf(owner: WorkspacePackage): WorkspaceFile | undefined {
  return owner.src.find(({ name }) => name === `packages/${owner.folder}/src/index.ts`);
}

/** Returns a finding for each export of `owner` without a doc comment. */
export function checkApiDocs(owner: WorkspacePackage, checker: Checker): Diagnostic[] {
  const source = indexOf(owner);
  return listApi(owner, checker)
    .filter(({ doc }) => doc.trim() === "")
    .map(({ name, node }) => ({
      severity: "error",
      code: "DOC_MISSING",
      message: `"${name}" is exported and has no doc comment`,
      source,
      span: spanOf(node),
    }));
}

/** Returns the page of `owner`. */
export function apiPage(owner: WorkspacePackage, checker: Checker): string {
  const lines = [
    `# ${owner.manifest.name}`,
    "",
    `<!-- Written by \`npm run docs\` from packages/${owner.folder}/src/index.ts. -->`,
  ];
  let section = "";
  for (const entry of listApi(owner, checker)) {
    if (entry.section !== section) {
      section = entry.section;
      lines.push("", `## ${section}`);
    }
    lines.push("", `${section === "" ? "##" : "###"} ${entry.name} (${entry.kind})`, "");
    const paragraph = firstParagraph(entry.doc);
    if (paragraph !== "") lines.push(paragraph, "");
    lines.push("```ts", entry.text, "```");
  }
  return `${lines.join("\n")}\n`;
}

function firstParagraph(doc: string): string {
  return (doc.trim().split(/\n\s*\n/)[0] ?? "").replace(/\s*\n\s*/g, " ");
}
