/**
 * Hooks in the governed call: what they are shown of a call, and what their answers do to it.
 *
 * Invariants: a hook is asked about a call that is allowed without it, and what it puts in place of the
 * arguments is authorized again, so that it never widens what a caller may do; a resource or prompt stays the one
 * that was asked for. A hook is shown no known secret and no argument that `audit.redact` hides. The
 * time of hooks counts to the deadline of the call, and a cancellation or a pause ends the hook.
 */

import { CodedError, isCodedError, type Logger, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, isSameJson, type JsonObject } from "@toolcrib/json";
import { stripHidden, type TextScrubber, wholeArguments } from "@toolcrib/redaction";
import { type HookRecord, jsonDigest } from "@toolcrib/store";
import { type HookPhase, type HookSubject, messageMaxLength } from "./hook-answer.ts";
import { HookError } from "./hook-error.ts";
import type {
  ExecutionRules,
  HiddenPlaces,
  HookableCall,
  HookableOrigin,
  HookableTarget,
  PausableCalls,
} from "./hookable-call.ts";
import type { HookOutcome, HookRule, Hooks } from "./hooks.ts";

/** Dependencies of hooked calls. */
export interface CallHooksDeps {
  readonly hooks: Hooks;
  readonly scrubber: TextScrubber;
  readonly hiddenArguments: HiddenPlaces;
  readonly pauses: PausableCalls;
  readonly rules: ExecutionRules;
  readonly logger: Logger;
  /** Milliseconds of a clock that never goes back. */
  readonly monotonicMs: () => number;
}

/** The outcome of the hooks before a call. */
export type HookedArguments =
  | { readonly kind: "passed"; readonly args: JsonObject }
  | { readonly kind: "refused"; readonly error: CodedError; readonly rule: string | undefined };

/** Longest reason in a record. */
const reasonMaxLength = 300;

/** Returns the hooks of one call; undefined if it passes none. */
export function hookedCall(
  deps: CallHooksDeps,
  target: HookableTarget,
  origin: HookableOrigin,
  call: HookableCall,
): HookedCall | undefined {
  const { id, wireName, isOwn } = target;
  const matching = deps.hooks.matching({ id, wireName, isOwn, identity: origin.identity });
  return matching === undefined ? undefined : new HookedCall(deps, { target, origin, call, matching });
}

interface HookedParts {
  readonly target: HookableTarget;
  readonly origin: HookableOrigin;
  readonly call: HookableCall;
  readonly matching: NonNullable<ReturnType<Hooks["matching"]>>;
}

/** The hooks of one call. */
export class HookedCall {
  readonly #deps: CallHooksDeps;
  readonly #parts: HookedParts;
  /** Answers since the last record. */
  #records: HookRecord[] = [];
  #usedMs = 0;
  /** The arguments that are sent. */
  #args: JsonObject = {};

  constructor(deps: CallHooksDeps, parts: HookedParts) {
    this.#deps = deps;
    this.#parts = parts;
  }

  /** Whether hooks are asked before the call. */
  get checksArguments(): boolean {
    return this.#parts.matching.before.length > 0;
  }

  /** Milliseconds of the deadline that are used up. */
  get usedMs(): number {
    return this.#usedMs;
  }

  /** Returns the answers since the last time, for a record. */
  takeRecords(): readonly HookRecord[] | undefined {
    const records = this.#records;
    this.#records = [];
    return records.length === 0 ? undefined : records;
  }

