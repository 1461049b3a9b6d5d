/**
 * Finds unused exports of `index.ts` files, and limits their number. An export is used by another package, by a
 * test, by the tools of the repository, or by users if a README or a guide names it.
 */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { isExportDeclaration, isNamedExports, type Node } from "typescript/unstable/ast";
import { listModuleReferences, spanOf } from "../syntax.ts";
import { scope, type Workspace, type WorkspaceFile, type WorkspacePackage } from "../workspace.ts";

const toolPatterns = [
  "scripts/**/*.ts",
  "bench/**/*.ts",
  "examples/**/*.ts",
  "packages/*/{bench,conformance}/**/*.ts",
];
const guidePatterns = ["README.md", "docs/guides/**/*.md"];

/** One export of an `index.ts`. */
interface Export {
  readonly name: string;
  readonly source: WorkspaceFile;
  readonly node: Node;
}

/** Returns a finding for each export that only the sources of its own package use. */
export function checkExportUse(workspace: Workspace): Diagnostic[] {
  const { packages, root } = workspace;
  const tools = readAll(root, toolPatterns);
  const guides = readAll(root, guidePatterns);
  return packages.flatMap((owner) => {
    const importers = packages.flatMap((other) =>
      other === owner ? other.test : [...other.src, ...other.test],
    );
    const used = new Set(importers.flatMap((file) => importedFrom(file, scope + owner.folder)));
    // The tools are not parsed here: the name of the package and of the export is enough.
    const toolTexts = tools.filter(({ text }) => text.includes(`"${scope}${owner.folder}"`));
    const pages = [...guides, ...readAll(root, [`packages/${owner.folder}/README.md`])];
    return listExports(owner)
      .filter(({ name }) => !used.has(name))
      .filter(({ name }) => ![...toolTexts, ...pages].some(({ text }) => namesWord(text, name)))
      .map(({ name, source, node }): Diagnostic => {
        const message = `Only the sources of "${owner.folder}" use "${name}", and no README or guide names it`;
        const hint = "stop exporting it, or document it for users";
        return { severity: "error", code: "ARCH_EXPORT_UNUSED", message, hint, source, span: spanOf(node) };
      });
  });
}

/** Maximum number of names that the packages for users and for each other export: each is a promise to keep. */
const maxExports = 1000;
/** The package that is never published. */
const testTools = "testing";

/** Returns a finding when the packages of `workspace`, except for the test tools, export too many names. */
export function checkExportCount({ packages }: Workspace, limit: number = maxExports): Diagnostic[] {
  const exports = packages.filter(({ folder }) => folder !== testTools).flatMap(listExports);
  const first = exports[limit];
  if (first === undefined) return [];
  const message = `The packages export ${exports.length} names; the limit is ${limit}`;
  const hint = "stop exporting names that only tests use, or that follow from another type";
  const { source, node } = first;
  return [{ severity: "error", code: "ARCH_EXPORTS_TOO_MANY", message, hint, source, span: spanOf(node) }];
}

function listExports(owner: WorkspacePackage): Export[] {
  const source = owner.src.find(({ name }) => name === `packages/${owner.folder}/src/index.ts`);
  return (source?.syntax.statements ?? []).flatMap((statement) => {
    if (source === undefined || !isExportDeclaration(statement)) return [];
    const clause = statement.exportClause;
    if (clause === undefined || !isNamedExports(clause)) return [];
    return clause.elements.map((element) => ({ name: element.name.text, source, node: element }));
  });
}

function importedFrom(file: WorkspaceFile, specifier: string): readonly string[] {
  return listModuleReferences(file.syntax)
    .filter((reference) => reference.specifier === specifier)
    .flatMap(({ names, span }) => (names.length > 0 ? names : namesAfter(file.text, span.start)));
}

/** Returns the names that `const { a, b } = await import("x")` and `import("x").A` import, where `start` is the specifier. */
function namesAfter(text: string, start: number): string[] {
  const line = text.slice(Math.max(0, start - 400), start);
  const destructured = /\{([^{}]*)\}\s*=\s*(?:await\s+)?\(?(?:await\s+)?import\(\s*$/.exec(line)?.[1] ?? "";
  const chosen = /^[^)]*\)\)?\s*\.\s*(?:then\(\s*\(\s*\{([^{}]*)\}|(\w+))/.exec(
    text.slice(start, start + 400),
  );
  return [...`${destructured} ${chosen?.[1] ?? ""} ${chosen?.[2] ?? ""}`.matchAll(/\w+/g)].map(
    ([name]) => name,
  );
}

function namesWord(text: string, name: string): boolean {
  return new RegExp(`\\b${name.replace(/\$/g, "\\$&")}\\b`).test(text);
}

function readAll(root: string, patterns: readonly string[]): { readonly text: string }[] {
  return globSync([...patterns], {
    cwd: root,
    exclude: (name) => name === "node_modules" || name === "dist",
  }).map((path) => ({ text: readFileSync(join(root, path), "utf8") }));
}
