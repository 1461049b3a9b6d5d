/** Relations between absolute paths, as texts. Pure. */

/** Whether `path` is `folder`, or lies below it. */
export function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/** Returns `paths` without repetitions and without those that lie below another one. */
export function outermost(paths: readonly string[]): string[] {
  const unique = [...new Set(paths)];
  return unique.filter((path) => !unique.some((other) => other !== path && isWithin(path, other)));
}

/** Sorts paths so that each folder comes before what lies below it. */
export function byDepth(left: string, right: string): number {
  return left.split("/").length - right.split("/").length || (left < right ? -1 : 1);
}
