/**
 * The inner calls of one execution, on the side of the host: counted, limited in
 * number and concurrency, recorded, and cancelled when the execution ends. It is the
 * only place that calls the host, and it does not know the language.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { CallContext } from "@toolcrib/tool";
import { defaultArgumentsMaxBytes, tooLarge } from "./arguments-limit.ts";
import { CallRecords } from "./call-records.ts";
import type { CatalogTool, MetatoolHost } from "./catalog.ts";
import { type InnerReply, toInnerFailure, toInnerReply } from "./inner-reply.ts";
import { jsonSize } from "./json-measure.ts";
import type { ExecutionOptions, ToolCallRecord } from "./outcome.ts";
import { ProgressSum } from "./progress-sum.ts";
import { Slots } from "./slots.ts";
import { displayName } from "./tool-directory.ts";

/**
 * Replies to inner calls in place of the host. `undefined` means that no reply
 * exists: the inner call then fails, and no real call is made.
 */
export type ReplySource = (
  tool: CatalogTool,
  params: JsonObject,
) => InnerReply | undefined | Promise<InnerReply | undefined>;

/** Called with every inner call and its whole reply. */
export type ReplyListener = (tool: CatalogTool, params: JsonObject, reply: InnerReply) => void;

/** The execution that makes the inner calls. */
export interface InnerCallsRequest {
  readonly context: CallContext;
  readonly options: Pick<ExecutionOptions, "toolCalls" | "parallelWidth">;
  /** Maximum bytes of the arguments of one inner call, as JSON. @default 4,194,304 */
  readonly argumentsMaxBytes?: number;
  readonly replies?: ReplySource;
  readonly onReply?: ReplyListener;
}

/** Makes the inner calls of one execution. */
export class InnerCalls {
  readonly #host: MetatoolHost;
  readonly #request: InnerCallsRequest;
  readonly #records = new CallRecords();
  readonly #controller = new AbortController();
  readonly #progress: ProgressSum | undefined;
  readonly #slots: Slots;

  constructor(host: MetatoolHost, request: InnerCallsRequest) {
    const { context, options } = request;
    this.#host = host;
    this.#request = request;
    this.#progress = context.wantsProgress
      ? new ProgressSum((params) => context.progress(params))
      : undefined;
    this.#slots = new Slots(options.parallelWidth);
  }

  /** Makes an inner call. Never rejects. */
  async call(tool: CatalogTool, params: JsonObject): Promise<InnerReply> {
    const { options, onReply, argumentsMaxBytes = defaultArgumentsMaxBytes } = this.#request;
    if (this.#records.count >= options.toolCalls) return tooManyCalls(options.toolCalls);
    if (jsonSize(params, argumentsMaxBytes) > argumentsMaxBytes) return tooLarge(tool, argumentsMaxBytes);
    const record = this.#records.begin(displayName(tool), params);
    const turn = this.#slots.enter();
    if (turn !== undefined) await turn;
    let reply: InnerReply;
    try {
      reply = await this.#replyTo(tool, params);
    } catch (thrown) {
      reply = toInnerFailure(tool, thrown);
    }
    this.#slots.leave();
    record(toRecorded(reply));
    onReply?.(tool, params, reply);
    return reply;
  }

  /** End the execution: cancels the inner calls in flight with this reason. Safe to repeat. */
  close(reason: unknown): void {
    this.#controller.abort(reason);
  }

  records(): readonly ToolCallRecord[] {
    return this.#records.toArray();
  }

  async #replyTo(tool: CatalogTool, params: JsonObject): Promise<InnerReply> {
    const { context, replies } = this.#request;
    const { signal } = this.#controller;
    if (signal.aborted) return { kind: "error", message: "the execution has ended" };
    if (replies !== undefined) return (await replies(tool, params)) ?? noReply(tool);
    const part = this.#progress?.begin(displayName(tool));
    try {
      // The context is copied later by spreading, so every member must be an own property.
      const inner: CallContext = {
        ...context,
        signal,
        progress: (params) => part?.report(params),
        notify: (method, params) => context.notify(method, params),
        ask: (method, params, askSignal) => context.ask(method, params, askSignal),
      };
      return toInnerReply(tool, await this.#host.callTool(inner, tool.id, params));
    } finally {
      part?.end();
    }
  }
}

function toRecorded(reply: InnerReply): JsonValue {
  return reply.kind === "value" ? reply.value : { error: reply.message };
}

function tooManyCalls(limit: number): InnerReply {
  return {
    kind: "limit",
    message: `too many tool calls: the limit is ${limit}`,
    hint: "fetch more with each call (filters, page sizes), or leave the loop early",
  };
}

function noReply(tool: CatalogTool): InnerReply {
  return {
    kind: "error",
    message: `The recording has no reply for ${displayName(tool)} with these arguments`,
    details: { code: "METATOOL_REPLY_MISSING" },
  };
}
