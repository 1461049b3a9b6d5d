/**
 * Groups the modules that entries of a bundle share into few files. An entry loads a file as a whole, with all files
 * that this one imports: each file costs time, and so does each byte that the entry does not need.
 *
 * It begins with the files of a bundler that puts two modules into one file exactly if the same entries load them, and
 * merges two of them again and again, those for which the entries load the least in addition.
 */

/** A file of the exact bundle. */
export interface ExactFile {
  readonly fileName: string;
  /** Name of the entry; `undefined` for a file that entries share. */
  readonly entry: string | undefined;
  /** Names of the files that it imports at its start. */
  readonly imports: readonly string[];
  readonly bytes: number;
  /** Paths of its modules. */
  readonly modules: readonly string[];
}

/** Bytes whose loading takes as long as finding and opening one more file. */
const fileCostBytes = 20_000;

/** Number of most similar files with which a file is compared. */
const candidatesMaxCount = 40;

/** Files that are merged, and the groups that they import. */
interface Group {
  readonly files: ExactFile[];
  bytes: number;
  readonly imports: Set<Group>;
}

/** An entry with the groups that it loads. */
interface Entry {
  readonly weight: number;
  readonly imports: readonly Group[];
  loaded: Set<Group>;
}

/**
 * Returns the group of each shared module by its path.
 *
 * @param groupsMaxCount number of groups at most
 * @param weightOf how often an entry is loaded, in proportion to the others
 */
export function groupModules(
  files: readonly ExactFile[],
  groupsMaxCount: number,
  weightOf: (entry: string) => number,
): ReadonlyMap<string, string> {
  const groups = new Map(
    files
      .filter(({ entry }) => entry === undefined)
      .map((file): [string, Group] => [
        file.fileName,
        { files: [file], bytes: file.bytes, imports: new Set() },
      ]),
  );
  const byName = new Map(files.map((file) => [file.fileName, file]));
  for (const [name, group] of groups) {
    for (const imported of sharedImports(byName.get(name)!, byName)) group.imports.add(groups.get(imported)!);
  }
  const entries = files.flatMap((file): Entry[] => {
    if (file.entry === undefined) return [];
    const imports = sharedImports(file, byName).map((name) => groups.get(name)!);
    return [{ weight: weightOf(file.entry), imports, loaded: reached(imports) }];
  });
  const left = new Set(groups.values());
  while (left.size > 1) {
    const smallest = [...left].reduce((least, group) => (group.bytes < least.bytes ? group : least));
    const best = cheapestMerge(smallest, left, entries);
    if (best.cost >= 0 && left.size <= groupsMaxCount) break;
    merge(smallest, best.other, left);
    for (const entry of entries) entry.loaded = reached(entry.imports);
  }
  return new Map(
    [...left].flatMap((group, index) =>
      group.files.flatMap(({ modules }) =>
        modules.map((path): [string, string] => [path, `shared-${index + 1}`]),
      ),
    ),
  );
}

/** Returns the names of the shared files that `file` imports, itself or through entries. */
function sharedImports(file: ExactFile, byName: ReadonlyMap<string, ExactFile>): string[] {
  const shared = new Set<string>();
  const seen = new Set([file]);
  const open = [file];
  for (const next of open) {
    for (const imported of next.imports.map((name) => byName.get(name))) {
      // Modules of Node are no files of the bundle.
      if (imported === undefined || seen.has(imported)) continue;
      seen.add(imported);
      if (imported.entry === undefined) shared.add(imported.fileName);
      else open.push(imported);
    }
  }
  return [...shared];
}

/** Returns `groups` and all groups that they import, directly or not. */
function reached(groups: Iterable<Group>): Set<Group> {
  const found = new Set(groups);
  for (const group of found) for (const imported of group.imports) found.add(imported);
  return found;
}

function cheapestMerge(
  group: Group,
  left: ReadonlySet<Group>,
  entries: readonly Entry[],
): { readonly other: Group; readonly cost: number } {
  const users = entries.filter(({ loaded }) => loaded.has(group));
  const usersCount = new Map<Group, number>();
  for (const { loaded } of entries) {
    for (const one of loaded) usersCount.set(one, (usersCount.get(one) ?? 0) + 1);
  }
  /** Share of the entries that load both among those that load one of them. */
  const similarity = (other: Group) => {
    const both = users.filter(({ loaded }) => loaded.has(other)).length;
    return both / (users.length + (usersCount.get(other) ?? 0) - both);
  };
  const candidates = [...left]
    .filter((other) => other !== group)
    .map((other) => ({ other, similarity: similarity(other) }))
    .sort((a, b) => b.similarity - a.similarity)
    .slice(0, candidatesMaxCount);
  return candidates
    .map(({ other }) => ({ other, cost: mergeCost(group, other, entries) }))
    .reduce((least, candidate) => (candidate.cost < least.cost ? candidate : least));
}

/** Returns the bytes that the entries load in addition where two groups are one file; less than 0 for less work. */
function mergeCost(a: Group, b: Group, entries: readonly Entry[]): number {
  const together = reached([a, b]);
  let cost = 0;
  for (const { weight, loaded } of entries) {
    if (!loaded.has(a) && !loaded.has(b)) continue;
    let bytes = 0;
    let filesCount = -1;
    for (const group of together) {
      if (loaded.has(group)) continue;
      bytes += group.bytes;
      filesCount += 1;
    }
    cost += weight * (bytes + filesCount * fileCostBytes);
  }
  return cost;
}

/** Moves the files of `group` into `other`. */
function merge(group: Group, other: Group, left: Set<Group>): void {
  other.files.push(...group.files);
  other.bytes += group.bytes;
  for (const imported of group.imports) other.imports.add(imported);
  left.delete(group);
  for (const one of left) if (one.imports.delete(group)) one.imports.add(other);
  other.imports.delete(other);
  // Entries keep what they import.
  group.imports.clear();
  group.imports.add(other);
  group.bytes = 0;
}
