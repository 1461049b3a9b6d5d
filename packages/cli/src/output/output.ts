/**
 * The output of a command. Results go to standard output, as text or, with
 * `--json`, as one JSON document and nothing else. Notes, diagnostics and logs go
 * to standard error.
 *
 * Foreign text (tool descriptions, audit records) must pass `safeLine` or
 * `safeText`, so that it cannot control the terminal.
 */

import { stripVTControlCharacters, styleText } from "node:util";
import { escapeUnsafe } from "@toolcrib/store";
import type { OutputStream } from "../process-context.ts";
import { wrapProse } from "./fit-styled.ts";
import { type Column, formatRows } from "./table.ts";

/** A text style. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "magenta";

/** The output of one run of a command. */
export interface Output {
  /** Whether results are JSON. */
  readonly isJson: boolean;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Whether standard error is a terminal. */
  readonly isNoteTerminal: boolean;
  /** Columns of standard output; `Infinity` if it is not a terminal. */
  readonly width: number;
  /** Writes lines to standard output; nothing with `--json`. */
  print(...lines: readonly string[]): void;
  /** Writes sentences to standard output, on a terminal wrapped between words; nothing with `--json`. */
  prose(...lines: readonly string[]): void;
  /** Writes a table to standard output, or a block for each row where the terminal is too narrow for it; nothing with `--json`. */
  table(columns: readonly Column[], rows: readonly (readonly string[])[]): void;
  /** Writes the JSON document; nothing without `--json`. */
  json(value: unknown): void;
  /** Writes one line of JSON, for endless output (`--json` with `--follow`). */
  jsonLine(value: unknown): void;
  /** Writes lines to standard error; on a terminal, sentences after a label (`error`, `hint`, `warning`) are wrapped. */
  note(...lines: readonly string[]): void;
  /** Styles `text` if standard output supports styles. */
  style(style: Style | readonly Style[], text: string): string;
  /** Styles `text` if standard error supports styles. */
  noteStyle(style: Style | readonly Style[], text: string): string;
}

/** Options of `createOutput`. */
export interface OutputOptions {
  readonly isJson: boolean;
  /** Whether `--no-color` was given; otherwise `NO_COLOR`, `FORCE_COLOR` and the stream decide. */
  readonly noColor: boolean;
}

/** Creates the output of one run. */
export function createOutput(
  streams: { readonly stdout: OutputStream; readonly stderr: OutputStream },
  { isJson, noColor }: OutputOptions,
): Output {
  const { stdout, stderr } = streams;
  const isTerminal = stdout.isTTY === true;
  const width = isTerminal ? Math.max(40, stdout.columns || 80) : Number.POSITIVE_INFINITY;
  const styled = (stream: OutputStream) => (style: Style | readonly Style[], text: string) =>
    noColor ? text : styleText(style as Style, text, { stream: stream as NodeJS.WriteStream });
  const style = styled(stdout);
  const print = (...lines: readonly string[]) => {
    if (!isJson && lines.length > 0) stdout.write(`${lines.join("\n")}\n`);
  };
  return {
    isJson,
    isTerminal,
    isNoteTerminal: stderr.isTTY === true,
    width,
    print,
    prose(...lines) {
      print(...(isTerminal ? lines.flatMap((line) => wrapProse(line, width)) : lines));
    },
    table(columns, rows) {
      print(...formatRows(columns, rows, { width, paintTitle: (title) => style("dim", title) }));
    },
    json(value) {
      if (isJson) stdout.write(`${toSafeJson(value, 2)}\n`);
    },
    jsonLine(value) {
      if (isJson) stdout.write(`${toSafeJson(value)}\n`);
    },
    note(...lines) {
      const isNarrow = stderr.isTTY === true;
      const all = isNarrow ? lines.flatMap((line) => wrapLabelled(line, stderr.columns || 80)) : lines;
      if (lines.length > 0) stderr.write(`${all.join("\n")}\n`);
    },
    style,
    noteStyle: styled(stderr),
  };
}

/** A label with a sentence after it, and a hint that is a command line. */
const labelled = /^(?:error \w+|hint|note|warning|tool error[^:]*): /;
const commandHint = /^hint: (?:npx )?toolcrib (?!.*[;,])/;

/** Wraps the first line of a note that is a sentence after a label. What is to be copied stays whole. */
function wrapLabelled(text: string, width: number): readonly string[] {
  const [first = "", ...rest] = text.split("\n");
  const shown = stripVTControlCharacters(first);
  const isSentence = labelled.test(shown) && !commandHint.test(shown);
  return [...(isSentence ? wrapProse(first, width) : [first]), ...rest];
}

/** Returns foreign text as one line, with control and invisible characters escaped. */
export function safeLine(text: string): string {
  return escapeUnsafe(text.replace(/\s+/g, " ").trim());
}

/** Longest reason that is shown whole, and the part of a longer one that is kept from the end. */
const reasonMaxLength = 2000;
const reasonEndLength = 500;

/** Returns a reason as `safeLine`, shortened in the middle where it is longer than 2,000 characters: the fix is at the end. */
export function reasonLine(reason: string): string {
  const line = safeLine(reason);
  if (line.length <= reasonMaxLength) return line;
  return `${line.slice(0, reasonMaxLength - reasonEndLength)} … ${line.slice(-reasonEndLength)}`;
}

/** Returns foreign text with its line breaks and tabs, and other control characters escaped. */
export function safeText(text: string): string {
  return text.replace(/\r\n/g, "\n").split("\n").map(safeTabbed).join("\n");
}

function safeTabbed(line: string): string {
  return line.split("\t").map(escapeUnsafe).join("\t");
}

/** Returns JSON that cannot control a terminal. A JSON parser reverses the escapes. */
function toSafeJson(value: unknown, indentation?: number): string {
  return JSON.stringify(value, undefined, indentation).split("\n").map(escapeUnsafe).join("\n");
}
