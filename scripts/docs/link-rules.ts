/**
 * What the pages for people point at exists: relative links, and paths of this
 * repository in backticks. Addresses on the network are not looked at.
 */

import { existsSync, globSync, readFileSync } from "node:fs";
import { posix, sep } from "node:path";
import type { Diagnostic } from "@toolcrib/diagnostics";

const pagePatterns = ["*.md", "docs/**/*.md", "packages/*/README.md", "examples/*/README.md", "bench/*.md"];
/** `[text](target)`, without titles; and `path/in/the/repository`. */
const linkPattern = /\]\(([^()\s]+)\)|`((?:packages|scripts|docs|bench|examples)\/[\w./-]+)`/g;

/** Every broken link and path of the pages below `root`. */
export function checkLinks(root: string): Diagnostic[] {
  return listPages(root).flatMap((name) => {
    const source = { name, text: readFileSync(posix.join(root, name), "utf8") };
    return [...withoutFences(source.text).matchAll(linkPattern)].flatMap((match): Diagnostic[] => {
      const [, link, path] = match;
      const target = link === undefined ? path : linkedPath(name, link);
      // What a build makes need not be there.
      if (target === undefined || /\/dist(\/|$)/.test(target)) return [];
      if (existsSync(posix.join(root, target))) return [];
      const start = match.index + match[0].indexOf(link ?? path ?? "");
      const span = { start, end: start + (link ?? path ?? "").length };
      const message = `"${target}" does not exist`;
      return [{ severity: "error", code: "DOC_LINK_BROKEN", message, source, span }];
    });
  });
}

/** The pages for people below `root`, as paths with `/`. */
export function listPages(root: string): string[] {
  const isOurs = (name: string) => name !== "node_modules" && name !== "dist";
  return pagePatterns
    .flatMap((pattern) => globSync(pattern, { cwd: root, exclude: (name) => !isOurs(name) }))
    .map((path) => path.split(sep).join("/"))
    .sort();
}

/** The path from the root that a link of `page` leads to; undefined for other addresses and for anchors. */
function linkedPath(page: string, link: string): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(link) || link.startsWith("#")) return undefined;
  const path = decodeURI(link.replace(/#.*$/, ""));
  return path.startsWith("/") ? path.slice(1) : posix.join(posix.dirname(page), path);
}

/** Code blocks as blanks, so that positions stay. */
function withoutFences(text: string): string {
  return text.replace(/^```[\s\S]*?^```/gm, (fence) => fence.replace(/[^\n]/g, " "));
}
