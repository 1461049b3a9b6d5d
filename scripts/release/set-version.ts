/** Sets the version of all packages of the repository, and dates the changelog. */

import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import semver from "semver";

/** Returns why nothing was changed; nothing where the version was set. */
export function setVersion(root: string, version: string, now: Date): readonly string[] {
  if (semver.valid(version) !== version)
    return [`"${version}" is no version: write it as 1.2.3 or 1.2.3-rc.1`];
  const { version: current } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly version: string;
  };
  const changelogPath = join(root, "CHANGELOG.md");
  const changelog = readFileSync(changelogPath, "utf8");
  const isReleased = changelog.includes(`\n## [${current}]`);
  if (isReleased ? !semver.gt(version, current) : semver.lt(version, current)) {
    return [`${version} is no later version than ${current}`];
  }
  if (!changelog.includes("\n## [Unreleased]\n")) return ["CHANGELOG.md has no section [Unreleased]"];
  for (const path of globSync(["package.json", "packages/*/package.json", "package-lock.json"], {
    cwd: root,
  })) {
    const file = join(root, path);
    writeFileSync(file, withVersion(readFileSync(file, "utf8"), current, version));
  }
  const heading = `## [Unreleased]\n\n## [${version}] - ${now.toISOString().slice(0, 10)}\n`;
  writeFileSync(changelogPath, changelog.replace("## [Unreleased]\n", heading));
  return [];
}

/** Replaces the versions of this repository's packages: their own, and those in their dependencies on each other. */
function withVersion(text: string, from: string, to: string): string {
  const escaped = from.replaceAll(".", "\\.");
  return text
    .replaceAll(
      new RegExp(`("name": "(?:@toolcrib/[a-z-]+|toolcrib-workspace)",\\s+"version": )"${escaped}"`, "g"),
      `$1"${to}"`,
    )
    .replaceAll(new RegExp(`("@toolcrib/[a-z-]+": )"${escaped}"`, "g"), `$1"${to}"`);
}
