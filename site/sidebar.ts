/**
 * The sidebar of the site, from sidebar.json: groups of pages in order. An entry is the path of
 * a page, or a pattern (with `*` or `{}`) that takes all pages which no other entry names; so a page
 * that is added to a folder needs no edit.
 */

import { readFileSync } from "node:fs";
import { join, matchesGlob } from "node:path";
import type { SitePage } from "./pages.ts";

/** A group as sidebar.json has it. */
export interface SidebarGroup {
  readonly text: string;
  /** Paths and patterns of pages, from the root of the repository. */
  readonly pages: readonly string[];
  /** Where true, the group is one link until a page of it is shown. */
  readonly collapsed?: boolean;
}

/** A group with the pages that its entries stand for. */
export interface FilledGroup {
  readonly text: string;
  readonly collapsed: boolean;
  readonly pages: readonly SitePage[];
}

/** The sidebar, and what is wrong with sidebar.json. */
export interface Sidebar {
  readonly groups: readonly FilledGroup[];
  readonly problems: readonly string[];
}

const isPattern = (entry: string) => /[*{]/.test(entry);

const isIndex = ({ source }: SitePage) => source.endsWith("/index.md");

/** Reads sidebar.json. */
export function readSidebar(root: string): readonly SidebarGroup[] {
  return JSON.parse(readFileSync(join(root, "site/sidebar.json"), "utf8"));
}

/** Puts `pages` into `groups`. Groups without a page are left out. */
export function fillSidebar(groups: readonly SidebarGroup[], pages: readonly SitePage[]): Sidebar {
  const problems: string[] = [];
  const named = groups.flatMap((group) => group.pages.filter((entry) => !isPattern(entry)));
  const left = new Map(pages.map((page) => [page.source, page]));
  for (const [at, entry] of named.entries()) {
    if (!left.has(entry)) problems.push(`sidebar.json names ${entry}, which is no page`);
    if (named.indexOf(entry) !== at) problems.push(`sidebar.json names ${entry} twice`);
  }
  const take = (entry: string): SitePage[] => {
    const isTaken = isPattern(entry)
      ? (source: string) => matchesGlob(source, entry) && !named.includes(source)
      : (source: string) => source === entry;
    const taken = [...left.values()].filter(({ source }) => isTaken(source));
    for (const { source } of taken) left.delete(source);
    // The page about a folder is its first one.
    return taken.sort((one, other) => Number(isIndex(other)) - Number(isIndex(one)));
  };
  const filled = groups.map(({ text, collapsed = false, pages: entries }) => ({
    text,
    collapsed,
    pages: entries.flatMap(take),
  }));
  for (const source of left.keys()) problems.push(`sidebar.json has no group for ${source}`);
  return { groups: filled.filter((group) => group.pages.length > 0), problems };
}
