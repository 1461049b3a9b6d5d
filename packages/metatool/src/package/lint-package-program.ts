/** Checks the program of a package against the tools that it declares. Makes no call, and runs nothing. */

import type { Diagnostic } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { ToolId } from "@toolcrib/tool";
import { analyseComposite } from "../run/analyse/analyse-composite.ts";
import { declaredCatalog, type WireNameOf } from "./declared-catalog.ts";

/** A program of a package, as its manifest describes it. */
export interface DeclaredProgram {
  /** Path of the program in the package, for messages. */
  readonly path: string;
  readonly code: string;
  /** Ids of the only tools that it can call. */
  readonly tools: readonly ToolId[];
  readonly inputSchema: JsonObject;
}

/** Codes of findings about a tool that does not exist: here, one that is not declared. */
const unknownCodes: ReadonlySet<string> = new Set(["METATOOL_TOOL_UNKNOWN", "STARLARK_UNDEFINED_NAME"]);

/**
 * Returns the findings about a program, those about its names included: a tool that it calls and does not
 * declare is an error, a tool that it declares and does not call is a warning. A program that chooses tools at
 * run time chooses among the declared ones.
 */
export function lintPackageProgram(
  { path, code, tools, inputSchema }: DeclaredProgram,
  wireNameOf: WireNameOf,
): readonly Diagnostic[] {
  const { diagnostics, reach } = analyseComposite(code, declaredCatalog(tools, wireNameOf), { inputSchema });
  const source = { name: path, text: code };
  const reached = new Set<string>(reach.tools);
  const unused = reach.dynamic ? [] : tools.filter((id) => !reached.has(id));
  return [
    ...diagnostics.map((finding) => ({ ...withDeclaration(finding, code), source })),
    ...unused.map((id): Diagnostic => {
      const message = `The package declares the tool "${id}", which "${path}" does not name`;
      const hint =
        "remove it from tools of the endpoint: the operator has to approve each tool that is declared";
      return { severity: "warning", code: "METATOOL_TOOL_UNUSED", message, hint, path };
    }),
  ];
}

/** Adds to a finding about an unknown tool that it can be declared. */
function withDeclaration(finding: Diagnostic, code: string): Diagnostic {
  const { span } = finding;
  if (!unknownCodes.has(finding.code) || span === undefined) return finding;
  const isName = finding.code === "STARLARK_UNDEFINED_NAME" && code[span.end] !== ".";
  if (isName) return finding;
  const hint = `a program calls only the tools that it declares; add its id to tools of the endpoint in manifest.json`;
  return { ...finding, hint };
}
