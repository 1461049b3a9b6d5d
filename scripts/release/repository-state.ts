/** The state of the repository for a release: its address, and whether its commit can be published. Reads only. */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Returns the public address of the repository, which a provenance names: that of the remote `origin`, as
 * `git+https://HOST/OWNER/NAME.git`; undefined where it is no address of a host.
 */
export function findRepository(root: string): string | undefined {
  const url = git(root, "config", "--get", "remote.origin.url");
  const parts =
    /^(?:https:\/\/(?:[^@/]+@)?|(?:ssh:\/\/)?git@)([\w.-]+)[:/]([\w.-]+\/[\w.-]+?)(?:\.git)?\/?$/.exec(url);
  return parts === null ? undefined : `git+https://${parts[1]}/${parts[2]}.git`;
}

/** Returns why the commit cannot be published; nothing where it can. */
export function whyNotPublishable(root: string): readonly string[] {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly version: string;
  };
  const tags = git(root, "tag", "--points-at", "HEAD").split("\n");
  const changelog = readFileSync(join(root, "CHANGELOG.md"), "utf8");
  return [
    ...(git(root, "status", "--porcelain") === "" ? [] : ["The working tree has changes: commit them first"]),
    ...(tags.includes(`v${version}`) ? [] : [`The commit has no tag v${version}: git tag -s v${version}`]),
    ...(changelog.includes(`\n## [${version}]`)
      ? []
      : [`CHANGELOG.md has no section of ${version}: npm run release -- version ${version}`]),
    ...(findRepository(root) === undefined
      ? ["The remote `origin` is no address of a public host, which the provenance names"]
      : []),
  ];
}

function git(root: string, ...args: readonly string[]): string {
  return spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout.trim();
}
