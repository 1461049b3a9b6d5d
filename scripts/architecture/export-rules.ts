/**
 * Finds unused exports of `index.ts` files, and limits their number. An export is a promise to keep: it is used by the
 * sources of another package, by the tools of this repository, or by users, if the README of its package or a guide
 * shows it as code. What only tests use is not exported; they enter through other names.
 */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { isExportDeclaration, isNamedExports, type Node } from "typescript/unstable/ast";
import { listModuleReferences, spanOf } from "../syntax.ts";
import { scope, type Workspace, type WorkspaceFile, type WorkspacePackage } from "../workspace.ts";

const toolPatterns = ["scripts/**/*.ts"];
const guidePatterns = ["README.md", "docs/guides/**/*.md"];

/** One export of an `index.ts`. */
interface Export {
  readonly name: string;
  readonly source: WorkspaceFile;
  readonly node: Node;
}

/** Parts that only tests use by name, with the reasons why they are tested by themselves. */
const testedParts: ReadonlyMap<string, string> = new Map([
  ["cedar.openPartialDecisions", "compared with complete decisions for random requests"],
  ["cli.createLogger", "the log of the command line, for tests that start a gateway without it"],
  ["cli.exitCodeOf", "a table of exit codes that are hard to cause"],
  ["egress.ClientHelloReader", "reads bytes of programs that are not trusted"],
  ["egress.NameServer", "reads bytes of programs that are not trusted"],
  ["egress.parseAuthority", "compared with the URL standard for random texts"],
  ["metatool.approveReach", "compared with approvals that earlier versions wrote"],
  ["metatool.approvedReachOf", "compared with approvals that earlier versions wrote"],
  ["metatool.CompositeMemory", "shares memory among runs, which a test has to order"],
  ["metatool.nodeFiles", "steps at which tests stop a save"],
  ["metatool.prepareArguments", "a table of coercions of hostile arguments"],
  ["metatool.ProgramTurns", "shares time among runs, which a test has to order"],
  ["runners.findRegistries", "the settings of package runners, without their programs"],
  ["store.appendAnchor", "writes what a sink of anchors receives"],
]);

/** Returns a finding for each export that neither other packages nor the tools of the repository use, and no page shows. */
export function checkExportUse(workspace: Workspace): Diagnostic[] {
  const { packages, root } = workspace;
  const tools = readAll(root, toolPatterns);
  const guides = readAll(root, guidePatterns).map(({ text }) => codeOf(text));
  return packages.flatMap((owner) => {
    const importers = packages.filter((other) => other !== owner && other.folder !== testTools);
    // The test tools are for tests.
    const files = owner.folder === testTools ? packages.flatMap(({ test }) => test) : [];
    const used = new Set(
      [...importers.flatMap(({ src }) => src), ...files].flatMap((file) =>
        importedFrom(file, scope + owner.folder),
      ),
    );
    // The tools are not parsed here: the name of the package and of the export is enough.
    const toolTexts = tools.filter(({ text }) => text.includes(`"${scope}${owner.folder}"`));
    const readme = readAll(root, [`packages/${owner.folder}/README.md`]).map(({ text }) => codeOf(text));
    const pages = [...guides, ...readme, ...toolTexts.map(({ text }) => text)];
    return listExports(owner)
      .filter(({ name }) => !used.has(name) && !testedParts.has(`${owner.folder}.${name}`))
      .filter(({ name }) => !pages.some((text) => namesWord(text, name)))
      .map(({ name, source, node }): Diagnostic => {
        const message = `No source of another package uses "${name}", and no README or guide shows it`;
        const hint = "stop exporting it, and let tests enter through another name, or document it for users";
        return { severity: "error", code: "ARCH_EXPORT_UNUSED", message, hint, source, span: spanOf(node) };
      });
  });
}

/** Returns the code of a page: its blocks, and what is between backticks. */
function codeOf(markdown: string): string {
  return [...markdown.matchAll(/^```[\s\S]*?^```|`[^`\n]+`/gm)].map(([code]) => code).join("\n");
}

/** Maximum number of names that the packages of `foundation` export together. */
const maxExports = 620;
/** The packages that everything is built on. What others export is limited by its use alone. */
const foundation: ReadonlySet<string> = new Set([
  ...["json", "diagnostics", "lifecycle", "tool", "document"],
  ...["hosts", "redaction", "search", "starlark", "toolspec", "openapi"],
  ...["files", "process", "store", "secrets", "egress", "mcp", "auth"],
  ...["config", "upstream", "metatool", "toolpack"],
  ...["http", "gateway", "registry", "cli"],
]);
/** The package that is never published. */
const testTools = "testing";

/** Returns a finding when the packages of the foundation of `workspace` export too many names. */
export function checkExportCount({ packages }: Workspace, limit: number = maxExports): Diagnostic[] {
  const exports = packages.filter(({ folder }) => foundation.has(folder)).flatMap(listExports);
  const first = exports[limit];
  if (first === undefined) return [];
  const message = `The packages of the foundation export ${exports.length} names; the limit is ${limit}`;
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
