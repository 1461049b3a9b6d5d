/** Opens the store of a gateway, with the settings of its audit trail. */

import type { GatewayConfig } from "@toolcrib/config";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { openStore, type Store } from "@toolcrib/store";

const dayMs = 24 * 60 * 60 * 1000;

/** Dependencies of `openAudit`. */
export interface OpenAuditDeps {
  /** Home folder. */
  readonly home: string;
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Unpredictable bytes, such as `randomBytes` of `node:crypto`. */
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Opens the store. Its disposal reports a trail that could not be completed instead of throwing. */
export async function openAudit(
  { audit }: Pick<GatewayConfig, "audit">,
  { home, logger, now, randomBytes }: OpenAuditDeps,
  opening: AsyncDisposableStack,
): Promise<Store> {
  const store = await openStore(
    {
      home,
      audit: {
        durability: audit.durability,
        retainMaxBytes: audit.retentionMaxBytes,
        clientMaxBytesPerDay: audit.clientMaxBytesPerDay,
        retainMaxAgeMs: audit.retentionDays * dayMs,
      },
    },
    {
      now,
      randomBytes,
      onProblem: (problem) => logger.warn({ code: problem.code, reason: problem.message }, "audit trail"),
    },
  );
  opening.defer(async () => {
    try {
      await store[Symbol.asyncDispose]();
    } catch (error) {
      logger.error({ reason: messageOf(error) }, "audit trail could not be closed completely");
    }
  });
  return store;
}
