/**
 * The execution of a governed call: the target runs until it answers, its deadline
 * passes, its caller cancels, or the operator pauses it. It passes messages of the
 * target on to the client of the call, without secrets, and to no one after its end.
 *
 * It decides nothing and records nothing: `governedCall` does.
 */

import type { LabelledCall, LabelTracker, Pauses, RelayLimit } from "@toolcrib/admission";
import { type CodedError, isCodedError, messageOf } from "@toolcrib/diagnostics";
import type { JsonObject } from "@toolcrib/json";
import type { TextScrubber } from "@toolcrib/redaction";
import { type CallContext, identityKey } from "@toolcrib/tool";
import type { ParkedCalls } from "@toolcrib/upstream";
import { GatewayError } from "../gateway-error.ts";
import { CallDeadline } from "./call-deadline.ts";
import type { BegunCall } from "./call-log.ts";
import type { CallOrigin, CallTarget } from "./call-target.ts";

/** The scrubbers of a gateway. */
export interface ScrubberDeps {
  readonly scrubber: TextScrubber;
  /** The scrubber of what unverified servers send, which also removes hidden characters. */
  readonly unverifiedScrubber: TextScrubber;
}

/** Dependencies of executions. */
export interface ExecutionDeps extends ScrubberDeps {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Limits the messages that calls relay to their clients. */
  readonly relays: RelayLimit;
  /** Labels of the data of calls; undefined where no source has labels. */
  readonly labels: LabelTracker | undefined;
  /** Pauses of the operator. */
  readonly pauses: Pick<Pauses, "refusal" | "enter">;
  /** Calls of composites that wait for answers of their clients. */
  readonly parked: Pick<ParkedCalls, "send">;
}

/**
 * Runs the target until it answers, its deadline passes or its caller cancels.
 * A target that ignores both keeps running, but its caller is answered and its
 * later messages are dropped.
 */
export function execute(
  deps: ExecutionDeps,
  target: CallTarget,
  args: JsonObject,
  call: BegunCall,
  requester: Requester,
): Promise<JsonObject> {
  const { signal } = requester.origin;
  if (signal?.aborted) throw cancelledError(signal.reason);
  const controller = new AbortController();
  const channel = { isOpen: true };
  return new Promise((resolve, reject) => {
    const settle = () => {
      channel.isOpen = false;
      leave();
      deadline.end();
      signal?.removeEventListener("abort", cancel);
    };
    const end = (reason: CodedError) => {
      controller.abort(reason);
      settle();
      reject(reason);
    };
    const cancel = () => end(cancelledError(signal?.reason));
    // The operator may have paused the call while it waited for its approval or its record.
    const leave = deps.pauses.enter(target, requester.origin, end);
    signal?.addEventListener("abort", cancel);
    const limitMs = target.deadlineMs - call.usedMs;
    const deadline = new CallDeadline(limitMs, deps.now, () => end(timeoutError(target)));
    requester.origin.onDeadline?.((ms) => deadline.extend(ms));
    const context = toContext(deps, target, call, requester, controller.signal, { channel, deadline });
    const run = (one: CallContext) => target.execute(args, one);
    // Questions of inner calls become the result of the call of a client that takes them so.
    const isParkable = context.rounds !== undefined && target.asksForInnerCalls;
    (isParkable ? deps.parked.send(context, run) : run(context)).then(
      (result) => {
        settle();
        resolve(result);
      },
      (thrown: unknown) => {
        settle();
        reject(thrown);
      },
    );
  });
}

/** The origin of a call, and the labels of its data. */
interface Requester {
  readonly origin: CallOrigin;
  readonly labelled: LabelledCall | undefined;
  /** As in `CallContext`. */
  readonly recheck: () => void;
}

/**
 * The context of one execution.
 *
 * @param run whether messages to the client still belong to the call, and its deadline.
 */
