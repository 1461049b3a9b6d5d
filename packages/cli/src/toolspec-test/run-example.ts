/**
 * One example of a toolspec: its arguments through the engine, and the request
 * that arrives, or the answer of the API itself, against what it expects.
 */

import { randomUUID } from "node:crypto";
import { isCodedError, messageOf } from "@toolcrib/diagnostics";
import { type CallContext, localIdentity, type ToolResult, type ToolSource } from "@toolcrib/tool";
import {
  compareExample,
  type ExampleDifference,
  type FilledCredential,
  type RequestPlan,
  type ToolspecExample,
  type ToolspecTool,
  writeCredential,
} from "@toolcrib/toolspec";
import type { ArrivedRequest } from "./mock-api.ts";

/** Longest text of a failure that is kept. */
const textMaxLength = 2000;
const deadlineMs = 30_000;

/** What an example came to. */
export type ExampleOutcome =
  | { readonly kind: "passed"; readonly note?: string }
  | { readonly kind: "failed"; readonly reason: string; readonly differences: readonly ExampleDifference[] }
  | { readonly kind: "skipped"; readonly reason: string };

/** Call the tool with the arguments of the example. */
export async function callExample(
  source: ToolSource,
  tool: ToolspecTool,
  example: ToolspecExample,
  context: { readonly now: () => number; readonly signal: AbortSignal },
): Promise<ToolResult> {
  const found = source.tools().find(({ definition }) => definition.name === tool.name);
  if (found === undefined) throw new Error(`the source has no tool ${tool.name}`);
  const signal = AbortSignal.any([context.signal, AbortSignal.timeout(deadlineMs)]);
  const callContext: CallContext = {
    callId: randomUUID(),
    depth: 0,
    identity: localIdentity("cli", "toolspec test"),
    era: "modern",
    signal,
    deadline: context.now() + deadlineMs,
    wantsProgress: false,
    progress() {},
    notify() {},
    async ask() {
      throw new Error("nobody is asked here");
    },
  };
  return source.call(found, example.args, callContext);
}

/** Hold what arrived to what the example expects, credentials in their places. */
export function judgeRequest(
  example: ToolspecExample,
  arrived: readonly ArrivedRequest[],
  credentials: readonly FilledCredential[],
): ExampleOutcome {
  const [request] = arrived;
  if (request === undefined) return failed("no request arrived");
  if (arrived.length > 1) return failed(`${arrived.length} requests arrived`);
  const plan: RequestPlan = { ...request, method: request.method as RequestPlan["method"] };
  const expected = {
    ...example,
    request: { ...example.request, url: withCredentials(example.request.url, credentials) },
  };
  const missing = credentials.flatMap((one): ExampleDifference[] => {
    if (one.place.kind !== "header") return [];
    const { name } = one.place;
    const actual =
      Object.entries(request.headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] ?? "";
    const written = writeCredential(one);
    return actual === written ? [] : [{ part: `headers.${name}`, expected: written, actual }];
  });
  const differences = [...compareExample(expected, plan), ...missing];
  return differences.length === 0
    ? { kind: "passed" }
    : { kind: "failed", reason: "another request arrived", differences };
}

/** `url` as it is sent: with the credentials that go before its path and behind its query. */
function withCredentials(url: string, credentials: readonly FilledCredential[]): string {
  const [, origin = "", path = "", query = ""] = /^(https:\/\/[^/?#]*)([^?#]*)(.*)$/s.exec(url) ?? [];
  const prefix = credentials
    .flatMap((one) => (one.place.kind === "pathPrefix" ? [writeCredential(one)] : []))
    .join("");
  const pairs = credentials.flatMap((one) =>
    one.place.kind === "query" ? [`${encodeURIComponent(one.place.name)}=${writeCredential(one)}`] : [],
  );
  const all = [...(query === "" ? [] : [query.slice(1)]), ...pairs].join("&");
  return `${origin}${prefix}${path}${all === "" ? "" : `?${all}`}`;
}

/** What the API itself answered. */
export function judgeAnswer(result: ToolResult): ExampleOutcome {
  const text = result.content
    .flatMap((block) => (typeof block["text"] === "string" ? [block["text"]] : []))
    .join("\n");
  if (result.isError === true) return failed(text.slice(0, textMaxLength));
  return { kind: "passed", note: `${new TextEncoder().encode(text).length} bytes` };
}

/** What a call that threw came to. */
export function judgeError(error: unknown): ExampleOutcome {
  if (!isCodedError(error)) throw error;
  return failed(`${error.code}: ${messageOf(error)}${error.hint === undefined ? "" : ` (${error.hint})`}`);
}

function failed(reason: string): ExampleOutcome {
  return { kind: "failed", reason, differences: [] };
}
