/**
 * Stands between a package whose tests run and what it calls. When a run is recorded, it keeps the responses to the
 * requests of an `http` endpoint and the results of the steps of a chain; when a run is replayed, it gives them back,
 * and nothing is sent or called. It has no I/O of its own.
 *
 * What was recorded belongs to exact requests and calls: another method, URL, body or argument has no recorded reply,
 * and the call fails. No recording has headers of requests, or a secret that is known to this process.
 */

import { isSameJson, type JsonObject, type JsonValue, parseJson } from "@toolcrib/json";
import type { PackageTest } from "@toolcrib/mcpkg";
import { failedResult, type ToolResult, textResult } from "@toolcrib/tool";
import type { HttpResponse } from "@toolcrib/toolspec";
import { McpkgRuntimeError } from "../runtime-error.ts";

type Exchange = NonNullable<PackageTest["exchanges"]>[number];

/** A request as it is recorded. */
export interface RecordedRequest {
  readonly method: string;
  /** Path and query of the endpoint's own host, an absolute URL of another one. Without credentials. */
  readonly url: string;
  readonly body: Uint8Array | undefined;
}

/** The recording of one test, as members of its file. */
export interface TestRecording {
  readonly exchanges?: readonly JsonValue[];
  readonly replies?: readonly JsonValue[];
}

/** Headers of responses that the result of a tool depends on. */
const keptHeaders = ["content-type", "location"] as const;

/** Records or replays what the tests of one package call, one test after the other. */
export class TestReplies {
  readonly mode: "record" | "replay";
  #test: PackageTest | undefined;
  /** Counts the tests: a call can outlast its own, and belongs to no other. */
  #turn = 0;
  #used = new Set<JsonValue | Exchange>();
  #exchanges: Exchange[] = [];
  #replies: JsonObject[] = [];

  constructor(mode: "record" | "replay") {
    this.mode = mode;
  }

  /** A test begins. */
  begin(test: PackageTest): void {
    this.#turn += 1;
    this.#test = test;
    this.#used = new Set();
    this.#exchanges = [];
    this.#replies = [];
  }

