/**
 * Reads the test data of llhttp: Markdown with a heading, metadata, the input and
 * the expected log of each case. Never evaluates the JavaScript that an input may
 * contain.
 */

import type { Message, Outcome } from "./run-parser.ts";

/** One case. */
export interface LlhttpCase {
  /** File, heading and mode, for `exceptions.ts`. */
  readonly id: string;
  /** The bytes, in Latin-1. */
  readonly input: string;
  /** Whether the response has no body, as for a request of HEAD. */
  readonly skipsBody: boolean;
  /** Whether the input is followed by the end of the connection. */
  readonly finishes: boolean;
  readonly expected: Outcome;
}

/** Parses the cases of one file. */
export function parseCases(file: string, text: string): readonly LlhttpCase[] {
  const cases: LlhttpCase[] = [];
  let heading = "";
  let meta = "";
  const blocks = new Map<string, string>();
  let language: string | undefined;
  for (const line of text.split("\n")) {
    if (language !== undefined) {
      if (line.startsWith("```")) language = undefined;
      else blocks.set(language, `${blocks.get(language) ?? ""}${line}\n`);
    } else if (line.startsWith("```")) {
      language = line.slice(3).trim();
      blocks.set(language, "");
    } else if (line.startsWith("#")) {
      heading = line.replace(/^#+\s*/, "").trim();
    } else {
      meta = /<!-- meta=(\{.*?\}) -->/.exec(line)?.[1] ?? meta;
    }
    const [input, log] = [blocks.get("http"), blocks.get("log")];
    if (language !== undefined || input === undefined || log === undefined) continue;
    cases.push(toCase(`${file}: ${heading}`, meta, input, log));
    blocks.clear();
  }
  return cases;
}

function toCase(title: string, meta: string, input: string, log: string): LlhttpCase {
  const { type, skipBody, pause }: { type: string; skipBody?: boolean; pause?: string } = JSON.parse(meta);
  const mode = type.replace(/^response-?/, "");
  const suffix = [mode, pause].filter((part) => part !== undefined && part !== "").join(", ");
  return {
    id: suffix === "" ? title : `${title} (${suffix})`,
    input: decodeInput(input),
    skipsBody: skipBody === true,
    finishes: mode === "finish",
    expected: readLog(log.replaceAll("\\t", "\t").replaceAll("\\f", "\f")),
  };
}

/** Undoes the escapes of the format. */
function decodeInput(text: string): string {
  if (text.includes("${")) throw new Error("A case contains JavaScript, which is not supported");
  return text
    .replace(/\n$/, "")
    .replace(/\\(\r\n|\r|\n)/g, "")
    .replace(/\r\n|\r|\n/g, "\r\n")
    .replaceAll("\\r", "\r")
    .replaceAll("\\n", "\n")
    .replaceAll("\\t", "\t")
    .replaceAll("\\f", "\f")
    .replace(/\\x([0-9a-fA-F]+)/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/\\([0-7]{1,3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}

/** Reads the messages from a log: those whose head is complete. */
function readLog(log: string): Outcome {
  const messages: Message[] = [];
  let headers: string[] = [];
  let current: Message | undefined;
  for (const line of log.split("\n")) {
    const span = /span\[(\w+)\]=(?:"(.*)"|(cr|lf))$/.exec(line);
    const spanText = span?.[3] === undefined ? (span?.[2] ?? "") : span[3] === "cr" ? "\r" : "\n";
    const status = /headers complete(?:: message type)?.* status=(\d+)/.exec(line)?.[1];
    if (/ message begin$/.test(line)) {
      headers = [];
      current = undefined;
    } else if (span?.[1] === "header_field") {
      headers.push(spanText, "");
    } else if (span?.[1] === "header_value") {
      headers[headers.length - 1] += spanText;
    } else if (status !== undefined) {
      current = {
        status: Number(status),
        headers: trimmed(headers),
        body: "",
        trailers: [],
        isComplete: false,
      };
      messages.push(current);
      headers = [];
    } else if (span?.[1] === "body" && current !== undefined) {
      current.body += spanText;
    } else if (/ message complete$|finish=1$/.test(line) && current !== undefined) {
      current.isComplete = true;
      current.trailers = trimmed(headers);
    }
  }
  return { messages, isRefused: / error code=/.test(log) };
}

function trimmed(headers: readonly string[]): string[] {
  return headers.map((text) => text.replace(/^[ \t]+|[ \t]+$/g, ""));
}
