/**
 * The version of a release of a saved tool (SemVer), from what changed since the one before:
 *
 *     major   its reach is wider, or a call that was valid may not be: a parameter is required, gone, or another
 *     minor   it takes a new optional parameter
 *     patch   anything else
 *
 * Below 1.0.0 a major change raises the second number, as npm reads such versions. A release may raise more
 * than it must, and never less. Pure.
 */

import { isJsonObject, isSameJson, type JsonObject } from "@toolcrib/json";
import { type Manifest, type ProgramPackage, reachOf } from "@toolcrib/mcpkg";
import { CliError } from "../cli-error.ts";

/** The extent of the changes of a release. */
export type ReleaseKind = "major" | "minor" | "patch";

const ranks: { readonly [kind in ReleaseKind]: number } = { patch: 0, minor: 1, major: 2 };

/** Returns how much `next` changes a release, and why. */
export function releaseKindOf(
  previous: Manifest,
  next: Pick<ProgramPackage, "inputSchema" | "tools">,
): { readonly kind: ReleaseKind; readonly reason: string } {
  const known = new Set(reachOf(previous));
  const wider = (next.tools ?? []).filter((id) => !known.has(id));
  if (wider.length > 0) return { kind: "major", reason: `it can call ${wider.slice(0, 5).join(", ")}` };
  const { input_schema: before } = previous;
  const { inputSchema: after } = next;
  if (isSameJson(before, after))
    return { kind: "patch", reason: "its parameters and its reach are the same" };
  const { properties: _before, ...restBefore } = before;
  const { properties: _after, ...restAfter } = after;
  const isCompatible = isSameJson(restBefore, restAfter) && keepsProperties(before, after);
  return isCompatible
    ? { kind: "minor", reason: "it takes a new optional parameter" }
    : { kind: "major", reason: "its parameters changed" };
}

function keepsProperties(before: JsonObject, after: JsonObject): boolean {
  const old = isJsonObject(before["properties"]) ? before["properties"] : {};
  const current = isJsonObject(after["properties"]) ? after["properties"] : {};
  return Object.entries(old).every(
    ([name, schema]) =>
      schema !== undefined && current[name] !== undefined && isSameJson(schema, current[name]),
  );
}

/** The facts that decide about a version. */
export interface VersionRequest {
  /** The newest release; absent for the first one. */
  readonly previous?: string | undefined;
  readonly change: ReturnType<typeof releaseKindOf>;
  /** The least change that the author wants. @default what changed */
  readonly bump?: ReleaseKind | undefined;
  /** The version that the author wants. @default the next one */
  readonly version?: string | undefined;
}

/**
 * Returns the version of a release.
 *
 * @throws {CliError} `CLI_PUBLISH_REFUSED` for a wanted version that is lower than the change demands.
 */
export function nextVersion({ previous, change, bump, version }: VersionRequest): string {
  if (previous === undefined) return version ?? "1.0.0";
  const kind = bump !== undefined && ranks[bump] > ranks[change.kind] ? bump : change.kind;
  if (bump !== undefined && ranks[bump] < ranks[change.kind]) {
    throw tooLow(`a ${bump} release`, `a ${change.kind} release`, change.reason);
  }
  const least = raise(previous, kind);
  if (version === undefined) return least;
  if (compare(version, least) < 0)
    throw tooLow(version, `${least} or later`, `${change.reason}, and ${previous} is released`);
  return version;
}

function tooLow(wanted: string, needed: string, reason: string): CliError {
  return new CliError("CLI_PUBLISH_REFUSED", `Cannot publish it as ${wanted}: ${reason}`, {
    hint: `publish ${needed}; without --bump and --package-version, the version follows from what changed`,
  });
}

function raise(version: string, kind: ReleaseKind): string {
  const [major, minor, patch] = numbersOf(version);
  if (kind === "patch") return `${major}.${minor}.${patch + 1}`;
  return kind === "minor" || major === 0 ? `${major}.${minor + 1}.0` : `${major + 1}.0.0`;
}

/** Compares two versions by their three numbers; a pre-release is as its release here. */
export function compare(one: string, other: string): number {
  const [a, b] = [numbersOf(one), numbersOf(other)];
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

function numbersOf(version: string): readonly [major: number, minor: number, patch: number] {
  const [major = 0, minor = 0, patch = 0] = (/^[0-9]+\.[0-9]+\.[0-9]+/.exec(version)?.[0] ?? "")
    .split(".")
    .map(Number);
  return [major, minor, patch];
}
