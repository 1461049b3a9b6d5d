/**
 * Rules for the content of a source file: no default exports and no `export *`,
 * re-exports in `index.ts` only, no access to the process or the clock outside the
 * composition roots, no process started except by `process`, and at most 500 lines
 * without a reason.
 */

import type { Diagnostic, Span } from "@toolcrib/diagnostics";
import {
  type Identifier,
  isBindingElement,
  isCallExpression,
  isElementAccessExpression,
  isExportAssignment,
  isExportDeclaration,
  isIdentifier,
  isImportSpecifier,
  isNamedExports,
  isNewExpression,
  isPropertyAccessExpression,
  isStringLiteral,
  type Node,
  type SourceFile,
  SyntaxKind,
} from "typescript/unstable/ast";
import type { Checker } from "typescript/unstable/sync";
import { headerOf, listModuleReferences, spanOf, visitNodes } from "../syntax.ts";
import { scope, type WorkspaceFile, type WorkspacePackage } from "../workspace.ts";

/** Modules that must be imported by member, not as a whole. */
const wholeModules: ReadonlySet<string> = new Set(["node:process", "node:console"]);

/** Packages that may use the process, the clock, randomness and the console directly. */
const outermostPackages: ReadonlySet<string> = new Set(["cli", "testing"]);
/**
 * The composition roots, of the gateway as a server and as a library, and of a
 * process and a thread that execute composites: the only other files with direct access.
 */
const compositionRoots: ReadonlySet<string> = new Set([
  "packages/metatool/src/run/isolated/child-process.ts",
  "packages/metatool/src/run/threaded/execution-thread.ts",
  "packages/gateway/src/start-gateway.ts",
  "packages/registry/src/registry.ts",
]);

/**
 * Packages whose source may start processes: the one that starts them for all
 * others, and the one with the test servers.
 */
const processPackages: ReadonlySet<string> = new Set(["process", "testing"]);
/** Modules of Node that start processes. */
const processModules: ReadonlySet<string> = new Set(["node:child_process", "node:cluster"]);

const maxLines = 500;

/** Ambient inputs and outputs, by object and member; `*` is every member. */
const ambientMembers: ReadonlyMap<string, readonly string[]> = new Map([
  ["process", ["env", "argv", "exit", "exitCode", "hrtime", "stdin", "stdout", "stderr"]],
  ["Date", ["now"]],
  ["performance", ["now", "timeOrigin"]],
  ["Math", ["random"]],
  ["crypto", ["randomUUID", "getRandomValues", "randomBytes", "randomInt"]],
  ["console", ["*"]],
]);

/** The one package that replaces files. */
const filesPackage = "files";
/** Allowed renames, which replace no file that another process reads, with their reasons. */
const allowedRenames: ReadonlyMap<string, string> = new Map([
  ["packages/auth/src/control-socket.ts", "a new socket gets its name when it listens"],
  ["packages/process/src/log-file.ts", "log rotation: the rotated file is complete"],
  ["packages/store/src/audit-heads.ts", "moves a folder out of the place of a signed file"],
  ["packages/store/src/index-database.ts", "moves a damaged index out of the way; it is rebuilt"],
]);
const fileModules: ReadonlySet<string> = new Set(["node:fs", "fs", "node:fs/promises", "fs/promises"]);
const renameFunctions: ReadonlySet<string> = new Set(["rename", "renameSync"]);

/** Global functions that access the network or the clock. */
const ambientFunctions: ReadonlySet<string> = new Set(["fetch", "Date"]);

/** Modules of Node that export the same functions. */
const ambientModules: ReadonlyMap<string, string> = new Map([
  ["node:process", "process"],
  ["node:crypto", "crypto"],
  ["node:perf_hooks", "performance"],
  ["node:console", "console"],
]);

/** Applies every rule of this file to every source file of `owner`. */
export function checkFiles(owner: WorkspacePackage, checker: Checker): Diagnostic[] {
  return owner.src.flatMap((file) => {
    const isOutermost = outermostPackages.has(owner.folder) || compositionRoots.has(file.name);
    return [
      ...checkLength(file),
      ...checkExports(file, file.name === `packages/${owner.folder}/src/index.ts`),
      ...(isOutermost ? [] : checkAmbient(file, checker)),
      ...(processPackages.has(owner.folder) ? [] : checkProcesses(file)),
      ...(owner.folder === filesPackage || allowedRenames.has(file.name) ? [] : checkRenames(file)),
    ];
  });
}

