/**
 * A long run of calls through one gateway: plain answers of every kind, and odd
 * ones in between. Each answer is searched for every canary as it comes.
 */

import type { JsonObject } from "@toolcrib/json";
import { before, oddAnswers, plainAnswer } from "./canary-answers.ts";
import type { CanaryApi } from "./canary-api.ts";
import { services, unreachable } from "./canary-services.ts";
import type { RawAnswer, RawCallOptions } from "./raw-clients.ts";

/** Makes one call of a tool of `service`. */
export type MakeCall = (
  service: string,
  tool: string,
  args: JsonObject,
  options: RawCallOptions,
) => Promise<RawAnswer>;

/** What a run came to. */
export interface RunReport {
  calls: number;
  /** Answers with a placeholder where a secret stood. */
  scrubbed: number;
  /** What was wrong, at most a few. */
  readonly faults: string[];
}

/** Concurrent calls. */
const width = 24;
/** One call in this many has an odd answer. */
const oddEvery = 9;

const tools = ["ask", "pick", "pages", "send", "post_form"] as const;
const nowhere = "nowhere";
/** Odd answers, and none at all. */
const oddNames = [...Object.keys(oddAnswers), nowhere];

/** Make calls `from` to `to` (without it). */
export async function runCalls(
  api: Pick<CanaryApi, "search">,
  make: MakeCall,
  from: number,
  to: number,
): Promise<RunReport> {
  const report: RunReport = { calls: 0, scrubbed: 0, faults: [] };
  let next = from;
  const work = async (): Promise<void> => {
    while (next < to) {
      const number = next;
      next += 1;
      await callOnce(api, make, number, report);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return report;
}

async function callOnce(
  api: Pick<CanaryApi, "search">,
  make: MakeCall,
  number: number,
  report: RunReport,
): Promise<void> {
  const isOdd = number % oddEvery === 0;
  const round = Math.floor(number / oddEvery);
  const odd = oddNames[round % oddNames.length] as string;
  const list = isOdd && odd === nowhere ? unreachable : services;
  const service = list[(round + number) % list.length]?.id as string;
  const tool = isOdd && round % 4 !== 0 ? "ask" : (tools[(number + round) % tools.length] as string);
  const mode = isOdd ? `odd-${odd}` : `plain-${number}`;
  const about = `call ${number}, ${service}:${tool} ${mode}`;
  report.calls += 1;
  const leaves = odd.startsWith("hang") && isOdd;
  let answer: RawAnswer;
  try {
    answer = await make(service, tool, { mode }, leaves ? { leaveMs: 150 } : {});
  } catch (error) {
    fault(report, `${about}: ${String(error)}`);
    return;
  }
  const shown = shownOf(answer);
  const leak = api.search.find(answer.bytes) ?? api.search.find(shown);
  if (leak !== undefined) fault(report, `${about}: shows ${leak.canary} as ${leak.form}: ${leak.excerpt}`);
  const isScrubbed = shown.includes("toolcrib-ph-") || shown.includes("[secret ");
  if (isScrubbed) report.scrubbed += 1;
  if (isOdd) return;
  const { isBinary, status } = plainAnswer(number);
  // For content that is not text, an error shows the type and the size.
  if (isBinary && status > 299) return;
  // What has another length without its secrets was not cut.
  if (shown.includes("[truncated:")) fault(report, `${about}: ${describe(number)} was cut: ${shown}`);
  if (!isScrubbed) fault(report, `${about}: ${describe(number)} came without what it echoes: ${shown}`);
  if (tool !== "pick" && !shown.includes(before)) fault(report, `${about}: came without its beginning`);
}

/** An answer with its resources decoded, as its reader gets it. */
function shownOf({ result }: RawAnswer): Buffer {
  if (result === undefined) return Buffer.alloc(0);
  const blobs = ((result["content"] ?? []) as readonly { readonly resource?: { readonly blob?: string } }[])
    .map(({ resource }) => Buffer.from(resource?.blob ?? "", "base64"))
    .filter(({ length }) => length > 0);
  return Buffer.concat([Buffer.from(JSON.stringify(result)), ...blobs]);
}

function describe(number: number): string {
  const { forms, coding, status } = plainAnswer(number);
  const form = forms.length === 1 ? forms[0]?.name : "every form";
  return `${form} in ${coding[0] === "" ? "no coding" : coding[0]} with ${status}`;
}

function fault(report: RunReport, text: string): void {
  if (report.faults.length < 12) report.faults.push(text.slice(0, 1500));
}
