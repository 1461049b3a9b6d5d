/**
 * Where a command's results and remarks go. Results are for people or, with
 * `--json`, one JSON document on standard output and nothing else there;
 * remarks, diagnostics and logs go to standard error.
 *
 * What others wrote (tool descriptions, audit records) goes through `safe`
 * first, so that it cannot steer the terminal.
 */

import { styleText } from "node:util";
import { escapeUnsafe } from "@toolcrib/store";
import type { OutputStream } from "../process-context.ts";
import { type Column, formatTable } from "./table.ts";

/** Looks of a text. */
export type Style = "bold" | "dim" | "red" | "green" | "yellow" | "cyan" | "magenta";

/** The way out for one run of a command. */
export interface Output {
  /** Whether results are JSON. */
  readonly isJson: boolean;
  /** Whether standard output is a terminal. */
  readonly isTerminal: boolean;
  /** Columns of standard output; `Infinity` where it is no terminal. */
  readonly width: number;
  /** Write lines for people to standard output; nothing with `--json`. */
  print(...lines: readonly string[]): void;
  /** Write a table for people to standard output; nothing with `--json`. */
  table(columns: readonly Column[], rows: readonly (readonly string[])[]): void;
  /** Write the JSON document; nothing without `--json`. */
  json(value: unknown): void;
  /** Write one line of JSON: for what has no end (`--json` with `--follow`). */
  jsonLine(value: unknown): void;
  /** Write lines to standard error. */
  note(...lines: readonly string[]): void;
  /** `text` in a style, where standard output shows styles. */
  style(style: Style | readonly Style[], text: string): string;
  /** As `style`, for standard error. */
  noteStyle(style: Style | readonly Style[], text: string): string;
}

/** What an output is made of. */
export interface OutputOptions {
  readonly isJson: boolean;
  /** Whether `--no-color` was given; `NO_COLOR`, `FORCE_COLOR` and the kind of stream decide otherwise. */
  readonly noColor: boolean;
}

/** Create the output of one run. */
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
    width,
    print,
    table(columns, rows) {
      print(...formatTable(columns, rows, { width, paintTitle: (title) => style("dim", title) }));
    },
    json(value) {
      if (isJson) stdout.write(`${toSafeJson(value, 2)}\n`);
    },
    jsonLine(value) {
      if (isJson) stdout.write(`${toSafeJson(value)}\n`);
    },
    note(...lines) {
      if (lines.length > 0) stderr.write(`${lines.join("\n")}\n`);
    },
    style,
    noteStyle: styled(stderr),
  };
}

/** One line of a text that others wrote: no controls, no invisible characters, line breaks as spaces. */
export function safeLine(text: string): string {
  return escapeUnsafe(text.replace(/\s+/g, " ").trim());
}

/** Longest reason in a line about something else. */
const reasonMaxLength = 240;

/** Why something is not there, as `safeLine`, cut where it would hide everything else. */
export function reasonLine(reason: string): string {
  const line = safeLine(reason);
  return line.length <= reasonMaxLength ? line : `${line.slice(0, reasonMaxLength)}…`;
}

/** A text that others wrote, with its line breaks and tabs. */
export function safeText(text: string): string {
  return text.replace(/\r\n/g, "\n").split("\n").map(safeTabbed).join("\n");
}

function safeTabbed(line: string): string {
  return line.split("\t").map(escapeUnsafe).join("\t");
}

/** JSON in which nothing can steer a terminal; escapes that JSON reads back. */
function toSafeJson(value: unknown, indentation?: number): string {
  return JSON.stringify(value, undefined, indentation).split("\n").map(escapeUnsafe).join("\n");
}
