/**
 * The inner calls of one execution, on the host's side: counted, so many at a
 * time, recorded, and called off when the execution is over. It is the only
 * place that calls the host, and knows nothing of the language.
 */

import type { JsonObject, JsonValue } from "@toolcrib/json";
import type { CallContext } from "@toolcrib/tool";
import { CallRecords } from "./call-records.ts";
import type { CatalogTool, MetatoolHost } from "./catalog.ts";
import { type InnerReply, toInnerFailure, toInnerReply } from "./inner-reply.ts";
import type { ExecutionOptions, ToolCallRecord } from "./outcome.ts";
import { createProgressSum } from "./progress-sum.ts";
import { createSlots } from "./slots.ts";
import { displayName } from "./tool-directory.ts";

/**
 * Answers inner calls in place of the host. `undefined` means that it has no
 * answer, which is an error of the call and never a real one.
 */
export type ReplySource = (
  tool: CatalogTool,
  params: JsonObject,
) => InnerReply | undefined | Promise<InnerReply | undefined>;

/** Hears of every inner call that was answered, uncut. */
export type ReplyListener = (tool: CatalogTool, params: JsonObject, reply: InnerReply) => void;

/** What inner calls are made for. */
export interface InnerCallsRequest {
  readonly context: CallContext;
  readonly options: Pick<ExecutionOptions, "toolCalls" | "parallelWidth">;
  readonly replies?: ReplySource;
  readonly onReply?: ReplyListener;
}

/** Makes the inner calls of one execution. */
export interface InnerCalls {
  /** Call a tool; never rejects. */
  call(tool: CatalogTool, params: JsonObject): Promise<InnerReply>;
  /** The execution is over: what is under way is called off for this reason. Safe to repeat. */
  close(reason: unknown): void;
  records(): readonly ToolCallRecord[];
}

/** Prepare the inner calls of one execution. */
export function createInnerCalls(host: MetatoolHost, request: InnerCallsRequest): InnerCalls {
  const { context, options, replies, onReply } = request;
  const records = new CallRecords();
  const controller = new AbortController();
  const { signal } = controller;
  const progress = context.wantsProgress
    ? createProgressSum((params) => context.progress(params))
    : undefined;
  const slots = createSlots(options.parallelWidth);

  async function answer(tool: CatalogTool, params: JsonObject): Promise<InnerReply> {
    if (signal.aborted) return { kind: "error", message: "the execution is over" };
    if (replies !== undefined) return (await replies(tool, params)) ?? noReply(tool);
    const part = progress?.begin(displayName(tool));
    try {
      // A context is spread on its way, so all that it has must be its own.
      const inner: CallContext = {
        ...context,
        signal,
        progress: (params) => part?.report(params),
        notify: (method, params) => context.notify(method, params),
        ask: (method, params, askSignal) => context.ask(method, params, askSignal),
      };
      return toInnerReply(tool, await host.callTool(inner, tool.id, params));
    } finally {
      part?.end();
    }
  }

  async function call(tool: CatalogTool, params: JsonObject): Promise<InnerReply> {
    if (records.count >= options.toolCalls) return tooManyCalls(options.toolCalls);
    const record = records.begin(displayName(tool), params);
    const turn = slots.enter();
    if (turn !== undefined) await turn;
    let reply: InnerReply;
    try {
      reply = await answer(tool, params);
    } catch (thrown) {
      reply = toInnerFailure(tool, thrown);
    }
    slots.leave();
    record(toRecorded(reply));
    onReply?.(tool, params, reply);
    return reply;
  }

  return {
    call,
    close: (reason) => controller.abort(reason),
    records: () => records.toArray(),
  };
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
    message: `No reply is on record for ${displayName(tool)} with these arguments`,
    details: { code: "METATOOL_REPLY_MISSING" },
  };
}