function toContext(
  deps: ExecutionDeps,
  target: CallTarget,
  call: BegunCall,
  { origin, labelled, recheck }: Requester,
  signal: AbortSignal,
  { channel, deadline }: { readonly channel: { readonly isOpen: boolean }; readonly deadline: CallDeadline },
): CallContext {
  const { relays } = deps;
  const pass: Pass = (send, failed) => {
    if (labelled === undefined || deps.labels === undefined) send();
    else deps.labels.pass(labelled, send, failed);
  };
  const scrubber = scrubberFor(deps, target);
  const { callId, parentId, depth } = call.subject;
  const { id: tool } = target;
  const { identity, owners, era, meta, session, wantsProgress, clientChannel } = origin;
  const { clientInfo, clientCapabilities, logLevel, rounds, task } = origin;
  return {
    callId,
    tool,
    parentId,
    depth,
    identity,
    owners,
    ...(labelled === undefined ? undefined : { run: labelled.run }),
    era,
    signal,
    deadline: call.startedAt + target.deadlineMs,
    recheck,
    meta: call.trace === undefined ? meta : call.trace.metaOf(meta),
    session,
    clientInfo,
    clientCapabilities,
    logLevel,
    rounds,
    task: task && scrubbedTask(task, scrubber, pass),
    whileParked: rounds && ((endCall) => deps.pauses.enter(target, origin, endCall)),
    wantsProgress,
    progress(params) {
      if (!channel.isOpen || !relays.allows(identityKey(identity))) return;
      pass(() => clientChannel.progress(scrubber.value(params)));
    },
    notify(method, params) {
      const isDropped = method === "notifications/message" && !relays.allows(identityKey(identity));
      if (!channel.isOpen || isDropped) return;
      pass(() => clientChannel.notify(method, scrubber.value(params)));
    },
    ask(method, params, askSignal) {
      const answer = new Promise<JsonObject>((resolve, reject) => {
        const unsent = `"${method}" was not sent: the labels of its data could not be stored`;
        const failed = (cause: unknown) => reject(new GatewayError("CALL_FAILED", unsent, { cause }));
        const late = `"${method}" was requested after the end of its call`;
        const send = () =>
          channel.isOpen
            ? clientChannel.ask(method, scrubber.value(params), askSignal).then(resolve, reject)
            : reject(new GatewayError("CALL_CANCELLED", late));
        if (channel.isOpen) pass(send, failed);
        else send();
      });
      return deadline.paused(answer);
    },
  };
}

/** The texts of a server about the state of a task are messages to its client, too. */
function scrubbedTask(task: CallTask, scrubber: TextScrubber, pass: Pass): CallTask {
  return {
    ...task,
    get isLeft() {
      return task.isLeft;
    },
    changed({ statusMessage, ...state }) {
      if (statusMessage === undefined) task.changed(state);
      else pass(() => task.changed({ ...state, statusMessage: scrubber.text(statusMessage) }));
    },
  };
}

/** Passes on data of a call once its labels are stored. @param failed called instead when they cannot be */
type Pass = (send: () => void, failed?: (error: unknown) => void) => void;

type CallTask = NonNullable<CallContext["task"]>;

/** The reason for a cancellation. Inner calls end for the same reason as their outer call. */
export function cancelledError(reason: unknown): CodedError {
  if (isCodedError(reason) && endCodes.has(reason.code)) return reason;
  return new GatewayError("CALL_CANCELLED", `The call was cancelled: ${messageOf(reason)}`, {
    cause: reason,
  });
}

/** Codes of calls that ended before their answer. */
export const endCodes: ReadonlySet<string> = new Set(["CALL_TIMEOUT", "CALL_CANCELLED", "CALL_PAUSED"]);

function timeoutError(target: CallTarget): GatewayError {
  const seconds = target.deadlineMs / 1000;
  return new GatewayError("CALL_TIMEOUT", `"${target.shownName}" did not answer within ${seconds} s`, {
    hint: target.deadlineSetting === undefined ? undefined : `${target.deadlineSetting} sets this limit`,
    data: { timeoutSeconds: seconds },
  });
}

/** The scrubber of what a target answers. */
export function scrubberFor(deps: ScrubberDeps, { isUnverified }: CallTarget): TextScrubber {
  return isUnverified ? deps.unverifiedScrubber : deps.scrubber;
}
