/** Explanations of the codes of the package json. A table is one piece. */

import type { Explanations } from "../explanation.ts";
import { library } from "../samples.ts";

export const explanations: Explanations = {
  JSON_INVALID: {
    cause: "A text that must be JSON is not: a missing quote or bracket, a comment, a comma at the end, NaN.",
    files: library("parseJson('{\"a\": 1,}');"),
    run: "node program.mjs",
    repaired: { files: library("parseJson('{\"a\": 1}');") },
    fix: "Correct the text at the position that the message names. JSON has no comments and no commas at the end.",
  },
  JSON_NOT_SERIALIZABLE: {
    cause:
      "A value has a part that JSON cannot express: a function, a date object, a cycle, a number that is not finite, undefined in a list.",
    files: library("canonicalJson({ n: NaN });"),
    run: "node program.mjs",
    repaired: { files: library("canonicalJson({ n: 0 });") },
    fix: "Convert the part first: dates to texts, numbers that are not finite to null or text, and break cycles.",
  },
  JSON_TOO_DEEP: {
    cause:
      "A text nests more brackets than is read. Deep nesting makes programs run out of stack, and no normal message needs it.",
    files: library('parseJson("[".repeat(1000) + "]".repeat(1000));'),
    run: "node program.mjs",
    fix: "Send a flatter value. Where the depth is real data, send it as a text.",
  },
  JSON_TOO_LARGE: {
    cause: "A text has more characters than its reader accepts at this place.",
    files: library('parseJson(" ".repeat(20_000_000));'),
    run: "node program.mjs",
    fix: "Send less at once, or raise the limit where the caller sets it (maxLength).",
  },
  JSON_TOO_MANY_VALUES: {
    cause:
      "A text has more values (members and items) than is read; each costs memory that the length does not show.",
    files: library(
      'const text = "[" + "0,".repeat(2_000_000) + "0]";',
      "parseJson(text, { maxValues: 1_000_000 });",
    ),
    did: "An embedding program reads a list of two million zeros.",
    run: "node program.mjs",
    fix: "Send the data in parts, or as one text.",
  },
};
