/**
 * The folders whose tests a change can affect, by the table of floors: a
 * changed package, and every package that may import it, directly or not.
 */

import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type FloorTable, parseFloorTable } from "./architecture/floor-table.ts";

/**
 * Returns the folders to test for the changes in the checkout at `root`.
 *
 * @param revision what the working tree is compared with, as `git diff` takes it.
 * @throws {Error} when `root` is no git checkout or has no such revision.
 */
export function changedPlaces(root: string, revision: string): string[] {
  const paths = [
    ...git(root, ["diff", "--name-only", "--relative", revision]),
    ...git(root, ["ls-files", "--others", "--exclude-standard"]),
  ];
  const name = "ARCHITECTURE.md";
  return affectedPlaces(paths, parseFloorTable({ name, text: readFileSync(join(root, name), "utf8") }));
}

/** Returns the folders to test when the files `paths` (from the root, with `/`) have changed. */
export function affectedPlaces(paths: readonly string[], { rows }: FloorTable): string[] {
  const changed = new Set(paths.flatMap((path) => /^packages\/([^/]+)\//.exec(path)?.[1] ?? []));
  const isOfAll = paths.some((path) =>
    /^(?:package(?:-lock)?\.json|tsconfig\.json|scripts\/test[^/]*\.ts)$/.test(path),
  );
  const isOfDevelopment = [...changed].some(
    (folder) => rows.has(folder) && rows.get(folder)?.floor === undefined,
  );
  const affected = [...rows.keys()].filter(
    (folder) => isOfAll || isOfDevelopment || isAffected(folder, changed, rows, new Set()),
  );
  if (affected.length === 0 && paths.length === 0) return [];
  // The tools of the repository read every file; they and the examples are cheap to test.
  return [...affected.map((folder) => `packages/${folder}`), "examples", "scripts"];
}

function isAffected(
  folder: string,
  changed: ReadonlySet<string>,
  rows: FloorTable["rows"],
  visited: Set<string>,
): boolean {
  if (changed.has(folder)) return true;
  if (visited.has(folder)) return false;
  visited.add(folder);
  return [...(rows.get(folder)?.mayImport ?? [])].some((below) => isAffected(below, changed, rows, visited));
}

function git(root: string, args: readonly string[]): string[] {
  const { status, stdout, stderr, error } = spawnSync("git", args, { cwd: root, encoding: "utf8" });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`Cannot list what has changed: ${stderr.trim()}`);
  return stdout.split("\n").filter((line) => line !== "");
}