  /** A test ended. @returns how many recorded replies it used, and what it recorded */
  end(): { readonly usedCount: number; readonly recording: TestRecording } {
    this.#turn += 1;
    const recording = {
      ...(this.#exchanges.length === 0 ? {} : { exchanges: this.#exchanges as readonly JsonValue[] }),
      ...(this.#replies.length === 0 ? {} : { replies: this.#replies }),
    };
    return { usedCount: this.#used.size, recording };
  }

  /** The recorded replies of the current test for the calls of a program, which uses all of them; undefined when calls are made. */
  takeProgramReplies():
    | { readonly replies: readonly JsonValue[]; readonly now: string | undefined }
    | undefined {
    if (this.mode === "record") return undefined;
    const { replies = [], now } = this.#test ?? {};
    for (const one of replies) this.#used.add(one);
    return { replies, now };
  }

  /**
   * Answers a request. @param clean removes known secrets from a text
   *
   * @throws {McpkgRuntimeError} `PACKAGE_REPLY_MISSING`; what `send` throws
   */
  async request(
    request: RecordedRequest,
    send: () => Promise<HttpResponse>,
    clean: (text: string) => string,
  ): Promise<HttpResponse> {
    const sent = recordedRequest(request, clean);
    if (this.mode === "replay") {
      const found = this.#test?.exchanges?.find(
        (one) => !this.#used.has(one) && isSameJson({ ...one.request }, { ...sent }),
      );
      if (found === undefined) throw this.#missing(`${sent.method} ${sent.url}`, "request");
      this.#used.add(found);
      return toResponse(found.response);
    }
    const turn = this.#turn;
    const response = await send();
    if (turn === this.#turn)
      this.#exchanges.push({ request: sent, response: recordedResponse(response, clean) });
    return response;
  }

  /**
   * Answers the call of a step.
   *
   * @throws {McpkgRuntimeError} `PACKAGE_REPLY_MISSING`; what `call` throws
   */
  async call(
    callId: string,
    tool: string,
    params: JsonObject,
    call: () => Promise<ToolResult>,
  ): Promise<ToolResult> {
    if (this.mode === "replay") {
      const found = this.#test?.replies?.find(
        (one): one is JsonObject => !this.#used.has(one) && isReplyTo(one, tool, params),
      );
      if (found === undefined) throw this.#missing(`${tool} with these arguments`, "call");
      this.#used.add(found);
      return toResult(found, callId);
    }
    const turn = this.#turn;
    const result = await call();
    if (turn === this.#turn) this.#replies.push({ tool, params, ...recordedResult(result) });
    return result;
  }

  #missing(what: string, kind: "request" | "call"): McpkgRuntimeError {
    const { exchanges = [], replies = [] } = this.#test ?? {};
    const count = (kind === "request" ? exchanges : replies).length;
    const state =
      count === 0 ? "it has no recorded reply" : `none of its ${count} recorded replies is left for it`;
    return new McpkgRuntimeError(
      "PACKAGE_REPLY_MISSING",
      `The test made the ${kind} ${what.slice(0, 500)}, and ${state}`,
      { hint: "record it again, with real calls: toolcrib test FOLDER --record" },
    );
  }
}

function recordedRequest(
  { method, url, body }: RecordedRequest,
  clean: (text: string) => string,
): Exchange["request"] {
  const text = body === undefined ? undefined : clean(new TextDecoder().decode(body));
  return { method, url: clean(url), ...(text === undefined ? {} : { body: jsonOf(text) }) };
}

/** The JSON of a text, or the text. */
function jsonOf(text: string): JsonValue {
  try {
    return parseJson(text, { maxLength: Number.POSITIVE_INFINITY, maxDepth: 64 });
  } catch {
    return text;
  }
}

function recordedResponse(
  { status, headers, body }: HttpResponse,
  clean: (text: string) => string,
): Exchange["response"] {
  const byName = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const kept = keptHeaders.flatMap((name) => {
    const value = byName.get(name);
    return value === undefined ? [] : [[name, clean(value)] as const];
  });
  let text: string | undefined;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    text = undefined;
  }
  return {
    status,
    headers: Object.fromEntries(kept),
    ...(text === undefined ? { bodyBase64: Buffer.from(body).toString("base64") } : { body: clean(text) }),
  };
}

function toResponse({ status, headers, body = "", bodyBase64 }: Exchange["response"]): HttpResponse {
  const named = Object.entries(headers ?? {}).flatMap(([name, value]) =>
    typeof value === "string" ? [[name, value] as const] : [],
  );
  return {
    status,
    headers: Object.fromEntries(named),
    body: bodyBase64 === undefined ? new TextEncoder().encode(body) : Buffer.from(bodyBase64, "base64"),
  };
}

function isReplyTo(one: JsonValue, tool: string, params: JsonObject): one is JsonObject {
  if (typeof one !== "object" || one === null || Array.isArray(one)) return false;
  const reply = one as JsonObject;
  const { tool: named, params: expected } = reply;
  return named === tool && (expected === undefined || isSameJson(expected, params));
}

function recordedResult(result: ToolResult): JsonObject {
  if (result.isError === true) return { error: { message: textOf(result) } };
  return { result: result.structuredContent ?? jsonOf(textOf(result)) };
}

function toResult({ result, error }: JsonObject, callId: string): ToolResult {
  if (result !== undefined) return { ...textResult(JSON.stringify(result)), structuredContent: result };
  const { message } = (typeof error === "object" && error !== null ? error : {}) as JsonObject;
  return failedResult(
    new McpkgRuntimeError(
      "PACKAGE_PROGRAM_FAILED",
      typeof message === "string" ? message : "The call failed",
    ),
    callId,
  );
}

function textOf({ content }: ToolResult): string {
  return content.map(({ text }) => (typeof text === "string" ? text : "")).join("\n");
}
