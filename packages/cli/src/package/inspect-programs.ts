/** The Starlark programs of packages, checked against the tools that they declare. */

import type { Diagnostic } from "@toolcrib/diagnostics";
import { wireNameOfId } from "@toolcrib/inventory";
import { programsOf, readProgram, type ToolPackage } from "@toolcrib/mcpkg";
import { lintPackageProgram } from "@toolcrib/metatool";

/** Returns the findings about the programs of a package: a call of a tool that is not declared is an error. */
export function inspectPrograms({ manifest, files }: ToolPackage): readonly Diagnostic[] {
  return programsOf(manifest).flatMap(({ source: path, tools = [] }) => {
    const code = readProgram(files, path);
    if (code === undefined) return [];
    return lintPackageProgram({ path, code, tools, inputSchema: manifest.input_schema }, wireNameOfId);
  });
}
