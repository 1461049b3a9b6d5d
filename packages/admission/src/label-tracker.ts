/**
 * The labels of data on its way: each call tree (a run) has a watermark of the labels of
 * all results that it received, and each client one of everything that reached it. A
 * result counts when it arrives, and so do an error and a message of a server, whatever
 * the program or the model does with it.
 *
 * Nothing reaches a client before its labels are stored, in the order in which it arrived.
 * What brings no label that the client has not seen does not wait.
 *
 * There is no tracker where no source has data labels.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { Watermark } from "@toolcrib/policy";
import type { SeenLabels } from "@toolcrib/store";
import type { CallContext, ToolId } from "@toolcrib/tool";

/** The watermark of a run. */
type Run = NonNullable<CallContext["run"]>;

/** A call whose data is labelled. */
export interface LabelledCall {
  readonly callId: string;
  readonly tool: ToolId;
  /** The requester of the call, and the run of its outer call. */
  readonly origin: Pick<CallContext, "identity" | "run">;
  /** The operation, by the facts about its source. */
  readonly target: { readonly subject: { readonly facts: { readonly dataLabels: readonly string[] } } };
  /** The watermark of its run. */
  readonly run: Run;
}

/** Tracks labels. */
export class LabelTracker {
  readonly #seen: Pick<SeenLabels, "seen" | "add">;
  readonly #logger: Logger;
  /** Settles after the last message of a call that waits for its labels. Never rejects. */
  readonly #waiting = new WeakMap<LabelledCall, Promise<void>>();

  constructor(seen: Pick<SeenLabels, "seen" | "add">, logger: Logger) {
    this.#seen = seen;
    this.#logger = logger;
  }

  /** A call begins: in the run of its outer call, or in a new one. */
  begin(
    target: LabelledCall["target"],
    origin: LabelledCall["origin"],
    { callId, tool }: Pick<LabelledCall, "callId" | "tool">,
  ): LabelledCall {
    return { callId, tool, origin, target, run: origin.run ?? new Watermark() };
  }

  /** The labels at the time of a decision, for the record. */
  factsOf(call: LabelledCall | undefined): {
    readonly labels?: readonly string[];
    readonly seenLabels?: readonly string[];
  } {
    return call === undefined ? {} : { labels: call.run.labels, seenLabels: this.seenBy(call.origin) };
  }

  /** The labels that the client has seen. */
  seenBy({ identity }: Pick<CallContext, "identity">): readonly string[] {
    return this.#seen.seen(identity);
  }

  /**
   * Data of a call arrived: a result, an error, a message. The run and the client have its labels from now on.
   *
   * @returns resolves when they are stored and the messages before it are passed on; undefined where it waits for nothing. @throws {StoreError} when they cannot be stored
   */
  arrived(call: LabelledCall): Promise<void> | undefined {
    const { callId, tool, origin, target, run } = call;
    run.add(target.subject.facts.dataLabels);
    const stored =
      run.labels.length === 0 ? undefined : this.#seen.add(origin.identity, run.labels, { callId, tool });
    const before = this.#waiting.get(call);
    if (before === undefined) return stored;
    return Promise.allSettled([before, stored]).then(() => stored);
  }

  /**
   * Passes on a message of a call: at once where it waits for nothing.
   *
   * @param failed called instead of `send` when its labels cannot be stored. @default the message is dropped, and the log says so
   */
  pass(call: LabelledCall, send: () => void, failed?: (error: unknown) => void): void {
    const ready = this.arrived(call);
    if (ready === undefined) {
      send();
      return;
    }
    // What `send` starts is not waited for.
    const sent = ready.then(() => void send());
    const turn = sent.catch((error: unknown) => {
      if (failed !== undefined) failed(error);
      else
        this.#logger.error({ callId: call.callId, reason: messageOf(error) }, "a message was not passed on");
    });
    this.#waiting.set(call, turn);
    void turn.then(() => {
      if (this.#waiting.get(call) === turn) this.#waiting.delete(call);
    });
  }
}

/** Adds the labels of its run to a result. */
export function dataLabelled(result: JsonObject, call: LabelledCall | undefined): JsonObject {
  const labels = call?.run.labels ?? [];
  if (labels.length === 0) return result;
  const meta = isJsonObject(result["_meta"]) ? result["_meta"] : undefined;
  return { ...result, _meta: { ...meta, "toolcrib/labels": labels } };
}
