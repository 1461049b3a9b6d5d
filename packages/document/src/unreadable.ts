/** The error with which readers stop, which never leaves this package, and its conversion to a fault. */

import type { Reading, ReadLimits } from "./tree-builder.ts";

/** The reason why a text cannot be read further, and its place. */
export class Unreadable extends Error {
  readonly kind: "syntax" | "tooComplex";
  readonly at: number;
  readonly hint: string | undefined;

  constructor(kind: "syntax" | "tooComplex", message: string, at: number, hint?: string) {
    super(message);
    this.kind = kind;
    this.at = at;
    this.hint = hint;
  }
}

/** Runs `read` and returns its result, or its fault. */
export function readingOf<Node>(text: string, read: () => Node | undefined): Reading<Node> {
  try {
    return { kind: "read", root: read() };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const { kind, message, hint } = error;
    const start = faultStart(text, error.at);
    return { kind: "unreadable", fault: { kind, message, hint, span: { start, end: start + 1 } } };
  }
}

/** Returns the index of the character to show for a fault at `at`: the last visible one if the text ends too early. */
function faultStart(text: string, at: number): number {
  return Math.min(at, Math.max(0, text.trimEnd().length - 1));
}

/** @throws {Unreadable} where `depth` or `count` is more than `limits` allow. */
export function checkLimits(limits: ReadLimits, depth: number, count: number, at: number): void {
  const { noun, maxDepth, maxNodes } = limits;
  if (depth <= maxDepth && count <= maxNodes) return;
  const state =
    count > maxNodes
      ? `it has more than ${maxNodes.toLocaleString("en")} values`
      : `it nests deeper than ${maxDepth} levels`;
  throw new Unreadable("tooComplex", `Cannot read the ${noun}: ${state}`, at);
}
