/**
 * Denylists: names that no egress list may hold, nor anything below them. A
 * line is a name; `#` begins a comment. Unlike a pattern, an entry may have one
 * label (`localhost`, `internal`).
 */

import type { HostPattern } from "./host-pattern.ts";

/** A denylist that was read. */
export interface HostDenylist {
  /** Names in lower case. */
  readonly names: ReadonlySet<string>;
  /** Lines that are no name, by their number from 1. */
  readonly unreadable: readonly { readonly lineNumber: number; readonly text: string }[];
}

/** Read a denylist, one name a line. */
export function parseHostDenylist(text: string): HostDenylist {
  const names = new Set<string>();
  const unreadable: { lineNumber: number; text: string }[] = [];
  for (const [index, line] of text
    .replace(/^\ufeff/, "")
    .split(/\r\n|\r|\n/)
    .entries()) {
    const name = line
      .replace(/#.*$/, "")
      .trim()
      .toLowerCase()
      .replace(/^\*?\.(?=.)/, "");
    if (name === "") continue;
    if (isName(name)) names.add(name);
    else unreadable.push({ lineNumber: index + 1, text: line.trim() });
  }
  return { names, unreadable };
}

function isName(name: string): boolean {
  return name.split(".").every((label) => /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/.test(label));
}

/**
 * The listed name that `pattern` runs into: its own, one above it, or, for a
 * wildcard, one that the wildcard stands for.
 */
export function findDenied(pattern: HostPattern, denylist: HostDenylist): string | undefined {
  const labels = pattern.name.split(".");
  for (let from = 0; from < labels.length; from += 1) {
    const name = labels.slice(from).join(".");
    if (denylist.names.has(name)) return name;
  }
  if (!pattern.isWildcard) return undefined;
  for (const name of denylist.names) {
    if (name.slice(name.indexOf(".") + 1) === pattern.name && name !== pattern.name) return name;
  }
  return undefined;
}