function checkLength(file: WorkspaceFile): Diagnostic[] {
  const lines = file.text.split("\n").length - (file.text.endsWith("\n") ? 1 : 0);
  // The reason is prose, so the check only looks for words that such a sentence contains.
  if (lines <= maxLines || /\bone piece\b/.test(headerOf(file.text))) return [];
  const message = `The file has ${lines} lines; more than ${maxLines} need a reason in its header`;
  const hint = 'divide it, or say in its header why it is "one piece"';
  const start = file.text.length;
  return [finding("ARCH_FILE_TOO_LONG", message, file, { start, end: start }, hint)];
}

function checkExports(file: WorkspaceFile, isIndex: boolean): Diagnostic[] {
  const findings: Diagnostic[] = [];
  const imported = importedNames(file.syntax);
  for (const node of file.syntax.statements) {
    if (isExportAssignment(node) || hasDefaultModifier(node)) {
      const message = "Default exports are not allowed";
      findings.push(finding("ARCH_DEFAULT_EXPORT", message, file, spanOf(node), "export it by its name"));
    }
    if (!isExportDeclaration(node)) continue;
    const clause = node.exportClause;
    if (clause === undefined || !isNamedExports(clause)) {
      const message = "export * is not allowed: name each export";
      findings.push(finding("ARCH_EXPORT_ALL", message, file, spanOf(node)));
      continue;
    }
    for (const element of clause.elements) {
      if (element.name.text === "default")
        findings.push(
          finding("ARCH_DEFAULT_EXPORT", "Default exports are not allowed", file, spanOf(element)),
        );
    }
    const isReexport =
      node.moduleSpecifier !== undefined ||
      clause.elements.some((element) => imported.has((element.propertyName ?? element.name).text));
    if (isReexport && !isIndex) {
      const message = "Only a package's index.ts may re-export";
      findings.push(finding("ARCH_RE_EXPORT", message, file, spanOf(node)));
    }
  }
  return findings;
}

function hasDefaultModifier(node: Node): boolean {
  const { modifiers } = node as { readonly modifiers?: Iterable<Node> };
  return [...(modifiers ?? [])].some((modifier) => modifier.kind === SyntaxKind.DefaultKeyword);
}

function checkAmbient(file: WorkspaceFile, checker: Checker): Diagnostic[] {
  const findings: Diagnostic[] = [];
  const add = (what: string, span: Span) => {
    const message = `"${what}" is used here; it belongs to the command line and to the composition roots`;
    const hint = "take a clock, a random source, a fetch, an environment or a logger as an argument";
    findings.push(finding("ARCH_AMBIENT", message, file, span, hint));
  };
  for (const { specifier, names, span } of listModuleReferences(file.syntax)) {
    const object = ambientModules.get(specifier);
    for (const name of names) {
      if (object === undefined) continue;
      // Uses of its members cannot be detected under another name; the global `process` is available instead.
      const isWhole = name === "default" || name === "*";
      if (isWhole ? wholeModules.has(specifier) : isAmbientMember(object, name))
        add(isWhole ? specifier : `${name} of ${specifier}`, span);
    }
  }
  visitNodes(file.syntax, (node) => {
    const access = memberAccess(node);
    if (access !== undefined) {
      const { object, member } = access;
      const isFound =
        object.text === "globalThis"
          ? ambientMembers.has(member) || ambientFunctions.has(member)
          : isAmbientMember(object.text, member);
      if (isFound && !isDeclaredHere(object, checker)) add(`${object.text}.${member}`, spanOf(node));
    } else if (isCallExpression(node) && isIdentifier(node.expression)) {
      const { expression } = node;
      if (ambientFunctions.has(expression.text) && !isDeclaredHere(expression, checker))
        add(`${expression.text}()`, spanOf(node));
    } else if (isNewExpression(node) && isIdentifier(node.expression)) {
      const { expression } = node;
      const isClock = expression.text === "Date" && (node.arguments?.length ?? 0) === 0;
      if (isClock && !isDeclaredHere(expression, checker)) add("new Date()", spanOf(node));
    }
  });
  return findings;
}