  /** The arguments as hooks see them. */
  get shownArguments(): JsonObject {
    const { scrubber, hiddenArguments } = this.#deps;
    return wholeArguments(this.#args, scrubber, hiddenArguments.of(this.#parts.target, this.#args));
  }

  /** Continues a call that an earlier run began: hooks before it were asked then. @param args as hooks see them */
  resume(args: JsonObject): void {
    this.#args = args;
  }

  /** Asks the hooks before the call. Never rejects. */
  async before(args: JsonObject): Promise<HookedArguments> {
    this.#args = args;
    try {
      await this.#counted((signal) => this.#askBefore(signal));
      return { kind: "passed", args: this.#args };
    } catch (error) {
      const refusal = error instanceof HookRefusal ? error : undefined;
      const coded = refusal?.error ?? (isCodedError(error) ? error : unexpected(this.#parts.target, error));
      return { kind: "refused", error: coded, rule: refusal && `hook.${refusal.hook}` };
    }
  }

  /** Runs the call, whose time counts, and asks the hooks about an error of it. @param toError converts what it throws */
  async execute(
    run: () => Promise<JsonObject>,
    toError: (thrown: unknown) => CodedError,
  ): Promise<JsonObject> {
    const startedAt = this.#deps.monotonicMs();
    const count = () => {
      this.#usedMs += this.#deps.monotonicMs() - startedAt;
    };
    try {
      const result = await run();
      count();
      return result;
    } catch (thrown) {
      count();
      throw await this.#afterError(toError(thrown));
    }
  }

  /**
   * Asks the hooks about the result.
   *
   * @param check checks a result that is put in its place, and returns it without secrets.
   * @throws {CodedError} `RESULT_WITHHELD`, `CALL_CANCELLED`, `CALL_PAUSED`
   */
  async after(result: JsonObject, check: (replaced: JsonObject) => JsonObject): Promise<JsonObject> {
    let passed = result;
    await this.#askAfter("result", (hook, answer) => {
      if (answer === undefined) return passed;
      const replaced = this.#checkedResult(hook, answer, passed, check);
      this.#replaced(passed, replaced);
      passed = replaced;
      return passed;
    });
    return passed;
  }

  async #askBefore(signal: AbortSignal): Promise<void> {
    const { target, matching } = this.#parts;
    const { scrubber, hiddenArguments } = this.#deps;
    for (const hook of matching.before) {
      const hidden = hiddenArguments.of(target, this.#args);
      const shown = wholeArguments(this.#args, scrubber, hidden);
      const answer = await this.#ask(hook, "before_call", {
        subject: "arguments",
        value: shown,
        original: this.#args,
        signal,
      });
      if (answer.decision === "failed")
        throw new HookRefusal(hook.name, this.#failedBefore(hook, answer.reason));
      if (answer.decision === "deny") {
        throw new HookRefusal(hook.name, this.#deniedBefore(hook, this.#message(answer.message)));
      }
      if (answer.decision === "allow") continue;
      const problem = problemOfArguments(target, answer.value, this.#args);
      if (problem !== undefined) {
        this.#failLast(hook, "before_call", problem);
        throw new HookRefusal(hook.name, this.#failedBefore(hook, problem));
      }
      this.#replaced(this.#args, answer.value);
      this.#args = answer.value;
    }
  }

  /** @param pass gets what a hook puts in place of the value, or undefined, and returns the value for the next one */
  async #askAfter(
    subject: HookSubject,
    pass: (hook: HookRule, answer: JsonObject | undefined) => JsonObject,
  ): Promise<void> {
    const { target, matching } = this.#parts;
    const [first] = matching.after;
    // What a subscription answers has no data, and it cannot be undone.
    if (first === undefined || target.method === "resources/subscribe") return;
    const { scrubber, hiddenArguments } = this.#deps;
    const hidden = hiddenArguments.of(target, this.#args);
    const more = { arguments: wholeArguments(this.#args, scrubber, hidden) };
    await this.#counted(async (signal) => {
      let value = pass(first, undefined);
      for (const hook of matching.after) {
        const answer = await this.#ask(hook, "after_call", { subject, value, more, signal });
        if (answer.decision === "failed") throw this.#withheld(hook, `did not check it: ${answer.reason}`);
        if (answer.decision === "deny") {
          throw this.#withheld(hook, `refused it${said(this.#message(answer.message))}`);
        }
        if (answer.decision === "replace") value = pass(hook, answer.value);
      }
    });
  }

  /** Asks the hooks about an error of the tool, which can contain its data. Returns the error that is passed on. */
  async #afterError(error: CodedError): Promise<CodedError> {
    // The gateway's own words about the end of a call.
    if (this.#deps.rules.endCodes.has(error.code)) return error;
    let passed = error;
    try {
      await this.#askAfter("error", (hook, answer) => {
        if (answer === undefined) return shownError(passed);
        const { message } = answer;
        if (typeof message !== "string" || Object.keys(answer).length > 1) {
          const problem = 'the error that it answers with is not an object with a "message" alone';
          this.#failLast(hook, "after_call", problem);
          throw this.#withheld(hook, `did not check it: ${problem}`);
        }
        const replaced = replacedError(passed, this.#clean(message) ?? "");
        this.#replaced(shownError(passed), shownError(replaced));
        passed = replaced;
        return shownError(passed);
      });
      return passed;
    } catch (refusal) {
      if (isCodedError(refusal)) return refusal;
      const { shownName } = this.#parts.target;
      const message = `"${shownName}" was called, and its result is withheld: its hooks could not be asked`;
      return new HookError("RESULT_WITHHELD", message, { cause: refusal });
    }
  }

  /** Runs `ask` until it is done, or the call is cancelled or paused; its time counts. */
  async #counted<Value>(ask: (signal: AbortSignal) => Promise<Value>): Promise<Value> {
    const { target, origin } = this.#parts;
    const { pauses, monotonicMs, rules } = this.#deps;
    const { signal } = origin;
    if (signal?.aborted) throw rules.cancelledError(signal.reason);
    const controller = new AbortController();
    const cancel = () => controller.abort(rules.cancelledError(signal?.reason));
    const leave = pauses.enter(target, origin, (reason) => controller.abort(reason));
    signal?.addEventListener("abort", cancel, { once: true });
    const startedAt = monotonicMs();
    try {
      return await ask(controller.signal);
    } finally {
      this.#usedMs += monotonicMs() - startedAt;
      signal?.removeEventListener("abort", cancel);
      leave();
    }
  }

  async #ask(
    hook: HookRule,
    phase: HookPhase,
    about: {
      readonly subject: HookSubject;
      readonly value: JsonObject;
      readonly original?: JsonObject;
      readonly more?: JsonObject;
      readonly signal: AbortSignal;
    },
  ): Promise<HookOutcome["answer"]> {
    const { target, origin, call } = this.#parts;
    const { hooks, logger } = this.#deps;
    const { callId } = call.subject;
    const outcome = await hooks.ask(hook, phase, {
      ...about,
      callId,
      identity: origin.identity,
      facts: this.#facts(),
      leftMs: target.deadlineMs - this.#usedMs,
    });
    const { answer, durationMs } = outcome;
    const { decision } = answer;
    const reason = this.#clean(decision === "failed" ? answer.reason : answer.message)?.slice(
      0,
      reasonMaxLength,
    );
    const shown = reason === undefined || reason === "" ? undefined : { reason };
    this.#records.push({ hook: hook.name, decision, durationMs, ...shown });
    if (decision === "failed") {
      const detail = this.#clean(answer.detail);
      const { name, logFile: log } = hook;
      logger.warn({ callId, hook: name, phase, reason, detail, log }, "hook failed, and denies");
    }
    return answer;
  }

  /** The facts about the call in a question. */
  #facts(): JsonObject {
    const { target, origin, call } = this.#parts;
    const { callId, parentId, depth, tool } = call.subject;
    const { issuer, subject, name } = origin.identity;
    return {
      callId,
      ...(parentId === undefined ? undefined : { parentId }),
      depth,
      method: target.method,
      tool,
      name: this.#deps.scrubber.text(target.wireName),
      origin: target.origin,
      ...(target.server === undefined ? undefined : { server: target.server }),
      client: { issuer, subject, name },
    };
  }

