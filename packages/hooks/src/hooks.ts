/**
 * The hooks of a gateway: which of them a call passes, and their answers. Every hook that does not
 * answer in time, answers anything else than an answer, or cannot be asked, has failed; the caller
 * denies then.
 *
 * Invariants: at most `maxRunning` hooks run and `maxWaiting` wait, and one client has at most half
 * of each. A hook holds its place until it has ended, also when nobody waits for its answer any
 * more, so that hooks that hang never add up.
 */

import { messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import { abortable, FairQueue } from "@toolcrib/lifecycle";
import { ToolPatterns } from "@toolcrib/policy";
import { type Identity, identityKey, type ToolId } from "@toolcrib/tool";
import { type HookAnswer, type HookPhase, type HookSubject, parseAnswer } from "./hook-answer.ts";
import { HookFailure } from "./hook-failure.ts";
import { HiddenValues } from "./restore-hidden.ts";

/**
 * Sends a question to a hook and returns its answer, as JSON. It settles when the hook has ended,
 * soon after `signal` aborts, and reads at most `answerMaxBytes`.
 *
 * @throws {HookFailure} and any other error, which are failures of the hook.
 */
export type SendToHook = (
  question: string,
  options: { readonly signal: AbortSignal; readonly answerMaxBytes: number; readonly callId: string },
) => Promise<string>;

/** One hook. */
export interface HookRule {
  /** Unique in its phase. */
  readonly name: string;
  /** Patterns. @default all tools except for Toolcrib's own, resources and prompts */
  readonly tools: readonly string[] | undefined;
  /** Names of clients. @default all */
  readonly clients: readonly string[] | undefined;
  /** The file with what it writes to its standard error, for hints. @default it writes none */
  readonly logFile?: string | undefined;
  /** Milliseconds in which it must answer. */
  readonly timeoutMs: number;
  readonly send: SendToHook;
}

/** Settings of the hooks of a gateway. */
export interface HooksSettings {
  /** In the order in which they are asked. */
  readonly before: readonly HookRule[];
  readonly after: readonly HookRule[];
  readonly limits: {
    readonly maxRunning: number;
    readonly maxWaiting: number;
    readonly inputMaxBytes: number;
    readonly answerMaxBytes: number;
  };
}

/** A call as hooks are chosen by. */
export interface HookedSubject {
  readonly id: ToolId;
  readonly wireName: string;
  /** Whether it is a tool of Toolcrib itself. */
  readonly isOwn: boolean;
  readonly identity: Identity;
}

/** Dependencies of the hooks. */
export interface HooksDeps {
  /** Returns the `identityKey`s that the configuration gives the name of a client. */
  readonly clientKeys: (name: string) => readonly string[];
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
  /** Returns `count` unpredictable bytes. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** A question to a hook. */
export interface HookQuestion {
  readonly callId: string;
  readonly identity: Identity;
  /** Facts about the call. */
  readonly facts: JsonObject;
  /** The subject of the decision of the hook. */
  readonly subject: HookSubject;
  /** The part of it that the hook is shown. */
  readonly value: JsonObject;
  /** The same with the values that are hidden from the hook, which come back where it leaves their marks. @default nothing is hidden */
  readonly original?: JsonObject;
  /** Further members. @default none */
  readonly more?: JsonObject;
  /** Milliseconds that are left of the call. */
  readonly leftMs: number;
  /** Ends the question, and the hook with it. */
  readonly signal: AbortSignal;
}

/** The outcome of a question. */
export interface HookOutcome {
  readonly hook: string;
  readonly durationMs: number;
  /** A failure, as the end of a sentence for the client, and what only the operator sees. */
  readonly answer:
    | HookAnswer
    | { readonly decision: "failed"; readonly reason: string; readonly detail?: string };
}

interface CompiledHook {
  readonly rule: HookRule;
  readonly phase: HookPhase;
  readonly matches: (subject: HookedSubject) => boolean;
}

/** One hook, and what became of the questions to it. */
export interface HookUsage {
  readonly name: string;
  readonly phase: HookPhase;
  /** Patterns. @default all tools except for Toolcrib's own, resources and prompts */
  readonly tools?: readonly string[];
  /** Names of clients. @default all */
  readonly clients?: readonly string[];
  /** Questions, also those that wait for their answer and those whose call was cancelled. */
  readonly asked: number;
  readonly denied: number;
  readonly replaced: number;
  readonly failed: number;
  /** The failure of the last question; absent when it was answered. */
  readonly reason?: string;
}

/** Counts of one hook. */
interface HookCounts {
  asked: number;
  deny: number;
  replace: number;
  failed: number;
  reason: string | undefined;
}

/** The hooks of one gateway. */
export class Hooks {
  readonly #hooks: readonly CompiledHook[];
  readonly #limits: HooksSettings["limits"];
  readonly #monotonicMs: () => number;
  readonly #randomBytes: HooksDeps["randomBytes"];
  readonly #queue: FairQueue;
  readonly #counts = new Map<HookRule, HookCounts>();

  constructor({ before, after, limits }: HooksSettings, { clientKeys, monotonicMs, randomBytes }: HooksDeps) {
    this.#hooks = [
      ...before.map((rule) => compile(rule, "before_call", clientKeys)),
      ...after.map((rule) => compile(rule, "after_call", clientKeys)),
    ];
    this.#limits = limits;
    this.#monotonicMs = monotonicMs;
    this.#randomBytes = randomBytes;
    this.#queue = new FairQueue(limits);
    for (const { rule } of this.#hooks) {
      this.#counts.set(rule, { asked: 0, deny: 0, replace: 0, failed: 0, reason: undefined });
    }
  }

  /** Every hook with its counts since the start, in the order in which they are asked. */
  usage(): readonly HookUsage[] {
    return this.#hooks.map(({ rule, phase }) => {
      const { name, tools, clients } = rule;
      const { asked = 0, deny = 0, replace = 0, failed = 0, reason } = this.#counts.get(rule) ?? {};
      return {
        name,
        phase,
        ...(tools === undefined ? {} : { tools }),
        ...(clients === undefined ? {} : { clients }),
        asked,
        denied: deny,
        replaced: replace,
        failed,
        ...(reason === undefined ? {} : { reason }),
      };
    });
  }

  /** Whether there is no hook. */
  get isEmpty(): boolean {
    return this.#hooks.length === 0;
  }

  /** Returns the hooks that a call passes; undefined if it passes none. */
  matching(
    subject: HookedSubject,
  ): { readonly before: readonly HookRule[]; readonly after: readonly HookRule[] } | undefined {
    const found = this.#hooks.filter(({ matches }) => matches(subject));
    if (found.length === 0) return undefined;
    const of = (wanted: HookPhase) => found.filter(({ phase }) => phase === wanted).map(({ rule }) => rule);
    return { before: of("before_call"), after: of("after_call") };
  }

  /** Asks a hook. @throws the reason of `question.signal` */
  async ask(hook: HookRule, phase: HookPhase, question: HookQuestion): Promise<HookOutcome> {
    const counts = this.#counts.get(hook);
    if (counts !== undefined) counts.asked += 1;
    const outcome = await this.#ask(hook, phase, question);
    const { answer } = outcome;
    if (counts !== undefined) {
      if (answer.decision !== "allow") counts[answer.decision] += 1;
      counts.reason = answer.decision === "failed" ? answer.reason : undefined;
    }
    return outcome;
  }

  /** Counts the last replacement of a hook as a failure: what it answered cannot be used. */
  countUnusable(hook: HookRule, reason: string): void {
    const counts = this.#counts.get(hook);
    if (counts === undefined) return;
    counts.replace -= 1;
    counts.failed += 1;
    counts.reason = reason;
  }

  async #ask(hook: HookRule, phase: HookPhase, question: HookQuestion): Promise<HookOutcome> {
    const startedAt = this.#monotonicMs();
    const ended = (answer: HookOutcome["answer"]): HookOutcome => ({
      hook: hook.name,
      durationMs: Math.round(this.#monotonicMs() - startedAt),
      answer,
    });
    const failed = (reason: string, detail?: string) =>
      ended({ decision: "failed", reason, ...(detail === undefined ? {} : { detail }) });
    const { signal, leftMs, subject } = question;
    signal.throwIfAborted();
    const limitMs = Math.min(hook.timeoutMs, leftMs);
    if (limitMs <= 0) return failed("no time was left of the call to ask it");
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limitMs);
    const either = AbortSignal.any([signal, late.signal]);
    try {
      const hidden = this.#hiddenValues(question);
      const shown = hidden === undefined ? question : { ...question, value: hidden.shown };
      const text = await this.#askWithin(hook, phase, shown, either);
      const answer = restored(parseAnswer(text, subject), hidden);
      return typeof answer === "string" ? failed(answer) : ended(answer);
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      if (late.signal.aborted) {
        const seconds = Math.round(limitMs) / 1000;
        const limit = limitMs < hook.timeoutMs ? ", which is what was left of the call" : "";
        return failed(`it did not answer within ${seconds} s${limit}`);
      }
      if (error instanceof HookFailure) return failed(error.message, error.detail);
      // What went wrong around a hook is for the operator.
      return failed("it could not be asked", messageOf(error));
    } finally {
      clearTimeout(timer);
    }
  }

  #hiddenValues({ value, original }: HookQuestion): HiddenValues | undefined {
    if (original === undefined) return undefined;
    return new HiddenValues(value, original, Buffer.from(this.#randomBytes(8)).toString("hex"));
  }

  async #askWithin(
    hook: HookRule,
    phase: HookPhase,
    question: HookQuestion,
    signal: AbortSignal,
  ): Promise<string> {
    const holder = identityKey(question.identity);
    const place = this.#queue.enter(holder, signal);
    if (place === "full") throw new HookFailure("too many hooks run and wait at the moment");
    if (place === "share") throw new HookFailure("too many hooks run and wait for this client at the moment");
    if (place !== "entered") await place;
    const leave = () => this.#queue.leave(holder);
    let sending: Promise<string>;
    try {
      const { callId, facts, subject, value, more } = question;
      const text = JSON.stringify({ phase, hook: hook.name, ...facts, ...more, [subject]: value });
      const { inputMaxBytes, answerMaxBytes } = this.#limits;
      if (Buffer.byteLength(text) > inputMaxBytes) {
        throw new HookFailure(`the question to it is larger than ${inputMaxBytes} bytes`);
      }
      sending = hook.send(text, { signal, answerMaxBytes, callId });
    } catch (error) {
      leave();
      throw error;
    }
    sending.then(leave, leave);
    return await abortable(sending, signal);
  }
}

/** Returns an answer with the values that the hook was not shown. */
function restored(answer: HookAnswer | string, hidden: HiddenValues | undefined): HookAnswer | string {
  if (typeof answer === "string" || answer.decision !== "replace" || hidden === undefined) return answer;
  const whole = hidden.restore(answer.value);
  return typeof whole === "string" ? whole : { ...answer, ...whole };
}

function compile(rule: HookRule, phase: HookPhase, clientKeys: HooksDeps["clientKeys"]): CompiledHook {
  const tools = rule.tools === undefined ? undefined : new ToolPatterns(rule.tools);
  const keys = rule.clients === undefined ? undefined : new Set(rule.clients.flatMap(clientKeys));
  return {
    rule,
    phase,
    matches({ id, wireName, isOwn, identity }) {
      if (keys !== undefined && !keys.has(identityKey(identity))) return false;
      // Like a pause, a hook is about everything that its patterns could mean: a resource in any spelling of its URI.
      return tools === undefined ? !isOwn : tools.findInAny(id, wireName) !== undefined;
    },
  };
}
