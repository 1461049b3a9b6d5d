/**
 * Replies to inner calls from a recording only; no inner call reaches a tool.
 *
 * A reply is used once, for the first matching inner call of its tool. Replies are
 * delivered in the recorded order, also to concurrent calls, so that a replayed
 * program makes its calls in the same order. A program that makes its calls in
 * another order does not wait for calls that it does not make. Calls that the caller
 * may not make are denied.
 */

import { isSameJson, type JsonObject } from "@toolcrib/json";
import type { CatalogTool } from "../run/catalog.ts";
import type { ReplySource } from "../run/inner-calls.ts";
import type { InnerReply } from "../run/inner-reply.ts";
import { displayName } from "../run/tool-directory.ts";
import { findDifferences } from "./differences.ts";
import type { RecordedReply } from "./test-case.ts";

/** An inner call without a recorded reply. */
export interface UnmatchedCall {
  /** `namespace.name` */
  readonly tool: string;
  readonly params: JsonObject;
  /** The available replies, for people. */
  readonly reason: string;
}

/** Turns of the event loop without a call or reply, after which an earlier reply is no longer waited for. */
const patienceTurns = 1000;

/** Dependencies of the replies. */
export interface RepliesDeps {
  /** Returns whether the caller may call a tool. */
  readonly mayCall: (tool: CatalogTool) => boolean;
  /** Resolves after a turn of the event loop. */
  readonly nextTurn: () => Promise<void>;
}

/** The replies of one recording during a run. */
export class RecordedReplies {
  readonly #replies: readonly RecordedReply[];
  readonly #deps: RepliesDeps;
  readonly #taken: boolean[];
  readonly #given: boolean[];
  readonly #unmatched: UnmatchedCall[] = [];
  readonly #denied: string[] = [];
  /** Assigned replies that are not delivered yet. */
  readonly #waiting = new Set<number>();
  /** Grows with each assignment and each delivery. */
  #changes = 0;

  constructor(replies: readonly RecordedReply[], deps: RepliesDeps) {
    this.#replies = replies;
    this.#deps = deps;
    this.#taken = replies.map(() => false);
    this.#given = replies.map(() => false);
  }

  /** Inner calls without a reply, in order. */
  get unmatched(): readonly UnmatchedCall[] {
    return this.#unmatched;
  }

  /** Names of the denied tools that were called, in order. */
  get denied(): readonly string[] {
    return this.#denied;
  }

  /** Unused replies. */
  unused(): readonly RecordedReply[] {
    return this.#replies.filter((_, index) => !this.#taken[index]);
  }

  /** Returns the reply to an inner call. */
  readonly source: ReplySource = (tool, params) => {
    const replies = this.#replies;
    const at = replies.findIndex((reply, index) => !this.#taken[index] && answers(reply, tool, params));
    if (!this.#deps.mayCall(tool) && !isDenial(replies[at])) {
      this.#denied.push(displayName(tool));
      return { kind: "denied", message: `${displayName(tool)} may not be called by this caller` };
    }
    if (at === -1) {
      const reason = explainUnmatched(tool, params, replies, this.#taken);
      this.#unmatched.push({ tool: displayName(tool), params, reason });
      return noReply(tool, reason);
    }
    this.#taken[at] = true;
    return this.#giveInTurn(at);
  };

  async #giveInTurn(at: number): Promise<InnerReply> {
    this.#waiting.add(at);
    this.#changes += 1;
    let seen = this.#changes;
    for (let turns = 0; this.#given.indexOf(false) !== at; turns += 1) {
      if (turns >= patienceTurns && Math.min(...this.#waiting) === at) break;
      await this.#deps.nextTurn();
      if (seen !== this.#changes) turns = 0;
      seen = this.#changes;
    }
    this.#waiting.delete(at);
    this.#given[at] = true;
    this.#changes += 1;
    return toInnerReply(this.#replies[at] as RecordedReply);
  }
}

function isDenial(reply: RecordedReply | undefined): boolean {
  return reply !== undefined && "error" in reply && reply.error.kind === "denied";
}

/** Returns whether `reply` matches a call of `tool` with `params`. */
export function answers(reply: RecordedReply, tool: CatalogTool, params: JsonObject): boolean {
  return isNamed(reply.tool, tool) && (reply.params === undefined || isSameJson(reply.params, params));
}

function isNamed(name: string, tool: CatalogTool): boolean {
  return name === displayName(tool) || name === tool.id || name === tool.wireName;
}

/** Converts a recorded reply. */
export function toInnerReply(reply: RecordedReply): InnerReply {
  if ("result" in reply) return { kind: "value", value: reply.result };
  const { message, details, kind } = reply.error;
  if (kind === "limit") return { kind: "limit", message };
  return { kind: kind ?? "error", message, ...(details === undefined ? undefined : { details }) };
}

/** Returns the reply that ends a program whose call has no recorded reply. It cannot be caught. */
export function noReply(tool: CatalogTool, reason: string): InnerReply {
  return {
    kind: "limit",
    message: `The recording has no reply for this call of ${displayName(tool)}: ${reason}`,
  };
}

/** Describes the recorded replies of this tool. */
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
