/**
 * Where a text stops being JSON (RFC 8259), and what would be right there. Only
 * for messages: what is valid is decided by `parseJson`. Pure.
 */

/** The first place that is wrong. */
export interface JsonFault {
  /** Offset in UTF-16 units; the text's length when it ends too early. */
  readonly offset: number;
  /** What belongs there. */
  readonly expected: string;
}

const space = /[ \t\n\r]*/y;
const text = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*"/y;
const scalar = /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![A-Za-z0-9_])/y;
/** As much of a text as is right. */
const textStart = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9A-Fa-f]{4}))*/y;

/** What the reader of a text is in, innermost last. */
type Level = "{" | "[";

/** The first fault of `json`; `undefined` when there is none. */
export function findJsonError(json: string): JsonFault | undefined {
  const levels: Level[] = [];
  let at = 0;
  const match = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    if (!pattern.test(json)) return false;
    at = pattern.lastIndex;
    return true;
  };
  const take = (character: string): boolean => {
    match(space);
    if (json[at] !== character) return false;
    at += 1;
    return true;
  };
  const fault = (expected: string): JsonFault => ({ offset: at, expected });
  const unfinishedText = (): JsonFault | undefined => {
    if (json[at] !== '"') return undefined;
    match(textStart);
    return fault(at >= json.length ? 'a closing "' : "a character that may stand in a text");
  };

  /** A name and its colon. */
  const name = (): JsonFault | undefined => {
    match(space);
    if (!match(text)) return unfinishedText() ?? fault('a name in "double quotes"');
    return take(":") ? undefined : fault('":"');
  };

  for (;;) {
    // A value, or the beginning of one.
    match(space);
    const opening = json[at];
    if (opening === "{" || opening === "[") {
      levels.push(opening);
      at += 1;
      const isEmpty = take(opening === "{" ? "}" : "]");
      if (!isEmpty) {
        const wrong = opening === "{" ? name() : undefined;
        if (wrong !== undefined) return wrong;
        continue;
      }
      levels.pop();
    } else if (!match(text) && !match(scalar)) {
      return unfinishedText() ?? fault("a value");
    }
    // What may follow a value: the end of its level, or the next one.
    for (;;) {
      const level = levels.at(-1);
      if (level === undefined) {
        match(space);
        return at === json.length ? undefined : fault("the end");
      }
      if (take(level === "{" ? "}" : "]")) {
        levels.pop();
        continue;
      }
      if (!take(",")) return fault(level === "{" ? '"," or "}"' : '"," or "]"');
      const wrong = level === "{" ? name() : undefined;
      if (wrong !== undefined) return wrong;
      break;
    }
  }
}
