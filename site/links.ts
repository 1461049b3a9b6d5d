/**
 * The links between pages: resolved as GitHub does, relative to the file that has them, and
 * turned into addresses of the site. A link to a file that is no page leads to the repository,
 * where its address is known.
 */

import { existsSync } from "node:fs";
import { posix } from "node:path";
import { type SitePage, withoutCode } from "./pages.ts";

/** The target of a link. */
export type LinkTarget =
  | { readonly kind: "elsewhere" }
  | { readonly kind: "page"; readonly page: SitePage; readonly anchor: string }
  | { readonly kind: "file"; readonly path: string }
  | { readonly kind: "broken"; readonly reason: string };

/** A link of a page, and where it is in the text. */
export interface PageLink {
  readonly href: string;
  readonly start: number;
}

/** Returns the links and pictures of a page: `[text](href)`, `![text](href)`, `<img src="href">`. */
export function linksOf(text: string): PageLink[] {
  const plain = withoutCode(text).replace(/`[^`\n]*`/g, (code) => " ".repeat(code.length));
  return [...plain.matchAll(/\]\(([^()\s]+)\)|<img\b[^>]*?\bsrc="([^"]+)"/g)].map((match) => {
    const href = match[1] ?? match[2] ?? "";
    return { href, start: match.index + match[0].indexOf(href) };
  });
}

/** Resolves `href` on the page `from`. `pages` has the pages by their source. */
export function resolveLink(
  root: string,
  pages: ReadonlyMap<string, SitePage>,
  from: string,
  href: string,
): LinkTarget {
  if (/^[a-z][a-z0-9+.-]*:/i.test(href)) return { kind: "elsewhere" };
  const [, path = "", anchor = ""] = /^([^#]*)#?(.*)$/.exec(href) ?? [];
  const source = path === "" ? from : posix.join(posix.dirname(from), decodeURI(path)).replace(/\/$/, "");
  if (source.startsWith("..")) return { kind: "broken", reason: `"${href}" leaves the repository` };
  const page =
    pages.get(source) ??
    pages.get(posix.join(source, "index.md")) ??
    pages.get(posix.join(source, "README.md"));
  if (page !== undefined) {
    const isKnown = anchor === "" || page.anchors.includes(decodeURIComponent(anchor));
    if (isKnown) return { kind: "page", page, anchor };
    return { kind: "broken", reason: `${page.source} has no heading "#${anchor}"` };
  }
  if (existsSync(posix.join(root, source))) return { kind: "file", path: source };
  return { kind: "broken", reason: `"${source}" does not exist` };
}

/** Returns `pages` by their source. */
export function pagesBySource(pages: readonly SitePage[]): ReadonlyMap<string, SitePage> {
  return new Map(pages.map((page) => [page.source, page]));
}
