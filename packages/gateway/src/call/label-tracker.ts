/**
 * The labels of data on its way: each call tree (a run) has a watermark of the labels of
 * all results that it received, and each client one of everything that reached it. A
 * result counts when it arrives, and a message of a server when it is passed on, whatever
 * the program or the model does with it.
 *
 * There is no tracker where no source has data labels.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { Watermark } from "@toolcrib/policy";
import type { SeenLabels } from "@toolcrib/store";
import type { ToolId } from "@toolcrib/tool";
import type { CallOrigin, CallTarget } from "./call-target.ts";

/** The watermark of a run. */
type Run = NonNullable<CallOrigin["run"]>;

/** A call whose data is labelled. */
export interface LabelledCall {
  readonly callId: string;
  readonly tool: ToolId;
  readonly origin: CallOrigin;
  readonly target: Pick<CallTarget, "subject">;
  /** The watermark of its run. */
  readonly run: Run;
}

/** Tracks labels. */
export class LabelTracker {
  readonly #seen: Pick<SeenLabels, "seen" | "add">;
  readonly #logger: Logger;

  constructor(seen: Pick<SeenLabels, "seen" | "add">, logger: Logger) {
    this.#seen = seen;
    this.#logger = logger;
  }

  /** A call begins: in the run of its outer call, or in a new one. */
  begin(
    target: LabelledCall["target"],
    origin: CallOrigin,
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
  seenBy({ identity }: Pick<CallOrigin, "identity">): readonly string[] {
    return this.#seen.seen(identity);
  }

  /**
   * Data of a call arrived: a result, an error, a message. The run and the client have its labels from now on.
   *
   * @returns resolves when they are stored; undefined when there is nothing to store. @throws {StoreError} when they cannot be
   */
  arrived({ callId, tool, origin, target, run }: LabelledCall): Promise<void> | undefined {
    run.add(target.subject.facts.dataLabels);
    return run.labels.length === 0
      ? undefined
      : this.#seen.add(origin.identity, run.labels, { callId, tool });
  }

  /** A message of a call is passed on. Messages do not wait until their labels are stored. */
  passedOn(call: LabelledCall): void {
    this.arrived(call)?.catch((error: unknown) => {
      this.#logger.error({ callId: call.callId, reason: messageOf(error) }, "labels could not be stored");
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