/** Whether an import is of types only, which starts no process. */
function checkProcesses(file: WorkspaceFile): Diagnostic[] {
  return listModuleReferences(file.syntax)
    .filter(({ specifier, isTypeOnly }) => !isTypeOnly && processModules.has(withScheme(specifier)))
    .map(({ specifier, span }) => {
      const message = `"${specifier}" is imported here, and only the package "process" starts processes`;
      return finding("ARCH_PROCESS", message, file, span, 'start the program with "@toolcrib/process"');
    });
}

/** Returns the specifier of a built-in module with its optional `node:` prefix. */
function withScheme(specifier: string): string {
  return specifier.startsWith("node:") ? specifier : `node:${specifier}`;
}

/**
 * Finds `rename` and `renameSync` of Node: a file that is renamed over another is
 * a second atomic replacement. Imported by name, or read from a module that was
 * imported as a whole (also by `promises` and `import()`).
 */
function checkRenames(file: WorkspaceFile): Diagnostic[] {
  const findings: Diagnostic[] = [];
  const add = (what: string, span: Span) => {
    const message = `Only the package "${filesPackage}" renames files, and "${what}" is used here`;
    const hint = `use replaceFile of ${scope}${filesPackage}; a rename that replaces nothing needs an entry with its reason in scripts/architecture/file-rules.ts`;
    findings.push(finding("ARCH_FILE_REPLACED", message, file, span, hint));
  };
  const references = listModuleReferences(file.syntax).filter(
    ({ specifier, isTypeOnly }) => fileModules.has(specifier) && !isTypeOnly,
  );
  for (const { names, span } of references) {
    for (const name of names) if (renameFunctions.has(name)) add(name, span);
  }
  const isWhole = ({ names }: { readonly names: readonly string[] }) =>
    names.length === 0 || names.some((name) => ["default", "*", "promises"].includes(name));
  // The steps of the package "files" are for its own functions.
  const hasSteps = listModuleReferences(file.syntax).some(
    ({ specifier, names }) => specifier === `${scope}${filesPackage}` && names.includes("nodeFileSteps"),
  );
  if (!hasSteps && !references.some(isWhole)) return findings;
  visitNodes(file.syntax, (node) => {
    const member = readMember(node);
    if (member !== undefined && renameFunctions.has(member)) add(member, spanOf(node));
  });
  return findings;
}

/** Returns the member that `a.member`, `a["member"]` or `{ member } = a` reads. */
function readMember(node: Node): string | undefined {
  if (isPropertyAccessExpression(node)) return node.name.text;
  if (isElementAccessExpression(node) && isStringLiteral(node.argumentExpression)) {
    return node.argumentExpression.text;
  }
  if (!isBindingElement(node)) return undefined;
  const name = node.propertyName ?? node.name;
  return name !== undefined && isIdentifier(name) ? name.text : undefined;
}

function isAmbientMember(object: string, member: string): boolean {
  const members = ambientMembers.get(object);
  return members !== undefined && (member === "*" || members.includes(member) || members.includes("*"));
}

/** Returns the parts of `object.member` and `object["member"]`, if the object is a plain name. */
function memberAccess(node: Node): { readonly object: Identifier; readonly member: string } | undefined {
  if (isPropertyAccessExpression(node) && isIdentifier(node.expression)) {
    return { object: node.expression, member: node.name.text };
  }
  if (isElementAccessExpression(node) && isIdentifier(node.expression)) {
    const { argumentExpression } = node;
    // A computed member can be any member.
    const member = isStringLiteral(argumentExpression) ? argumentExpression.text : "*";
    return { object: node.expression, member };
  }
  return undefined;
}

/**
 * Whether `name` is a parameter, a variable or a named import of its file. A
 * module taken as a whole (`import process from "node:process"`) is not.
 */
function isDeclaredHere(name: Identifier, checker: Checker): boolean {
  const { path } = name.getSourceFile();
  const declarations = checker.getSymbolAtLocation(name)?.declarations ?? [];
  return declarations.some(
    (declaration) =>
      declaration.path === path &&
      declaration.kind !== SyntaxKind.ImportClause &&
      declaration.kind !== SyntaxKind.NamespaceImport,
  );
}

function importedNames(file: SourceFile): ReadonlySet<string> {
  const names = new Set<string>();
  for (const statement of file.statements) {
    visitNodes(statement, (node) => {
      if (isImportSpecifier(node)) names.add(node.name.text);
    });
  }
  return names;
}

function finding(
  code: string,
  message: string,
  source: WorkspaceFile,
  span: Span,
  hint?: string,
): Diagnostic {
  return { severity: "error", code, message, hint, source, span };
}
