/**
 * The facts about the repository that VitePress needs: its pages, their addresses, the sidebar, and
 * how links of pages become links of the site. Has no dependency, so tests and checks use it too.
 */

import { pagesBySource, resolveLink } from "./links.ts";
import { listMarkdown, listSitePages, sitePath } from "./pages.ts";
import { type FilledGroup, fillSidebar, readSidebar } from "./sidebar.ts";

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
  readonly items?: readonly SidebarItem[];
}

/** The functions and data of the configuration of VitePress. */
export interface SiteOptions {
  /** The sidebars by the beginning of the paths of their pages. */
  readonly sidebars: Readonly<Record<string, readonly SidebarItem[]>>;
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
  return {
    sidebars: createSidebars(groups),
    navigation: groups
      .filter(({ text }) => ["Guides", "Operations", "Reference"].includes(text))
      .map(({ text, pages: [first] }) => ({ text, link: first?.route ?? "/" })),
    excluded: listMarkdown(root, ["**/*.md"]).filter((path) => !bySource.has(path)),
    rewrite: sitePath,
    rewriteLink(from, href) {
      // Within the page; the search knows headings by such links.
      if (href.startsWith("#")) return href;
      const target = resolveLink(root, bySource, from, href);
      if (target.kind === "page") {
        return `${target.page.route}${target.anchor === "" ? "" : `#${target.anchor}`}`;
      }
      if (target.kind !== "file") return href;
      return repository === undefined ? undefined : `${repository}/${target.path}`;
    },
  };
}

/**
 * Returns a sidebar for each closed group, in which it is open, and one for all other pages. So
 * pages carry no links to all other pages.
 */
function createSidebars(groups: readonly FilledGroup[]): Record<string, readonly SidebarItem[]> {
  const owners = new Map(
    groups.flatMap((group) => group.pages.map((page) => [sitePath(page.source), group])),
  );
  const isOnlyIn = (folder: string, group: FilledGroup) =>
    [...owners].every(([path, owner]) => owner === group || !path.startsWith(folder));
  const sidebars: Record<string, readonly SidebarItem[]> = { "/": toSidebar(groups, undefined) };
  for (const group of groups.filter(({ collapsed }) => collapsed)) {
    const sidebar = toSidebar(groups, group);
    for (const path of group.pages.map(({ source }) => sitePath(source))) {
      const folder = path.includes("/") ? path.replace(/\/.*$/, "/") : "";
      sidebars[`/${folder !== "" && isOnlyIn(folder, group) ? folder : path}`] = sidebar;
    }
  }
  return sidebars;
}

/** Closed groups are a link to their first page. */
function toSidebar(groups: readonly FilledGroup[], open: FilledGroup | undefined): readonly SidebarItem[] {
  return groups.map((group) =>
    group.collapsed && group !== open
      ? { text: group.text, link: group.pages[0]?.route }
      : { text: group.text, items: group.pages.map(({ title, route }) => ({ text: title, link: route })) },
  );
}
