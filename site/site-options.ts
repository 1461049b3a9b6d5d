/**
 * What VitePress needs to know of the repository: its pages, their addresses, the sidebar, and
 * how links of pages become links of the site. Has no dependency, so tests and checks use it too.
 */

import { existsSync } from "node:fs";
import { posix } from "node:path";
import { pagesBySource, resolveLink } from "./links.ts";
import { listMarkdown, listSitePages, type SitePage, sitePath } from "./pages.ts";
import { fillSidebar, readSidebar } from "./sidebar.ts";

/** Settings of one build. */
export interface SiteSettings {
  /** Path below which the site is served, with `/` at both ends. @default "/" */
  readonly base: string;
  /** Address of the files of the repository, without `/` at the end: `https://example.com/blob/main`. @default none */
  readonly repository: string | undefined;
}

/** Reads the settings from the variables that `npm run docs:site` sets. */
export function readSettings(env: NodeJS.ProcessEnv): SiteSettings {
  const { TOOLCRIB_SITE_BASE: base = "/", TOOLCRIB_SITE_REPOSITORY: repository } = env;
  return { base, repository: repository?.replace(/\/$/, "") };
}

/** An entry of the sidebar as the theme of VitePress wants it. */
export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly collapsed?: boolean;
  readonly items?: readonly SidebarItem[];
}

/** The functions and data of the configuration of VitePress. */
export interface SiteOptions {
  readonly sidebar: readonly SidebarItem[];
  readonly navigation: readonly SidebarItem[];
  /** Markdown files below the root that are no pages. */
  readonly excluded: readonly string[];
  /** Returns the path of a page in the site. */
  readonly rewrite: (source: string) => string;
  /** Returns what a link of the page `from` becomes; undefined where nothing can be linked. */
  readonly rewriteLink: (from: string, href: string) => string | undefined;
}

/** Collects the options of the site of the repository at `root`. */
export function createSiteOptions(root: string, { repository }: SiteSettings): SiteOptions {
  const pages = listSitePages(root);
  const bySource = pagesBySource(pages);
  const { groups } = fillSidebar(readSidebar(root), pages);
  const toItem = ({ title, route }: SitePage): SidebarItem => ({ text: title, link: route });
  return {
    // The heading of a group that can be closed leads to its first page: as a button, it would contain another one.
    sidebar: groups.map(({ text, collapsed, pages: items }) => ({
      text,
      ...(collapsed ? { collapsed, link: items[0]?.route } : {}),
      items: items.map(toItem),
    })),
    navigation: groups
      .filter(({ text }) => ["Guides", "Operations", "Reference"].includes(text))
      .map(({ text, pages: [first] }) => ({ text, link: first?.route ?? "/" })),
    excluded: listMarkdown(root, ["**/*.md"]).filter((path) => !bySource.has(path)),
    rewrite: sitePath,
    rewriteLink(from, href) {
      const target = resolveLink(root, bySource, from, href);
      if (target.kind === "page") {
        return `${target.page.route}${target.anchor === "" ? "" : `#${target.anchor}`}`;
      }
      if (target.kind !== "file") return href;
      return repository === undefined ? undefined : `${repository}/${target.path}`;
    },
  };
}

/** Returns the path of a picture of the page `from`, relative to its file, as Vite imports it. */
export function picturePath(root: string, from: string, src: string): string {
  const path = posix.join(posix.dirname(from), src);
  return existsSync(posix.join(root, path)) && !/^\.?\//.test(src) ? `./${src}` : src;
}