  /** @throws {HookError} `RESULT_WITHHELD` */
  #checkedResult(
    hook: HookRule,
    answer: JsonObject,
    before: JsonObject,
    check: (replaced: JsonObject) => JsonObject,
  ): JsonObject {
    const { target, origin } = this.#parts;
    try {
      const sender = { server: `hook ${hook.name}`, isUntrusted: target.isUnverified };
      const received = this.#deps.rules.receive(answer, sender, { method: target.method, era: origin.era });
      return check(withMarksOf(before, received));
    } catch (error) {
      const problem = `the result that it answers with is refused: ${messageOf(error)}`;
      this.#failLast(hook, "after_call", problem);
      throw this.#withheld(hook, `did not check it: ${problem}`);
    }
  }

  #replaced(before: JsonObject, after: JsonObject): void {
    const last = this.#records.pop();
    if (last === undefined) return;
    this.#records.push({ ...last, replacedDigest: jsonDigest(before), digest: jsonDigest(after) });
  }

  /** Notes that the last answer cannot be used: in the record, the counts and the log. */
  #failLast(hook: HookRule, phase: HookPhase, problem: string): void {
    const reason = (this.#clean(problem) ?? "").slice(0, reasonMaxLength);
    this.#deps.hooks.countUnusable(hook, reason);
    const { callId } = this.#parts.call.subject;
    const { name, logFile: log } = hook;
    this.#deps.logger.warn({ callId, hook: name, phase, reason, log }, "hook failed, and denies");
    const last = this.#records.pop();
    if (last !== undefined) this.#records.push({ ...last, decision: "failed", reason });
  }

  #deniedBefore({ name }: HookRule, message: string | undefined): HookError {
    const { shownName } = this.#parts.target;
    return new HookError(
      "HOOK_DENIED",
      `"${shownName}" was not called: the hook "${name}" refused it${said(message)}`,
      {
        data: { hook: name },
      },
    );
  }

  #failedBefore({ name, logFile }: HookRule, reason: string): HookError {
    const { shownName } = this.#parts.target;
    return new HookError(
      "HOOK_FAILED",
      `"${shownName}" was not called: the hook "${name}" did not check it: ${this.#clean(reason)}`,
      { hint: operatorHint(logFile), data: { hook: name } },
    );
  }

  #withheld({ name }: HookRule, how: string): HookError {
    const { shownName } = this.#parts.target;
    return new HookError(
      "RESULT_WITHHELD",
      `"${shownName}" was called, and its result is withheld: the hook "${name}" ${this.#clean(how)}`,
      {
        hint: "do not repeat the call only for that: it was made, and can have had an effect",
        data: { hook: name },
      },
    );
  }

  /** Returns the message of an answer, cut after secrets were removed: the beginning of one would not be recognized. */
  #message(text: string | undefined): string | undefined {
    return this.#clean(text)?.slice(0, messageMaxLength).toWellFormed();
  }

  /** Returns words of a hook without secrets and hidden characters. */
  #clean(text: string | undefined): string | undefined {
    return text === undefined ? undefined : this.#deps.scrubber.text(stripHidden(text));
  }
}

