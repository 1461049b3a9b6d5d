/** Checks that every metric that a page names is one that the gateway exposes. */

import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";
import { listPages } from "./link-rules.ts";

/** Names in the sources that are declared as metrics. */
const declared = /"(toolcrib_[a-z_]+)"/g;
/** The endings that the format of Prometheus adds to the name of a histogram. */
const histogramParts = /_(?:bucket|sum|count)$/;

/** Returns a finding for each name of a metric in the pages below `root` that no source declares. */
export function checkMetrics(root: string): Diagnostic[] {
  const sources = globSync("packages/http/src/**/*.ts", { cwd: root });
  const known = new Set(
    sources.flatMap((path) =>
      [...readFileSync(join(root, path), "utf8").matchAll(declared)].map(([, name]) => name),
    ),
  );
  return listPages(root).flatMap((page) => {
    const source = { name: page, text: readFileSync(join(root, page), "utf8") };
    return [...source.text.matchAll(/\btoolcrib_[a-z_]+[a-z]\b/g)].flatMap((match): Diagnostic[] => {
      const [name] = match;
      if (known.has(name) || known.has(name.replace(histogramParts, ""))) return [];
      const span = { start: match.index, end: match.index + name.length };
      return [
        {
          severity: "error",
          code: "DOC_METRIC_UNKNOWN",
          message: `No metric is called "${name}"`,
          source,
          span,
        },
      ];
    });
  });
}
