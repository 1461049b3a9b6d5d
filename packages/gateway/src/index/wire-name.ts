/**
 * Names of tools on the MCP wire and the folding that finds two names which
 * people or models would take for one another. Pure.
 */

import { hash } from "node:crypto";

/** Longest name on the wire, as many hosts allow. */
export const wireNameMaxLength = 64;

/** Between namespace and name. A server id never holds it. */
const separator = "__";

/** The namespace of Toolcrib's own tools; their names on the wire have no prefix. */
export const ownNamespace = "toolcrib";

/**
 * The name of a tool on the wire: `namespace__name` in the characters that
 * hosts accept. A longer one is cut and ends in eight digits of its digest, so
 * that it stays the same wherever and whenever it is made.
 */
export function toWireName(namespace: string, name: string): string {
  const whole = toWholeName(namespace, name);
  const safe = whole.replace(/[^A-Za-z0-9_.-]/g, "_");
  if (safe.length <= wireNameMaxLength) return safe;
  return `${safe.slice(0, wireNameMaxLength - 9)}_${hash("sha256", whole, "hex").slice(0, 8)}`;
}

function toWholeName(namespace: string, name: string): string {
  return namespace === "" ? name : `${namespace}${separator}${name}`;
}

/** Letters of other scripts, and digits, that look like a Latin letter (after Unicode TS 39, for names in use). */
const lookalikes = new Map(
  Object.entries({
    а: "a",
    в: "b",
    с: "c",
    ԁ: "d",
    е: "e",
    ё: "e",
    һ: "h",
    і: "i",
    ї: "i",
    ј: "j",
    к: "k",
    ӏ: "l",
    м: "m",
    н: "h",
    о: "o",
    р: "p",
    ѕ: "s",
    т: "t",
    у: "y",
    ԝ: "w",
    х: "x",
    г: "r",
    α: "a",
    β: "b",
    ε: "e",
    η: "n",
    ι: "i",
    κ: "k",
    ν: "v",
    ο: "o",
    ρ: "p",
    τ: "t",
    υ: "u",
    χ: "x",
    ω: "w",
    ı: "i",
    ł: "l",
    ø: "o",
    ß: "b",
    "0": "o",
    "1": "l",
    "|": "l",
  }),
);

/**
 * The folded forms of a tool's name: as its source writes it, and as it is on
 * the wire. Two tools that share one of them cannot be told apart.
 */
export function foldsOf(namespace: string, name: string, wireName: string): readonly string[] {
  const written = foldName(toWholeName(namespace, name));
  const wired = foldName(wireName);
  return written === wired ? [written] : [written, wired];
}

/** `name` with case, separators, width, accents and lookalike letters folded away. Equal results collide. */
export function foldName(name: string): string {
  let folded = "";
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase();
  for (const character of plain.replace(/[\p{Cf}\p{Z}]+/gu, "").replace(/[_.\-/:]+/g, "-")) {
    folded += lookalikes.get(character) ?? character;
  }
  return folded;
}
