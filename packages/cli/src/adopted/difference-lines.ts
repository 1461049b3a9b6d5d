/** Formats the differences between the manifest of an adopted server and its tools. No I/O. */

import type { SourceStatus } from "@toolcrib/inventory";
import { type Output, safeLine } from "../output/output.ts";

/** Names that are listed of many. */
const namesMaxCount = 10;

/** Returns the differences as sentences; none where the manifest and the server agree. */
export function differenceTexts({ manifest }: Pick<SourceStatus, "manifest">): readonly string[] {
  const { missingTools = [], undeclaredTools = [] } = manifest ?? {};
  return [
    ...(missingTools.length === 0
      ? []
      : [`its manifest names tools that it does not have: ${listed(missingTools)}`]),
    ...(undeclaredTools.length === 0
      ? []
      : [
          `it has tools that its manifest does not name, and that are not offered: ${listed(undeclaredTools)}`,
        ]),
  ];
}

/** Returns the differences as marked lines for people. */
export function differenceLines(status: Pick<SourceStatus, "id" | "manifest">, output: Output): string[] {
  return differenceTexts(status).map(
    (text) => `${output.style("yellow", "differs")} ${safeLine(status.id)}: ${safeLine(text)}`,
  );
}

function listed(names: readonly string[]): string {
  const shown = names.slice(0, namesMaxCount).join(", ");
  return names.length > namesMaxCount ? `${shown} and ${names.length - namesMaxCount} more` : shown;
}
