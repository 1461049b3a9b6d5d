/** Events of the egress on the audit trail, and in the log where an operator should see them. */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import type { EgressEvent } from "@toolcrib/egress";
import type { SecretScrubber } from "@toolcrib/redaction";
import type { Store } from "@toolcrib/store";

/** Dependencies of the recorder. */
export interface EgressEventsDeps {
  /** Ids of toolspecs by the ids that the egress knows them by. */
  readonly ids: ReadonlyMap<string, string>;
  readonly record: Store["audit"]["record"];
  readonly scrubber: SecretScrubber;
  readonly logger: Logger;
}

/** Records the events of one egress. It never throws. */
export class EgressEvents {
  readonly #deps: EgressEventsDeps;

  constructor(deps: EgressEventsDeps) {
    this.#deps = deps;
  }

  /** Records `event`. */
  record(event: EgressEvent): void {
    try {
      this.#record(event);
    } catch (error) {
      const fields = { type: event.kind, reason: messageOf(error) };
      this.#deps.logger.error(fields, "audit record could not be written");
    }
  }

  #record(event: EgressEvent): void {
    const { record, logger, scrubber } = this.#deps;
    const { host, callId } = event;
    const call = callId === undefined ? {} : { callId };
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
        record(event.kind, { ...common, code, reason });
        logger.warn({ ...common, code, reason }, "request was refused");
        return;
      }
      default: {
        const { credential, where } = event;
        const owner = event.owner === undefined ? undefined : this.#idOf(event.owner);
        record(event.kind, { ...common, credential, owner, where });
        const fields = { ...common, credential, owner, where };
        logger.error(fields, "a placeholder for a secret is not in its place");
      }
    }
  }

  #idOf(egressId: string): string {
    return this.#deps.ids.get(egressId) ?? egressId;
  }
}
