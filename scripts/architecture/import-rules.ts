/**
 * Checks the imports of one file at a time: they follow the table of floors,
 * enter a package only through its `index.ts`, never lead from `src` to `test`,
 * on floors 0 and 1 never lead to Node itself, and load `node:http` without what
 * a gateway does not use.
 */

import { isBuiltin } from "node:module";
import { posix } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { listModuleReferences, type ModuleReference } from "../syntax.ts";
import { scope, type WorkspaceFile, type WorkspacePackage } from "../workspace.ts";
import type { FloorTable } from "./floor-table.ts";

/** The highest floor that never imports Node's modules. */
const pureFloor = 1;

/** Returns a finding for every import of `owner`'s files that the table or the layout forbids. */
export function checkImports(owner: WorkspacePackage, table: FloorTable): Diagnostic[] {
  return [
    ...owner.src.flatMap((file) =>
      listModuleReferences(file.syntax).flatMap((reference) =>
        checkSourceReference(owner, table, file, reference),
      ),
    ),
    ...owner.test.flatMap((file) =>
      listModuleReferences(file.syntax).flatMap((reference) => checkTestReference(owner, file, reference)),
    ),
  ];
}

function checkSourceReference(
  owner: WorkspacePackage,
  table: FloorTable,
  file: WorkspaceFile,
  reference: ModuleReference,
): Diagnostic[] {
  const { specifier } = reference;
  const row = table.rows.get(owner.folder);
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(file.name), specifier);
    if (target.startsWith(`packages/${owner.folder}/src/`)) return [];
    return target.startsWith(`packages/${owner.folder}/test/`)
      ? [finding("ARCH_TEST_IMPORT", `"src" may not import the test file "${target}"`, file, reference)]
      : [
          finding(
            "ARCH_DEEP_IMPORT",
            `Cannot import "${target}", which is outside this package's src`,
            file,
            reference,
            "import other packages by name",
          ),
        ];
  }
  if (specifier.startsWith(scope)) {
    const { folder, inside } = splitName(specifier);
    const findings = inside === "" ? [] : [deepImport(folder, file, reference)];
    if (row !== undefined && !row.mayImport.has(folder)) {
      const allowed = [...row.mayImport].sort().join(", ");
      const message =
        folder === owner.folder
          ? `"${owner.folder}" may not import itself by name`
          : `"${owner.folder}" may not import "${folder}"; it may import ${allowed === "" ? "no other package" : allowed}`;
      const hint = folder === owner.folder ? "use a relative path" : "ARCHITECTURE.md draws the floors";
      findings.push(finding("ARCH_IMPORT_NOT_ALLOWED", message, file, reference, hint));
    }
    return findings;
  }
  if (isBuiltin(specifier) && row?.floor !== undefined && row.floor <= pureFloor) {
    const message = `"${owner.folder}" is on floor ${row.floor} and may not import Node's "${specifier}"`;
    return [finding("ARCH_NODE_IMPORT", message, file, reference, "pass the dependency as an argument")];
  }
  if (specifier === "node:http" && !reference.isTypeOnly && owner.folder !== "testing") {
    const message =
      'An import of "node:http" reads every export, and so loads Node\'s whole fetch at each start';
    const hint = 'import the types, and take the values from process.getBuiltinModule("node:http")';
    return [finding("ARCH_HTTP_IMPORT", message, file, reference, hint)];
  }
  return [];
}

/** Tests also import a package by its name, so that the same tests run on `src` and on `dist`. */
function checkTestReference(
  owner: WorkspacePackage,
  file: WorkspaceFile,
  reference: ModuleReference,
): Diagnostic[] {
  const { specifier } = reference;
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(file.name), specifier);
    if (target.startsWith(`packages/${owner.folder}/test/`)) return [];
    const message = `A test may not import "${target}"`;
    return [finding("ARCH_DEEP_IMPORT", message, file, reference, "import the package by name")];
  }
  if (!specifier.startsWith(scope)) return [];
  const { folder, inside } = splitName(specifier);
  return inside === "" ? [] : [deepImport(folder, file, reference)];
}

/** Splits `@toolcrib/json/src/x.ts` into the folder (`json`) and the path inside it. */
export function splitName(specifier: string): { readonly folder: string; readonly inside: string } {
  const [folder = "", ...inside] = specifier.slice(scope.length).split("/");
  return { folder, inside: inside.join("/") };
}

function deepImport(folder: string, file: WorkspaceFile, reference: ModuleReference): Diagnostic {
  const message = `Cannot import "${reference.specifier}" past the index.ts of "${folder}"`;
  return finding("ARCH_DEEP_IMPORT", message, file, reference, `import "${scope}${folder}"`);
}

function finding(
  code: string,
  message: string,
  source: WorkspaceFile,
  reference: ModuleReference,
  hint?: string,
): Diagnostic {
  return { severity: "error", code, message, hint, source, span: reference.span };
}
