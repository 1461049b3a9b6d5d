/**
 * Removes from untrusted text what a person does not see and a model, a terminal or an
 * editor interprets: control characters and terminal sequences, bidirectional controls,
 * and invisible characters that can carry hidden text (zero width, tags, fillers).
 *
 * It keeps joiners and variation selectors where scripts and emoji need them: at most two
 * in a row, after a character that is not ASCII. It finds no instructions: visible text
 * passes unchanged.
 */

import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { SecretScrubber } from "./secret-scrubber.ts";

/** Everything that can need a change, and more: texts in ASCII without controls are done after this. */
const unusual = /[^\t\n\r\u0020-\u007e]/;
/** Control sequences (ECMA-48, 5.4) and operating system commands of terminals. */
const terminalSequences =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b\]|\u009d)[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)/g;
const lineSeparators = /[\u2028\u2029]/g;
/** Controls except tab and line ends; bidirectional controls; characters of no width; U+E0000 to U+E0FFF. */
const hidden =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\u{e0000}-\u{e0fff}]|\u034f/gu;
/** A run of joiners and variation selectors with the character before it, and the end of a keycap after it. */
const joiners = /(^|.)((?:\u200c|\u200d|[\ufe00-\ufe0f]|[\u180b-\u180d\u180f])+)(\u20e3?)/gsu;
const longestJoin = 2;

/** Returns `text` without hidden characters. Line and paragraph separators become line feeds. Takes linear time. */
export function stripHidden(text: string): string {
  if (!unusual.test(text)) return text;
  return text
    .replace(terminalSequences, "")
    .replace(lineSeparators, "\n")
    .replace(hidden, "")
    .replace(joiners, (found, before: string, run: string, keycap: string) => {
      const isNeeded = before > "\u007f" || (run === "\ufe0f" && keycap !== "");
      return isNeeded && run.length <= longestJoin ? found : before + keycap;
    });
}

/** Replaces secrets in complete texts and JSON values. */
export type TextScrubber = Pick<SecretScrubber, "text" | "value">;

/**
 * Returns a scrubber that removes hidden characters before `scrubber` looks for secrets, so that none can be hidden
 * from it by a character within.
 */
export function withoutHidden(scrubber: TextScrubber): TextScrubber {
  return {
    text: (text) => scrubber.text(stripHidden(text)),
    value: (value) => scrubber.value(stripValue(value as JsonValue) as typeof value),
  };
}

/** Returns `value` without hidden characters in its strings and keys; the same object if there are none. */
function stripValue(value: JsonValue): JsonValue {
  if (typeof value === "string") return stripHidden(value);
  if (Array.isArray(value)) {
    const items = value.map(stripValue);
    return items.some((item, at) => item !== value[at]) ? items : value;
  }
  return isJsonObject(value) ? stripMembers(value) : value;
}

function stripMembers(value: JsonObject): JsonObject {
  let isSame = true;
  const members = Object.entries(value).map(([key, member]) => {
    const one = [stripHidden(key), member === undefined ? member : stripValue(member)] as const;
    isSame &&= one[0] === key && one[1] === member;
    return one;
  });
  return isSame ? value : (Object.fromEntries(members) as JsonObject);
}
