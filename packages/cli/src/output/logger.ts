/**
 * The program log: one JSON object a line (or a line for people), made by pino
 * and written to the stream of the caller, which is standard error.
 *
 * It never writes a credential that it can recognize: it replaces fields with
 * the name of a credential and everything in the form of a bearer token. The
 * name of a secret is not secret: fields such as `secretName` are written. It
 * never passes a control, bidirectional or invisible character to a terminal. The audit
 * trail is another stream, with its own rules.
 */

import { cutText, type Logger } from "@toolcrib/diagnostics";
import { escapeUnsafe } from "@toolcrib/store";
import { pino } from "pino";
import type { LogLevel } from "../global-options.ts";

/** Dependencies of a logger. */
export interface LoggerDeps {
  /** Writes one line with its line feed; `process.stderr` has this form. */
  readonly output: { write(line: string): unknown };
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Options of `createLogger`. */
export interface LoggerOptions {
  /** Least severe level that is written; `silent` writes nothing. @default "info" */
  readonly level?: LogLevel;
  /** Whether to write lines for people instead of JSON. @default false */
  readonly pretty?: boolean;
}

/** Creates a logger. Errors in a field `err` are written with their stack and causes. */
export function createLogger(deps: LoggerDeps, options: LoggerOptions = {}): Logger {
  const { output, now } = deps;
  const toLine = options.pretty === true ? toPrettyLine : toSafeLine;
  const records = pino(
    {
      level: options.level ?? "info",
      base: null,
      timestamp: () => `,"time":"${new Date(now()).toISOString()}"`,
      formatters: {
        level: (level) => ({ level }),
        log: (fields) => redactFields(fields, 0) as Record<string, unknown>,
      },
    },
    { write: (line: string) => void output.write(toLine(line)) },
  );
  return {
    debug: (fields, message) => records.debug(fields, message),
    info: (fields, message) => records.info(fields, message),
    warn: (fields, message) => records.warn(fields, message),
    error: (fields, message) => records.error(fields, message),
  };
}

const credentialName =
  /^(?:proxy-)?authorization$|^(?:set-)?cookie$|(?:^|[-_])(?:token|api[-_]?key)$|secret|password/i;

/** Fields that contain the name of a credential: `secretName`, `password_names`. */
const nameOfCredential = /names?$/i;

/** Deepest level of nested fields that is checked; pino drops deeper ones. */
const fieldsMaxDepth = 8;

/** Characters of a text that are written: a server chooses the length of its errors. */
const textMaxLength = 8192;

function redactFields(value: unknown, depth: number): unknown {
  if (typeof value === "string" && value.length > textMaxLength) {
    const kept = cutText(value, textMaxLength, redactText);
    return `${kept}… (${value.length - kept.length} more characters)`;
  }
  if (typeof value !== "object" || value === null || value instanceof Error) return value;
  if (depth >= fieldsMaxDepth) return "[too deep]";
  if (Array.isArray(value)) return value.map((item) => redactFields(item, depth + 1));
  const fields: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(value)) {
    const isCredential =
      credentialName.test(name) &&
      !nameOfCredential.test(name) &&
      (typeof field === "string" || Array.isArray(field));
    fields[name] = isCredential ? "[redacted]" : redactFields(field, depth + 1);
  }
  return fields;
}

/** A bearer or basic credential inside a text, and a token that this gateway made. */
function redactText(text: string): string {
  return text
    .replace(/\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{16,}/gi, "$1 [redacted]")
    .replace(/\btcb_[A-Za-z0-9_-]{16,}/g, "tcb_[redacted]");
}

function toSafeLine(line: string): string {
  return `${escapeUnsafe(redactText(line.trimEnd()))}\n`;
}

/** Returns a record of the log as lines for people, each with its line feed. @throws {SyntaxError} for a line that is no record */
export function toPrettyLine(line: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(redactText(line)) as Record<string, unknown>;
  const pairs = Object.entries(fields).map(([name, value]) => {
    const text = typeof value === "string" && /^[\w./:@-]+$/.test(value) ? value : JSON.stringify(value);
    return ` ${escapeUnsafe(name)}=${escapeUnsafe(text)}`;
  });
  const stack = typeof err === "object" && err !== null && "stack" in err ? String(err.stack) : undefined;
  const stackLines = stack?.split("\n").map((text) => `    ${escapeUnsafe(text.trim())}\n`) ?? [];
  const head = `${String(time).slice(11, 23)} ${String(level).toUpperCase().padEnd(5)}`;
  return `${head} ${escapeUnsafe(String(msg))}${pairs.join("")}\n${stackLines.join("")}`;
}
