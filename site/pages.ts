/**
 * The pages of the documentation site: all of docs/, and the pages elsewhere in the repository
 * that they refer to, each with its address in the site, its title and its headings.
 *
 * Pages are plain Markdown that GitHub shows too. Anchors are those of GitHub, so a link with
 * one works in both places. Reads files, writes none.
 */

import { globSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";

/** One page. */
export interface SitePage {
  /** Path from the root of the repository, with `/`. */
  readonly source: string;
  /** Address in the site, without the base path: `/guides/audit.html`. */
  readonly route: string;
  /** The text of the first heading. */
  readonly title: string;
  /** The anchors of all headings, in order. */
  readonly anchors: readonly string[];
  readonly text: string;
}

/** Folders of docs/ become the folders of the site; all other pages keep their paths. */
const pagePatterns = [
  "docs/**/*.md",
  "*.md",
  "{catalog,bench,site}/*.md",
  "examples/*/README.md",
  "packages/*/README.md",
  "packages/*/bench/*.md",
];

/** Returns the pages below `root`, sorted by path. */
export function listSitePages(root: string): SitePage[] {
  return listMarkdown(root, pagePatterns).map((source) => {
    const text = readFileSync(join(root, source), "utf8");
    const headings = headingsOf(text);
    return {
      source,
      route: routeOf(source),
      title: headings[0] ?? source,
      anchors: uniqueSlugs(headings),
      text,
    };
  });
}

/** Returns the Markdown files below `root` that match one of `patterns`, as paths with `/`. */
export function listMarkdown(root: string, patterns: readonly string[]): string[] {
  const isForeign = (name: string) => name === "node_modules" || name === "dist";
  return globSync(patterns, { cwd: root, exclude: isForeign })
    .map((path) => path.split(sep).join("/"))
    .sort();
}

/** Returns the path of the Markdown file in the site, which VitePress turns into an address. */
export function sitePath(source: string): string {
  const path = source.replace(/^docs\//, "");
  return path === "README.md" ? "repository.md" : path;
}

function routeOf(source: string): string {
  return `/${sitePath(source).replace(/\.md$/, ".html")}`.replace(/^\/index\.html$/, "/");
}

/** Returns the texts of the headings of a page, without marks. */
function headingsOf(text: string): string[] {
  return [...withoutCode(text).matchAll(/^#{1,6} +(.+?)(?: +#+)?$/gm)].map(([, heading = ""]) =>
    plainText(heading),
  );
}

/** Returns a line of Markdown as it is read: link texts, code and emphasis without their marks. */
function plainText(markdown: string): string {
  return markdown
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/`([^`]*)`|\*\*?([^*]+)\*\*?/g, (_all, code, strong) => code ?? strong)
    .replace(/\\([\\`*_{}[\]()#+.!<>|-])/g, "$1")
    .trim();
}

/** Replaces fenced code by blanks, which keeps positions. */
export function withoutCode(text: string): string {
  return text.replace(/^( *)(```+)[^\n]*\n[\s\S]*?^\1\2 *$/gm, (fence) => fence.replace(/[^\n]/g, " "));
}

/** Returns the anchor of a heading as GitHub makes it: letters, digits, `-` and `_` in lower case. */
export function headingSlug(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, "")
    .replaceAll(" ", "-");
}

/** The second heading of the same text gets `-1`. */
function uniqueSlugs(headings: readonly string[]): string[] {
  const taken = new Set<string>();
  return headings.map((heading) => {
    const slug = headingSlug(heading);
    let unique = slug;
    for (let count = 1; taken.has(unique); count += 1) unique = `${slug}-${count}`;
    taken.add(unique);
    return unique;
  });
}
