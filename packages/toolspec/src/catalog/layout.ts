/**
 * Finds manifests and toolspecs by the paths of their files. Three layouts are
 * known and can be mixed:
 * manifests/<name>/<version>.yaml    toolspecs/<name>/<version>.yaml
 * manifests/<name>/<version>.yaml    manifests/<name>/<version>.toolspec.yaml
 * <any>.yaml                         <any>.toolspec.yaml
 * The last one states neither name nor version, and only its toolspec shows the layout.
 * Paths use slashes. The files need not exist.
 */

/** Facts about a file that its path states. */
export interface FileLayout {
  readonly kind: "manifest" | "toolspec";
  /** Name of the entry, from the folder; `undefined` when the path has no such folder. */
  readonly name: string | undefined;
  /** Version of the entry, from the file name; `undefined` when the path states none. */
  readonly version: string | undefined;
  /** The path without extension and kind: equal for a manifest and its toolspec. */
  readonly pairKey: string;
}

const extension = /\.(?:ya?ml|json)$/i;

/**
 * Returns the facts that `path` states, or `undefined` when it is the path of neither a
 * manifest nor a toolspec. A path that has no folder `manifests` or `toolspecs` counts
 * when it ends in `<name>/<version>.yaml`.
 */
export function layoutOf(path: string): FileLayout | undefined {
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const file = parts.pop();
  if (file === undefined || !extension.test(file)) return undefined;
  const stem = file.replace(extension, "");
  const isBeside = stem.toLowerCase().endsWith(".toolspec");
  const version = isBeside ? stem.slice(0, -".toolspec".length) : stem;
  const root = Math.max(parts.lastIndexOf("manifests"), parts.lastIndexOf("toolspecs"));
  const isRooted = root !== -1;
  // Locks of adopted servers are named as their manifests are: locks/<name>/<version>.json
  if (!isRooted && parts.at(-2) === "locks") return undefined;
  if (!isRooted && !/^\d+\.\d+\.\d+$/.test(version)) {
    if (!isBeside) return undefined;
    return { kind: "toolspec", name: undefined, version: undefined, pairKey: pairKeyOf(path) };
  }
  // Files directly in `manifests/` are an index or a readme, not entries.
  if (isRooted && root === parts.length - 1 && !isBeside) return undefined;
  const kind = isBeside || (isRooted && parts[root] === "toolspecs") ? "toolspec" : "manifest";
  const folders = isRooted ? [...parts.slice(0, root), "*", ...parts.slice(root + 1)] : parts;
  const name = isRooted && root === parts.length - 1 ? undefined : parts.at(-1);
  return { kind, name, version, pairKey: [...folders, version].join("/") };
}

/** Returns the key of a file whose path states neither name nor version. */
export function pairKeyOf(path: string): string {
  return path.replace(extension, "").replace(/\.toolspec$/i, "");
}

/** Returns the possible paths of the manifest for the toolspec at `path`, most likely first. */
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
