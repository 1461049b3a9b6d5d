/**
 * Checks that the targets of relative links, and paths of this repository in backticks,
 * exist in all documentation pages. Ignores URLs.
 */

import { existsSync, globSync, readFileSync } from "node:fs";
import { posix, sep } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";

const pagePatterns = [
  "*.md",
  "docs/**/*.md",
  "packages/*/README.md",
  "examples/*/README.md",
  "bench/*.md",
  "site/*.md",
];
/** `[text](target)`, without titles; and `path/in/the/repository`. */
const linkPattern = /\]\(([^()\s]+)\)|`((?:packages|scripts|docs|bench|examples)\/[\w./-]+)`/g;

/** Returns a finding for each broken link and path of the pages below `root`. */
export function checkLinks(root: string): Diagnostic[] {
  return listPages(root).flatMap((name) => {
    const source = { name, text: readFileSync(posix.join(root, name), "utf8") };
    return [...withoutFences(source.text).matchAll(linkPattern)].flatMap((match): Diagnostic[] => {
      const [, link, path] = match;
      const target = link === undefined ? path : linkedPath(name, link);
      // Output of a build need not exist.
      if (target === undefined || /\/dist(\/|$)/.test(target)) return [];
      if (existsSync(posix.join(root, target))) return [];
      const start = match.index + match[0].indexOf(link ?? path ?? "");
      const span = { start, end: start + (link ?? path ?? "").length };
      const message = `"${target}" does not exist`;
      return [{ severity: "error", code: "DOC_LINK_BROKEN", message, source, span }];
    });
  });
}

/** Returns the documentation pages below `root`, as paths with `/`. */
export function listPages(root: string): string[] {
  const isOurs = (name: string) => name !== "node_modules" && name !== "dist";
  return pagePatterns
    .flatMap((pattern) => globSync(pattern, { cwd: root, exclude: (name) => !isOurs(name) }))
    .map((path) => path.split(sep).join("/"))
    .sort();
}

/** Returns the path from the root of a link of `page`; undefined for URLs and anchors. */
function linkedPath(page: string, link: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link) || link.startsWith("#")) return undefined;
  const path = decodeURI(link.replace(/#.*$/, ""));
  return path.startsWith("/") ? path.slice(1) : posix.join(posix.dirname(page), path);
}

/** Replaces code blocks by blanks, which keeps positions. */
function withoutFences(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, (fence) => fence.replace(/[^\n]/g, " "));
}
