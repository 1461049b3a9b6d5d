/**
 * Makes many calls through one gateway: regular responses of every kind, mixed with
 * abnormal ones. Searches each result for every canary as soon as it arrives.
 */

import { setTimeout } from "node:timers/promises";
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

/** The result of a run. */
export interface RunReport {
  calls: number;
  /** Number of results in which a placeholder replaced a secret. */
  scrubbed: number;
  /** Descriptions of failures; only the first ones are kept. */
  readonly faults: string[];
}

/** Number of concurrent calls. */
const width = 24;
/** One call in this many gets an abnormal response. */
const oddEvery = 9;

const tools = ["ask", "pick", "pages", "send", "post_form"] as const;
const unreachableMode = "unreachable";
/** Names of the abnormal responses, and one for a service that cannot be reached. */
const oddNames = [...Object.keys(oddAnswers), unreachableMode];

/** Makes the calls from `from` to `to`, exclusive. */
export async function runCalls(
  api: Pick<CanaryApi, "search" | "nextGiven">,
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
  api: Pick<CanaryApi, "search" | "nextGiven">,
  make: MakeCall,
  number: number,
  report: RunReport,
): Promise<void> {
  const isOdd = number % oddEvery === 0;
  const round = Math.floor(number / oddEvery);
  const odd = oddNames[round % oddNames.length] as string;
  const list = isOdd && odd === unreachableMode ? unreachable : services;
  const service = list[(round + number) % list.length]?.id as string;
  const tool = isOdd && round % 4 !== 0 ? "ask" : (tools[(number + round) % tools.length] as string);
  const mode = isOdd ? `odd-${odd}` : `plain-${number}`;
  const about = `call ${number}, ${service}:${tool} ${mode}`;
  report.calls += 1;
  // The client leaves once the API hangs and the gateway had time to read the beginning of the body.
  const leaves = odd.startsWith("hang") && isOdd;
  const leave = leaves ? api.nextGiven(odd).then(() => setTimeout(50)) : undefined;
  let answer: RawAnswer;
  try {
    answer = await make(service, tool, { mode }, leave === undefined ? {} : { leave });
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
  // An error about binary content shows only its type and size.
  if (isBinary && status > 299) return;
  // The limit applies after secrets are replaced, so nothing may be truncated here.
  if (shown.includes("[truncated:")) fault(report, `${about}: ${describe(number)} was truncated: ${shown}`);
  if (!isScrubbed) fault(report, `${about}: ${describe(number)} lacks its secret: ${shown}`);
  if (tool !== "pick" && !shown.includes(before)) fault(report, `${about}: lacks the beginning of the body`);
}

/** Returns the result as JSON, followed by its decoded resources. */
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
