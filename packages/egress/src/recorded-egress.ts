/** An egress whose events are on the audit trail, and in the log where an operator should see them. */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { disposeOnce, type StartTimer } from "@toolcrib/lifecycle";
import type { SecretScrubber } from "@toolcrib/redaction";
import { createEgress } from "./create-egress.ts";
import type { Egress, EgressEvent, EgressSettings } from "./egress-types.ts";
import { RefusalLimit } from "./refusal-limit.ts";

interface RecordOrigin {
  readonly server: string;
  readonly callId?: string;
  readonly host: string;
}

interface SecretRecord extends RecordOrigin {
  readonly credential: string;
  readonly secret: string;
}

/** Writes a record to the audit trail. */
interface RecordEvent {
  (type: "secret.used", data: SecretRecord): void;
  (type: "secret.echoed", data: SecretRecord & { readonly where: string }): void;
  (
    type: "egress.denied",
    data: RecordOrigin & { readonly code: string; readonly reason: string; readonly count?: number },
  ): void;
  (
    type: "egress.alarm",
    data: RecordOrigin & {
      readonly credential: string | undefined;
      readonly owner: string | undefined;
      readonly where: string;
      readonly count?: number;
    },
  ): void;
}

/** The parts of the gateway that the egress uses. */
export interface RecordedEgressContext {
  readonly config: { readonly egress: EgressSettings };
  /** The home folder. */
  readonly home: string;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (length: number) => Buffer;
  readonly record: RecordEvent;
  readonly scrubber: Pick<SecretScrubber, "text">;
  readonly logger: Logger;
  /** Limits the time until repeated refusals are recorded. @default `setTimeout` */
  readonly startTimer?: StartTimer;
}

const startUnrefTimer: StartTimer = (delayMs, callback) => {
  const timer = setTimeout(callback, delayMs).unref();
  return () => clearTimeout(timer);
};

/**
 * Creates the egress of a gateway.
 *
 * @param ids ids of sources by those that the egress knows them by; others are recorded as they are
 * @param onEvent receives each event before it is recorded
 * @throws {EgressError} `EGRESS_SETTINGS_INVALID`
 */
export function createRecordedEgress(
  {
    config,
    home,
    now,
    randomBytes,
    record,
    scrubber,
    logger,
    startTimer = startUnrefTimer,
  }: RecordedEgressContext,
  ids: ReadonlyMap<string, string>,
  onEvent?: (event: EgressEvent) => void,
): Egress {
  const events = new EgressEvents({ ids, record, scrubber, logger });
  const limit = new RefusalLimit({
    now,
    startTimer,
    record: (event, count) => events.record(event, count),
  });
  const { internalRanges, connectTo, caCertificates } = config.egress;
  const egress = createEgress(
    { internalRanges, connectTo, caCertificates },
    {
      directory: `${home}/egress`,
      now,
      randomBytes,
      onEvent: (event) => {
        onEvent?.(event);
        if (event.kind === "egress.denied" || event.kind === "egress.alarm") limit.add(event);
        else events.record(event);
      },
    },
  );
  return {
    ...egress,
    [Symbol.asyncDispose]: disposeOnce(async () => {
      using _limit = limit;
      await egress[Symbol.asyncDispose]();
    }),
  };
}

interface EgressEventsDeps extends Pick<RecordedEgressContext, "record" | "scrubber" | "logger"> {
  readonly ids: ReadonlyMap<string, string>;
}

/** Records the events of one egress. It never throws. */
class EgressEvents {
  readonly #deps: EgressEventsDeps;

  constructor(deps: EgressEventsDeps) {
    this.#deps = deps;
  }

  /** Records `event`. @param count the repetitions that it stands for */
  record(event: EgressEvent, count?: number): void {
    try {
      this.#record(event, count);
    } catch (error) {
      const fields = { type: event.kind, reason: messageOf(error) };
      this.#deps.logger.error(fields, "audit record could not be written");
    }
  }

  #record(event: EgressEvent, count: number | undefined): void {
    const { record, logger, scrubber } = this.#deps;
    const { host, callId } = event;
    const call = callId === undefined ? {} : { callId };
    const repeated = count === undefined ? {} : { count };
    const common = { server: this.#idOf(event.source), ...call, host: scrubber.text(host) };
    switch (event.kind) {
      case "secret.used": {
        const { credential, secretName } = event;
        record(event.kind, { ...common, credential, secret: secretName });
        logger.debug({ ...common, credential, secretName }, "secret was used");
        return;
      }
      case "secret.echoed": {
        const { credential, secretName, where } = event;
        record(event.kind, { ...common, credential, secret: secretName, where });
        const fields = { ...common, credential, secretName, where };
        logger.warn(fields, "a response contained the secret that was sent; it was removed");
        return;
      }
      case "egress.denied": {
        const { code } = event;
        const reason = scrubber.text(event.reason);
        const fields = { ...common, code, reason, ...repeated };
        record(event.kind, fields);
        logger.warn(fields, count === undefined ? "request was refused" : "requests were refused again");
        return;
      }
      default: {
        const { credential, where } = event;
        const owner = event.owner === undefined ? undefined : this.#idOf(event.owner);
        const fields = { ...common, credential, owner, where, ...repeated };
        record(event.kind, fields);
        logger.error(fields, "a placeholder for a secret is not in its place");
      }
    }
  }

  #idOf(egressId: string): string {
    return this.#deps.ids.get(egressId) ?? egressId;
  }
}
