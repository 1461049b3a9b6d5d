/**
 * Checks every source file against ARCHITECTURE.md: its table of floors and
 * allowed imports, and the rules about the form of the code. Reads syntax only;
 * runs nothing.
 */

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { checkCycles } from "./architecture/cycle-rules.ts";
import { checkDependencies } from "./architecture/dependency-rules.ts";
import { checkFiles } from "./architecture/file-rules.ts";
import { type FloorTable, parseFloorTable } from "./architecture/floor-table.ts";
import { checkFunctions } from "./architecture/function-rules.ts";
import { checkImports } from "./architecture/import-rules.ts";
import { checkOrigins } from "./architecture/origin-rules.ts";
import { checkPackageSize } from "./architecture/size-rules.ts";
import type { Workspace } from "./workspace.ts";

/** Returns a finding for each place where `workspace` breaks a rule of its ARCHITECTURE.md. */
export function checkArchitecture(workspace: Workspace): Diagnostic[] {
  const { packages, root } = workspace;
  const name = "ARCHITECTURE.md";
  const table = parseFloorTable({ name, text: readFileSync(join(root, name), "utf8") });
  return [
    ...table.diagnostics,
    ...checkRows(workspace, table),
    ...packages.flatMap((one) => checkImports(one, table)),
    ...packages.flatMap((one) => checkFiles(one, workspace.checker)),
    ...packages.flatMap(({ src }) => src.flatMap((file) => [...checkOrigins(file), ...checkFunctions(file)])),
    ...packages.flatMap(checkPackageSize),
    ...packages.flatMap((one) => checkDependencies(one, packages)),
    ...checkCycles(packages),
  ];
}

/** Checks that every package has a row in the table, and every row a package. */
function checkRows({ packages }: Workspace, { rows, source }: FloorTable): Diagnostic[] {
  const folders = new Set(packages.map(({ folder }) => folder));
  const missing = packages
    .filter(({ folder }) => !rows.has(folder))
    .map(({ folder, manifestSource }): Diagnostic => {
      const message = `"${folder}" has no row among the floors of ${source.name}`;
      const span = { start: 0, end: 1 };
      return { severity: "error", code: "ARCH_TABLE_INVALID", message, source: manifestSource, span };
    });
  const left = [...rows.values()]
    .filter(({ folder }) => !folders.has(folder))
    .map(({ folder, span }): Diagnostic => {
      const message = `"${folder}" has a row and no folder in packages/`;
      return { severity: "error", code: "ARCH_TABLE_INVALID", message, source, span };
    });
  return [...missing, ...left];
}