function operatorHint(logFile: string | undefined): string {
  const file = logFile === undefined ? "" : `, and in ${logFile} of its home`;
  return `the operator can find out more in the log of the gateway${file} (hooks.before_call)`;
}

/** A call that a hook refuses. */
class HookRefusal extends Error {
  readonly hook: string;
  readonly error: CodedError;

  constructor(hook: string, error: CodedError) {
    super(error.message);
    this.hook = hook;
    this.error = error;
  }
}

function said(message: string | undefined): string {
  return message === undefined || message.trim() === "" ? "" : `: ${message}`;
}

/** Parameters that say which resource or prompt is meant. The policy decided about that one. */
const namingParameters = ["uri", "name", "ref"] as const;

function problemOfArguments(
  { method }: HookableTarget,
  args: JsonObject,
  before: JsonObject,
): string | undefined {
  if (method === "tools/call") return undefined;
  const changed = namingParameters.find((name) => !isSameJson(args[name] ?? null, before[name] ?? null));
  return changed === undefined ? undefined : `it replaces "${changed}", which names what is asked for`;
}

/** Returns `result` with the members by which the gateway marked `before`. */
function withMarksOf({ _meta: before }: JsonObject, result: JsonObject): JsonObject {
  const marks = isJsonObject(before)
    ? Object.entries(before).filter(([name]) => name.startsWith("toolcrib/"))
    : [];
  if (marks.length === 0) return result;
  const { _meta: meta } = result;
  return { ...result, _meta: { ...(isJsonObject(meta) ? meta : undefined), ...Object.fromEntries(marks) } };
}

/** An error as hooks see it. */
function shownError({ code, message, data }: CodedError): JsonObject {
  const sent = data?.["rpcData"] as JsonObject[string];
  return { code, message, ...(sent === undefined ? undefined : { data: sent }) };
}

function replacedError({ code, data }: CodedError, message: string): CodedError {
  const rpcCode = data?.["rpcCode"];
  return new CodedError(code, message, { data: rpcCode === undefined ? undefined : { rpcCode } });
}

function unexpected({ shownName }: HookableTarget, cause: unknown): HookError {
  return new HookError("HOOK_FAILED", `"${shownName}" was not called: its hooks could not be asked`, {
    cause,
    hint: operatorHint(undefined),
  });
}
