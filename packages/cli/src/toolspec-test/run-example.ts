/**
 * Runs one example of a toolspec through the engine, and compares the received
 * request, or the response of the API itself, with the expectation.
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
import type { ReceivedRequest } from "./mock-api.ts";

/** Longest text of a failure, in characters. */
const textMaxLength = 2000;
const deadlineMs = 30_000;

/** The outcome of an example. */
export type ExampleOutcome =
  | { readonly kind: "passed"; readonly note?: string }
  | { readonly kind: "failed"; readonly reason: string; readonly differences: readonly ExampleDifference[] }
  | { readonly kind: "skipped"; readonly reason: string };

/** Calls the tool with the arguments of the example. */
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
      throw new Error("examples cannot ask the client");
    },
  };
  return source.call(found, example.args, callContext);
}

/** Compares the received requests with the example, including credentials. */
export function checkRequest(
  example: ToolspecExample,
  received: readonly ReceivedRequest[],
  credentials: readonly FilledCredential[],
): ExampleOutcome {
  const [request] = received;
  if (request === undefined) return failed("no request was received");
  if (received.length > 1) return failed(`${received.length} requests were received`);
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
    : { kind: "failed", reason: "the request differs", differences };
}

/** Returns `url` with the credentials that precede its path and follow its query. */
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

/** Checks the response of the API itself. */
export function checkResponse(result: ToolResult): ExampleOutcome {
  const text = result.content
    .flatMap((block) => (typeof block["text"] === "string" ? [block["text"]] : []))
    .join("\n");
  if (result.isError === true) return failed(text.slice(0, textMaxLength));
  return { kind: "passed", note: `${new TextEncoder().encode(text).length} bytes` };
}

/** Converts a thrown error to an outcome. */
export function toFailure(error: unknown): ExampleOutcome {
  if (!isCodedError(error)) throw error;
  return failed(`${error.code}: ${messageOf(error)}${error.hint === undefined ? "" : ` (${error.hint})`}`);
}

function failed(reason: string): ExampleOutcome {
  return { kind: "failed", reason, differences: [] };
}
