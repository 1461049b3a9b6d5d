/** Opens the audit trail of a gateway, and passes its signed ends to the anchors. */

import type { GatewayConfig } from "@toolcrib/config";
import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { type HeadAnchors, openStore, type Store } from "@toolcrib/store";

const dayMs = 24 * 60 * 60 * 1000;

/** Dependencies of the trail. */
export interface AuditDeps {
  readonly home: string;
  readonly logger: Logger;
  readonly anchors: HeadAnchors;
  /** Receives the lines that are written. */
  readonly onLines: ((text: string) => void) | undefined;
  /** Calls of killed runs that still go on, as tasks of their servers. */
  readonly openCalls: ReadonlySet<string> | undefined;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly randomBytes: (count: number) => Uint8Array;
}

/** Opens the store. Its disposal, by `opening`, reports a trail that could not be completed instead of throwing. */
export async function openAudit(
  { audit }: GatewayConfig,
  { home, logger, anchors, onLines, openCalls, now, randomBytes }: AuditDeps,
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
      onHead: (line) => anchors.add(line),
      onLines,
      openCalls,
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
