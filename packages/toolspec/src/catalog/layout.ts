/**
 * Where manifests and toolspecs are kept, by the paths of their files. Two
 * layouts, which may be mixed:
 *
 *     manifests/<name>/<version>.yaml    toolspecs/<name>/<version>.yaml
 *     manifests/<name>/<version>.yaml    manifests/<name>/<version>.toolspec.yaml
 *
 * Paths have slashes and need not exist.
 */

/** What a path says of its file. */
export interface FileLayout {
  readonly kind: "manifest" | "toolspec";
  /** The name that its folder says; `undefined` where it stands in none. */
  readonly name: string | undefined;
  /** The version that its file name says. */
  readonly version: string;
  /** Without ending and kind, so that a manifest and its toolspec have the same. */
  readonly pairKey: string;
}

const extension = /\.(?:ya?ml|json)$/i;

/**
 * What `path` says of its file: `undefined` where it is neither a manifest nor
 * a toolspec. A path without `manifests` or `toolspecs` among its folders is
 * one when it ends like `<name>/<version>.yaml`.
 */
export function layoutOf(path: string): FileLayout | undefined {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const file = parts.pop();
  if (file === undefined || !extension.test(file)) return undefined;
  const stem = file.replace(extension, "");
  const isBeside = stem.toLowerCase().endsWith(".toolspec");
  const version = isBeside ? stem.slice(0, -".toolspec".length) : stem;
  const root = Math.max(parts.lastIndexOf("manifests"), parts.lastIndexOf("toolspecs"));
  if (root === -1 && !isBeside && !/^\d+\.\d+\.\d+$/.test(version)) return undefined;
  const isRooted = root !== -1;
  // Right in `manifests/` there are no entries, but an index or a readme.
  if (isRooted && root === parts.length - 1 && !isBeside) return undefined;
  const kind = isBeside || (isRooted && parts[root] === "toolspecs") ? "toolspec" : "manifest";
  const folders = isRooted ? [...parts.slice(0, root), "*", ...parts.slice(root + 1)] : parts;
  const name = isRooted && root === parts.length - 1 ? undefined : parts.at(-1);
  return { kind, name, version, pairKey: [...folders, version].join("/") };
}

/** The paths at which the manifest of the toolspec at `path` may be, most likely first. */
export function manifestPathsOf(path: string): readonly string[] {
  const slash = path.lastIndexOf("/") + 1;
  const folder = path.slice(0, slash);
  const file = path.slice(slash);
  const stem = file.replace(extension, "");
  if (stem.toLowerCase().endsWith(".toolspec")) {
    const version = stem.slice(0, -".toolspec".length);
    return [".yaml", ".yml", ".json"].map((ending) => `${folder}${version}${ending}`);
  }
  const root = `/${folder}`.lastIndexOf("/toolspecs/");
  if (root === -1) return [];
  const beside = `${folder.slice(0, root)}manifests/${folder.slice(root + "toolspecs/".length)}`;
  return [".yaml", ".yml", ".json"].map((ending) => `${beside}${stem}${ending}`);
}
