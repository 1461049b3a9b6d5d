/**
 * Makes the output of a process safe to show. Removes terminal sequences as a
 * whole, and every other character that can move a cursor, ring a bell, or hide
 * or reorder text. Tabs stay. Never interprets the removed characters.
 */

/**
 * A CSI sequence; a string sequence (OSC, DCS, SOS, PM, APC) up to its terminator
 * or the end of the text, which is how a terminal reads it; any other escape
 * sequence. The alternatives are disjoint, so matching takes linear time.
 */
const terminalSequence =
  /(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x07\x1b\x9c]*(?:\x07|\x9c|\x1b\\)?|\x1b[ -/]*[0-~]/g;

/** C0 except tab, DEL, C1, bidirectional marks and overrides, line separators, and the byte order mark. */
const unprintable =
  /[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff]/g;

const suspicious = /[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

/** Returns `text` without terminal sequences, control characters and bidirectional controls. */
export function toPrintable(text: string): string {
  if (!suspicious.test(text)) return text;
  return text.replace(terminalSequence, "").replace(unprintable, "");
}
