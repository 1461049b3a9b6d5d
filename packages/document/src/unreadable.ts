/** How readers stop: an error that never leaves this package, and the finding that is made of it. */

import type { Reading, ReadLimits } from "./tree-builder.ts";

/** What keeps a text from being read on, and where. */
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

/** Run `read`, and tell of what it cannot read. */
export function readingOf<Node>(text: string, read: () => Node | undefined): Reading<Node> {
  try {
    return { kind: "read", root: read() };
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    const { kind, message, hint } = error;
    const start = Math.min(error.at, Math.max(0, text.trimEnd().length - 1));
    return { kind: "unreadable", fault: { kind, message, hint, span: { start, end: start + 1 } } };
  }
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
