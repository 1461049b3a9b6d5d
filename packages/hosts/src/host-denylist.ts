/**
 * Denylists: names that an egress list may not contain, including their
 * subdomains. Each line is a name; `#` starts a comment. Unlike a pattern, an
 * entry can have a single label (`localhost`, `internal`).
 */

import type { HostPattern } from "./host-pattern.ts";

/** A parsed denylist. */
export interface HostDenylist {
  /** Names in lower case. */
  readonly names: ReadonlySet<string>;
  /** Invalid lines. `lineNumber` is 1-based. */
  readonly unreadable: readonly { readonly lineNumber: number; readonly text: string }[];
}

/** Parses a denylist. */
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
 * Returns the listed name that forbids `pattern`: its own name, a parent domain,
 * or, for a wildcard, a name that the wildcard matches.
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
