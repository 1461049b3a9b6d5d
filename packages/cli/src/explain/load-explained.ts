/** Every code with its meaning, its explanation and the output of its example, for the command and the pages. */

import {
  type Explanation,
  isProduced,
  type Repaired,
  type UnrunReason,
  unrunReasons,
} from "./explanation.ts";
import { meanings } from "./meanings.ts";
import { recorded } from "./recorded.ts";

/** A code with everything that is known about it. */
export interface ExplainedCode {
  readonly code: string;
  readonly area: string;
  /** One sentence. */
  readonly meaning: string;
  readonly cause: string;
  readonly example: ExplainedExample;
  readonly fix: string;
}

/** An example of a code. */
export interface ExplainedExample {
  /** Texts of files by path. */
  readonly files?: { readonly [path: string]: string };
  /** The action, where no test runs it; otherwise the circumstances besides the files. */
  readonly did?: string;
  /** The lines before `run`. */
  readonly before?: readonly string[];
  /** The command line, request or message that a test runs. */
  readonly run?: string;
  /** Both as they are shown: commands after `$`, requests and messages as they are sent. */
  readonly lines: readonly string[];
  /** The change of the fix, where a test makes the code go away with it. */
  readonly repaired?: Repaired;
  /** The printed text. */
  readonly output: string;
  /** The reason where no test runs it. */
  readonly notRun?: string;
  readonly reason?: UnrunReason;
}

/** Loads every explanation, ordered by area and code. */
export async function loadExplained(): Promise<readonly ExplainedCode[]> {
  const { areas } = await import("./areas.ts");
  return Object.entries(areas)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([area, explanations]) =>
      Object.entries(explanations)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([code, explanation]) => toExplained(area, code, explanation)),
    );
}

function toExplained(area: string, code: string, explanation: Explanation): ExplainedCode {
  const { cause, fix } = explanation;
  // Numbers of JSON-RPC and types of events are in no codes.ts; their cause says what they mean.
  const meaning = meanings[code] ?? cause;
  if (isProduced(explanation)) {
    const { files, did, before, run, repaired } = explanation;
    const lines = [...(before ?? []), run].map(shownLine);
    const example = { files, did, before, run, lines, repaired, output: recorded[code] ?? "" };
    return { code, area, meaning, cause, example, fix };
  }
  const { did, prints, unrun } = explanation;
  const output = isErrorCode(code) && !prints.startsWith("{") ? printedError(code, prints) : prints;
  const example = { did, lines: [], output, notRun: unrunReasons[unrun], reason: unrun };
  return { code, area, meaning, cause, example, fix };
}

function shownLine(line: string): string {
  return /^(?:\{"|\[\{|[A-Z]+ \S+ HTTP\/)/.test(line) ? line.trimEnd() : `$ ${line}`;
}

/** Whether `code` is one of an error, and not a number of JSON-RPC or the type of an event. */
function isErrorCode(code: string): boolean {
  return /^[A-Z]/.test(code);
}

/** The form in which the command prints an error. */
function printedError(code: string, prints: string): string {
  const [message = "", ...hints] = prints.split("\n");
  return [`error ${code}: ${message}`, ...hints.map((hint) => `hint: ${hint}`)].join("\n");
}
