/** Findings about undefined names, explained with the tools of the catalogue. Pure. */

import type { Diagnostic, Source } from "@toolcrib/diagnostics";
import { callNames, type ToolDirectory } from "./tool-directory.ts";

/** Adds to findings about undefined names which tool is meant, why it cannot be called, or which namespaces exist. */
export function explainNames(
  findings: readonly Diagnostic[],
  source: Source,
  directory: ToolDirectory,
): readonly Diagnostic[] {
  return findings.map((finding) => {
    if (finding.code !== "STARLARK_UNDEFINED_NAME" || finding.span === undefined) return finding;
    const { start, end } = finding.span;
    const name = source.text.slice(start, end);
    return (
      withExpression(finding, name, directory) ??
      withReason(finding, name, directory) ??
      (source.text[end] === "." ? withNamespaces(finding, directory) : finding)
    );
  });
}

/** Adds the way to call a tool to the finding about its name as a client sees it, such as `github__search`. */
function withExpression(finding: Diagnostic, name: string, directory: ToolDirectory): Diagnostic | undefined {
  const tool = directory.byName.get(name);
  const expression = tool === undefined ? undefined : callNames(directory).get(tool.id);
  return expression === undefined ? undefined : { ...finding, hint: `write ${expression}({…})` };
}

/** Adds why an existing tool or namespace cannot be called. */
function withReason(finding: Diagnostic, name: string, { explain }: ToolDirectory): Diagnostic | undefined {
  const reason = explain?.(name);
  if (reason === undefined) return undefined;
  return { ...finding, message: `undefined: ${name} (${reason})`, hint: undefined };
}

/** Adds the available namespaces, unless the finding suggests a name. */
function withNamespaces(finding: Diagnostic, directory: ToolDirectory): Diagnostic {
  if (finding.hint !== undefined) return finding;
  const names = [...directory.namespaces.keys()].sort();
  const hint =
    names.length === 0
      ? "there are no tools"
      : `tools are called as NAMESPACE.TOOL({…}); the namespaces are ${names.slice(0, 20).join(", ")}`;
  return { ...finding, hint };
}
