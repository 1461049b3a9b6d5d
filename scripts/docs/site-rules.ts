/**
 * Checks the documentation site without building it: each page is in the sidebar once, and each
 * link between pages leads to a file and a heading that exist. `checkLinks` checks all other links.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import { linksOf, pagesBySource, resolveLink } from "../../site/links.ts";
import { listSitePages } from "../../site/pages.ts";
import { fillSidebar, readSidebar } from "../../site/sidebar.ts";

/** Returns a finding for each broken link and for each fault of the sidebar. */
export function checkSite(root: string): Diagnostic[] {
  const pages = listSitePages(root);
  const bySource = pagesBySource(pages);
  const { problems } = fillSidebar(readSidebar(root), pages);
  return [
    ...problems.map(
      (message): Diagnostic => ({
        severity: "error",
        code: "SITE_SIDEBAR",
        message,
        hint: "edit site/sidebar.json",
      }),
    ),
    ...pages.flatMap(({ source: name, text }) =>
      linksOf(text).flatMap(({ href, start }): Diagnostic[] => {
        const target = resolveLink(root, bySource, name, href);
        if (target.kind !== "broken") return [];
        const span = { start, end: start + href.length };
        return [
          {
            severity: "error",
            code: "SITE_LINK_BROKEN",
            message: target.reason,
            source: { name, text },
            span,
          },
        ];
      }),
    ),
  ];
}
