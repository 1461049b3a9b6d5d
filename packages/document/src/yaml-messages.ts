/**
 * Messages for the error codes of the YAML library. Its own messages quote the
 * text, which can contain a secret.
 */

import { documentMaxDepth } from "./document-tree.ts";

interface Wording {
  readonly message: string;
  readonly hint?: string;
}

const unreadable: Wording = { message: "Cannot read the YAML text from this position" };
const unclosed: Wording = {
  message: "A quoted text, list or map is not closed",
  hint: "look for a missing quote, bracket, comma or colon",
};

const wordings: { readonly [code: string]: Wording } = {
  BAD_ALIAS: { message: "Cannot read this alias", hint: "write *name, or quote a text that begins with *" },
  BAD_COLLECTION_TYPE: { message: "This tag does not match its value", hint: "remove the tag" },
  BAD_DIRECTIVE: { message: "Cannot read this directive", hint: "remove the line that begins with %" },
  BAD_DQ_ESCAPE: {
    message: "Unknown escape sequence in a text in double quotes",
    hint: "write \\\\ for a backslash, or use single quotes: 'C:\\tools'",
  },
  BAD_INDENT: {
    message: "The indentation does not match the preceding lines",
    hint: "indent the fields of one map, and the items of one list, by the same number of spaces",
  },
  BAD_PROP_ORDER: { message: "Anchors and tags must precede their value" },
  BAD_SCALAR_START: {
    message: "A text without quotes cannot begin with this character",
    hint: "put the text in quotes",
  },
  BLOCK_AS_IMPLICIT_KEY: {
    message: "A second `: ` in one line",
    hint: "put a text that contains `: ` in quotes, or begin a new line for a nested map",
  },
  BLOCK_IN_FLOW: {
    message: "A list or map of several lines is not allowed between brackets",
    hint: "separate the values between brackets with commas",
  },
  COMMENT_SPACE: {
    message: "A comment needs a space before its #",
    hint: "put the text in quotes if it is not a comment",
  },
  KEY_OVER_1024_CHARS: { message: "A field name is longer than 1,024 characters" },
  MISSING_CHAR: unclosed,
  MULTILINE_IMPLICIT_KEY: {
    message: "A field name cannot span several lines",
    hint: "look for a missing `:` after the name, or a missing quote",
  },
  MULTIPLE_ANCHORS: { message: "A value can have one anchor only" },
  MULTIPLE_DOCS: {
    message: "Cannot read more than one YAML document from a file",
    hint: "remove the --- line, or write each document to its own file",
  },
  MULTIPLE_TAGS: { message: "A value can have one tag only" },
  NON_STRING_KEY: { message: "A field name must be a string" },
  RESOURCE_EXHAUSTION: {
    message: `Cannot read the YAML text: it is nested deeper than ${documentMaxDepth} levels`,
  },
  TAB_AS_INDENT: { message: "A tab cannot indent YAML", hint: "use spaces" },
  TAG_RESOLVE_FAILED: {
    message: "Tags are not supported",
    hint: "remove the tag that begins with !, or quote a text that begins with !",
  },
  UNEXPECTED_TOKEN: { ...unreadable, hint: "look for an extra bracket or quote just before it" },
};

/** Wordings for messages of the library that share the code `MISSING_CHAR`, by the beginning of the message. */
const missing: readonly (readonly [start: string, wording: Wording | undefined])[] = [
  ["Sequence item without", wordings["BAD_INDENT"]],
  ["Comments must be separated", wordings["COMMENT_SPACE"]],
  [
    "Implicit map keys need",
    { message: "A field has no `:` after its name", hint: "write `name: value`, or put a text in quotes" },
  ],
];

/** Returns the message and hint for an error of the library. */
export function wordingOf(
  { code, message }: { readonly code: string; readonly message: string },
  isAtEnd: boolean,
): Wording {
  // At the end of the input, the library reports a missing closing bracket as missing indentation.
  if (isAtEnd && code === "BAD_INDENT") return unclosed;
  const special = code === "MISSING_CHAR" ? missing.find(([start]) => message.startsWith(start)) : undefined;
  return special?.[1] ?? wordings[code] ?? unreadable;
}
