/**
 * Limits the size of the packages that depend on many others. Code collects there, because everything that it needs is
 * in reach; with a limit, it moves to a lower package where it can.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import type { WorkspacePackage } from "../workspace.ts";

/** Maximum number of lines of all sources of a package, and where code goes instead. */
const limits: ReadonlyMap<string, { readonly lines: number; readonly hint: string }> = new Map([
  [
    "gateway",
    {
      lines: 7500,
      hint: "the gateway composes: move what can be stated with small interfaces into a package of floor 3 or lower",
    },
  ],
]);

/** Returns a finding if the sources of `owner` have more lines than its limit, at its longest file. */
export function checkPackageSize({ folder, src }: WorkspacePackage): Diagnostic[] {
  const limit = limits.get(folder);
  const sizes = src.map((file) => ({ file, lines: file.text.split("\n").length - 1 }));
  const total = sizes.reduce((sum, { lines }) => sum + lines, 0);
  const longest = sizes.toSorted((one, other) => other.lines - one.lines)[0];
  if (limit === undefined || longest === undefined || total <= limit.lines) return [];
  return [
    {
      severity: "error",
      code: "ARCH_PACKAGE_TOO_LONG",
      message: `The sources of "${folder}" have ${total} lines; the limit is ${limit.lines}`,
      hint: limit.hint,
      source: longest.file,
      span: { start: 0, end: 1 },
    },
  ];
}
