/** Finds the mirrors of Debian that this machine uses, in the sources of apt. */

import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

const sourcesFolder = "/etc/apt";
/** Most files and mirrors that are read. */
const maxCount = 50;
const mirrorsMaxCount = 4;

/** Returns the roots of the mirrors, in the order of the files; none where apt is not used, or not for Debian. */
export async function findDebianMirrors(): Promise<readonly string[]> {
  const parts = await readdir(join(sourcesFolder, "sources.list.d")).catch(() => []);
  const names = ["sources.list", ...parts.toSorted().map((name) => join("sources.list.d", name))];
  const texts = await Promise.all(
    names.slice(0, maxCount).map((name) => readFile(join(sourcesFolder, name), "utf8").catch(() => "")),
  );
  return debianMirrorsIn(texts);
}

/** Returns the mirrors in the texts of sources, of either format (sources.list(5)). */
export function debianMirrorsIn(texts: readonly string[]): readonly string[] {
  const lines = texts.flatMap((text) => text.split("\n")).filter((line) => !line.trim().startsWith("#"));
  const urls = lines.flatMap((line) => {
    const [, listed = ""] = /^\s*(?:deb\s|URIs:)(.*)$/i.exec(line) ?? [];
    return listed.match(/https?:\/\/\S+/g) ?? [];
  });
  // The root of a mirror is called debian; other repositories have other packages.
  const roots = urls.map((url) => url.replace(/\/+$/, "")).filter((url) => /\/debian$/.test(url));
  return [...new Set(roots)].slice(0, mirrorsMaxCount);
}
