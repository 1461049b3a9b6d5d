/**
 * Checks the files of a built site: every link and every anchor leads to something that is
 * there, and nothing is loaded from elsewhere.
 */

import { existsSync, globSync, readFileSync } from "node:fs";
import { join, posix, sep } from "node:path";

/** Returns the problems of the site in `folder`, which is served below `base`. */
export function checkBuiltLinks(
  folder: string,
  base: string,
): { readonly links: number; readonly problems: string[] } {
  const files = globSync("**/*.html", { cwd: folder }).map((path) => path.split(sep).join("/"));
  const pages = new Map(files.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
  const anchors = new Map(
    [...pages].map(([name, html]) => [
      name,
      new Set([...html.matchAll(/\sid="([^"]*)"/g)].map(([, id]) => id)),
    ]),
  );
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const [name, html] of pages) {
    const linked = new Set([...html.matchAll(/<link\b[^>]*\shref="([^"]*)"/g)].map(([, href]) => href));
    for (const [, attribute = "", href = ""] of html.matchAll(/\s(href|src)="([^"]*)"/g)) {
      const link = href.replaceAll("&amp;", "&");
      if (/^[a-z][a-z0-9+.-]*:/i.test(link) || link.startsWith("//")) {
        // A link that a reader follows may lead elsewhere; what the page loads may not.
        const isLoaded = attribute === "src" || linked.has(href);
        if (isLoaded && !link.startsWith("data:")) problems.push(`${name} loads ${link}`);
        continue;
      }
      const [path = "", anchor = ""] = link.split("#");
      if (path.startsWith("/") && !path.startsWith(base)) {
        problems.push(`${name} has ${link}, which is not below ${base}`);
        continue;
      }
      const inSite = path.startsWith("/") ? path.slice(base.length) : posix.join(posix.dirname(name), path);
      const target =
        path === "" ? name : inSite === "" || inSite.endsWith("/") ? `${inSite}index.html` : inSite;
      seen.add(`${target}#${anchor}`);
      if (!pages.has(target) && !existsSync(join(folder, decodeURI(target)))) {
        problems.push(`${name} has ${link}, which does not exist`);
      } else if (anchor !== "" && anchors.get(target)?.has(decodeURIComponent(anchor)) !== true) {
        problems.push(`${name} has ${link}, but ${target} has no such anchor`);
      }
    }
  }
  return { links: seen.size, problems: [...new Set(problems)] };
}
