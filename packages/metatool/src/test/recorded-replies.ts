/**
 * Answers to inner calls from a recording, and never from anywhere else.
 *
 * A reply answers the first call of its tool that fits it, once. Replies are
 * given out in the order in which they are on record, also to calls that are
 * under way at the same time, so that a program that runs again makes its calls
 * in the same order again. A program that makes them in another order is not
 * made to wait for calls that it does not make. What its caller may not call is
 * denied here too.
 */

import type { JsonObject } from "@toolcrib/json";
import type { CatalogTool } from "../run/catalog.ts";
import type { ReplySource } from "../run/inner-calls.ts";
import type { InnerReply } from "../run/inner-reply.ts";
import { displayName } from "../run/tool-directory.ts";
import { findDifferences, isSameJson } from "./differences.ts";
import type { RecordedReply } from "./test-case.ts";

/** A call that nothing on record answers. */
export interface UnmatchedCall {
  /** `namespace.name` */
  readonly tool: string;
  readonly params: JsonObject;
  /** What there was instead, for people. */
  readonly reason: string;
}

/** Replies of one recording while they are used. */
export interface RecordedReplies {
  readonly source: ReplySource;
  /** Calls that got no reply, in order. */
  readonly unmatched: readonly UnmatchedCall[];
  /** Names of the tools that were called and may not be, in order. */
  readonly denied: readonly string[];
  /** Replies that nothing asked for. */
  unused(): readonly RecordedReply[];
}

/** Turns of the event loop without a call and without a reply after which an earlier reply is not waited for. */
const patienceTurns = 1000;

/** What answering needs. */
export interface RepliesDeps {
  /** Whether the caller may call a tool. */
  readonly mayCall: (tool: CatalogTool) => boolean;
  /** Resolves after other work of the event loop had its turn. */
  readonly nextTurn: () => Promise<void>;
}

/** Answer from `replies`. */
export function createRecordedReplies(
  replies: readonly RecordedReply[],
  { mayCall, nextTurn }: RepliesDeps,
): RecordedReplies {
  const taken = replies.map(() => false);
  const given = replies.map(() => false);
  const unmatched: UnmatchedCall[] = [];
  const denied: string[] = [];
  /** Replies that were asked for and not given yet. */
  const waiting = new Set<number>();
  let changes = 0;

  async function giveInTurn(at: number): Promise<InnerReply> {
    waiting.add(at);
    changes += 1;
    let seen = changes;
    for (let turns = 0; given.indexOf(false) !== at; turns += 1) {
      if (turns >= patienceTurns && Math.min(...waiting) === at) break;
      await nextTurn();
      if (seen !== changes) turns = 0;
      seen = changes;
    }
    waiting.delete(at);
    given[at] = true;
    changes += 1;
    return toInnerReply(replies[at] as RecordedReply);
  }

  return {
    unmatched,
    denied,
    unused: () => replies.filter((_, index) => !taken[index]),
    source(tool, params) {
      const at = replies.findIndex((reply, index) => !taken[index] && answers(reply, tool, params));
      if (!mayCall(tool) && !isDenial(replies[at])) {
        denied.push(displayName(tool));
        return { kind: "denied", message: `${displayName(tool)} may not be called by this caller` };
      }
      if (at === -1) {
        const reason = explainUnmatched(tool, params, replies, taken);
        unmatched.push({ tool: displayName(tool), params, reason });
        return noReply(tool, reason);
      }
      taken[at] = true;
      return giveInTurn(at);
    },
  };
}

function isDenial(reply: RecordedReply | undefined): boolean {
  return reply !== undefined && "error" in reply && reply.error.kind === "denied";
}

/** Whether `reply` is one for a call of `tool` with `params`. */
export function answers(reply: RecordedReply, tool: CatalogTool, params: JsonObject): boolean {
  return isNamed(reply.tool, tool) && (reply.params === undefined || isSameJson(reply.params, params));
}

function isNamed(name: string, tool: CatalogTool): boolean {
  return name === displayName(tool) || name === tool.id || name === tool.wireName;
}

/** A reply as the program gets it. */
export function toInnerReply(reply: RecordedReply): InnerReply {
  if ("result" in reply) return { kind: "value", value: reply.result };
  const { message, details, kind } = reply.error;
  if (kind === "limit") return { kind: "limit", message };
  return { kind: kind ?? "error", message, ...(details === undefined ? undefined : { details }) };
}

/** What ends a program whose call nothing answers: no program catches it. */
export function noReply(tool: CatalogTool, reason: string): InnerReply {
  return { kind: "limit", message: `No reply is on record for this call of ${displayName(tool)}: ${reason}` };
}

/** What there is on record in place of a reply to this call. */
export function explainUnmatched(
  tool: CatalogTool,
  params: JsonObject,
  replies: readonly RecordedReply[],
  taken: readonly boolean[],
): string {
  const ofTool = replies.map((reply, index) => ({ reply, isTaken: taken[index] === true }));
  const named = ofTool.filter(({ reply }) => isNamed(reply.tool, tool));
  if (named.length === 0) {
    const tools = [...new Set(replies.map((reply) => reply.tool))];
    if (tools.length === 0) return "there are no replies";
    return `there are replies of ${tools.slice(0, 10).join(", ")}${tools.length > 10 ? " and others" : ""} only`;
  }
  const left = named.find(({ reply, isTaken }) => !isTaken && reply.params !== undefined);
  if (left === undefined) {
    return named.length === 1 ? "its one reply is used" : `its ${named.length} replies are used`;
  }
  const [first] = findDifferences(left.reply.params, params, 1);
  return `the next reply is for other arguments (${first?.path}: ${first?.expected}, and not ${first?.actual})`;
}
