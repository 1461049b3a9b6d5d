/** The place of a server in a client's file, and the errors that all formats share. */

import { ClientsError } from "./clients-error.ts";

/** The place of a server. */
export interface ServerPlace {
  readonly section: string;
  readonly name: string;
  /** Whether the section is a list whose entries have a `name`. */
  readonly isList: boolean;
}

/** The error for a text that is not readable. */
export function syntaxError(text: string, offset: number, reason: string, format: string): ClientsError {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  const column = offset - before.lastIndexOf("\n");
  return new ClientsError(
    "CLIENTS_FILE_SYNTAX",
    `It is not readable ${format}: line ${line}, column ${column}: ${reason}`,
    { hint: "correct the file, or move it away; the client cannot read it either" },
  );
}

/** The error for a text in which no server can be added or removed without changing more. */
export function shapeError(reason: string): ClientsError {
  return new ClientsError("CLIENTS_FILE_SHAPE", reason, {
    hint: "add the server in the client itself; --print shows its entry",
  });
}

/** The line ending of a text. */
export function lineEndingOf(text: string): "\n" | "\r\n" {
  return text.includes("\r\n") ? "\r\n" : "\n";
}

/** The beginning of a text that some editors write and parsers do not read. */
export const byteOrderMark = "\uFEFF";
