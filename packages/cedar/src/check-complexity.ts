/**
 * Checks how deeply the policies of a text nest, before the engine reads them: it
 * calls itself for each level, and when its stack ends, its memory is damaged. A text
 * that passes here stays far below that depth.
 *
 * It reads strings and comments as Cedar does, and nothing else: whether the text
 * is valid is for the engine to find.
 */

import type { Span } from "@toolcrib/diagnostics";

/** Greatest depth of an expression: open brackets, and operators or members in a row. The engine ends at about 200. @limit operator */
export const maxDepth = 64;
/** Most conditions that `&&` or `||` joins, those around them included. The engine ends at some thousands. */
export const maxJoined = 500;

/** Tokens that matter here: strings, comments, brackets, operators, `if`. */
const tokens = /"(?:[^"\\]|\\.)*"?|\/\/[^\n]*|&&|\|\||[()[\]{},;.+*!-]|\bif\b/gs;

/** The open parts between two brackets. */
interface Level {
  /** Operators and members in a row. */
  inRow: number;
  joined: number;
}

/** A place of a text that is too complex. */
interface Excess {
  readonly span: Span;
  /** The limit that it exceeds: `maxDepth` or `maxJoined`. */
  readonly exceeds: "depth" | "joined";
}

/** Returns the first place where `text` is too complex; undefined where it is not. */
export function findExcess(text: string): Excess | undefined {
  let levels: Level[] = [{ inRow: 0, joined: 0 }];
  let depth = 0;
  let joined = 0;
  for (const { 0: token, index } of text.matchAll(tokens)) {
    const level = levels.at(-1) as Level;
    const endRow = () => {
      depth -= level.inRow;
      level.inRow = 0;
    };
    if ("([{".includes(token)) {
      // context["a"]["b"] is a row like context.a.b; a set is not, and one more does no harm.
      if (token === "[") {
        level.inRow += 1;
        depth += 1;
      }
      levels.push({ inRow: 0, joined: 0 });
      depth += 1;
    } else if (")]}".includes(token)) {
      if (levels.length === 1) continue;
      endRow();
      joined -= level.joined;
      levels.pop();
      depth -= 1;
    } else if (token === ";") {
      levels = [{ inRow: 0, joined: 0 }];
      depth = 0;
      joined = 0;
    } else if (token === "&&" || token === "||") {
      endRow();
      level.joined += 1;
      joined += 1;
    } else if (token === ",") {
      endRow();
      joined -= level.joined;
      level.joined = 0;
    } else if (token === "if" || ".+*!-".includes(token)) {
      level.inRow += 1;
      depth += 1;
    }
    if (depth <= maxDepth && joined <= maxJoined) continue;
    const span = { start: index, end: index + token.length };
    return { span, exceeds: depth > maxDepth ? "depth" : "joined" };
  }
  return undefined;
}
