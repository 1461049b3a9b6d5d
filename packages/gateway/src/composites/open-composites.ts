/**
 * Composite tools put behind a gateway: the saved tools of its home opened, and
 * the metatool over them. Its core tools are the gateway's from then on; its
 * saved tools are left to whoever orders the sources.
 */

import type { GatewayConfig } from "@toolcrib/config";
import type { Logger } from "@toolcrib/diagnostics";
import { createSchemaValidator } from "@toolcrib/json";
import {
  createMetatool,
  type Metatool,
  type MetatoolDeps,
  type MetatoolEvent,
  openSavedTools,
  type SavedToolsDeps,
  startIsolatedExecutions,
} from "@toolcrib/metatool";
import type { AuditStore } from "@toolcrib/store";
import { toAuditClient } from "../call/audit-client.ts";
import type { GatewayCore } from "../gateway-core.ts";
import { createCompositeHost } from "./composite-host.ts";

/** What composites need of the composition root. */
export interface CompositesDeps
  extends Pick<MetatoolDeps, "monotonicMs" | "nextTurn" | "startTimer">,
    Pick<SavedToolsDeps, "randomBytes"> {
  readonly core: GatewayCore;
  readonly record: AuditStore["record"];
  readonly logger: Logger;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

/** Composite tools of a gateway. Disposing writes what was counted; calls have ended by then. */
export interface Composites extends AsyncDisposable {
  readonly metatool: Metatool;
}

/**
 * Open the saved tools below `home` and add the core tools to `deps.core`.
 *
 * @throws {MetatoolError} `METATOOL_DIRECTORY_UNUSABLE`
 */
export async function openComposites(
  config: GatewayConfig,
  home: string,
  deps: CompositesDeps,
): Promise<Composites> {
  const { core, record, logger, now } = deps;
  const host = createCompositeHost(core, config);
  const saved = await openSavedTools(
    {
      clock: now,
      randomBytes: deps.randomBytes,
      isReserved: host.isNameTaken,
      onProblem: ({ code, message }) => logger.warn({ code, reason: message }, "saved tools"),
    },
    { directory: `${home}/tools` },
  );
  const { isolation, memoryBytes } = config.execution;
  const isolated = isolation === "process" ? startIsolatedExecutions(deps, { memoryBytes }) : undefined;
  const metatool = createMetatool(
    {
      host,
      saved,
      wholeCatalog: host.wholeCatalog,
      mayUse: host.mayUse,
      validator: createSchemaValidator(),
      now,
      nowNs: () => BigInt(now()) * 1_000_000n,
      monotonicMs: deps.monotonicMs,
      nextTurn: deps.nextTurn,
      startTimer: deps.startTimer,
      isolated,
      onEvent: (event) => record(event.type, toAuditData(event)),
      onWarning: (fields, message) => logger.warn(fields, message),
    },
    { execution: config.execution },
  );
  core.add(metatool.coreTools);
  const { savedTools } = metatool;
  let isDue = false;
  const unsubscribe = core.index.onChange((sourceIds) => {
    const isOwn = sourceIds.size === 1 && sourceIds.has(savedTools.id);
    if (isDue || isOwn) return;
    isDue = true;
    // The index tells its listeners one after the other; a change within would overtake.
    queueMicrotask(() => {
      isDue = false;
      metatool.refresh();
    });
  });
  return {
    metatool,
    async [Symbol.asyncDispose]() {
      unsubscribe();
      metatool[Symbol.dispose]();
      await isolated?.[Symbol.asyncDispose]();
      await saved[Symbol.asyncDispose]();
    },
  };
}

function toAuditData({ tool, context, codeDigest, reach }: MetatoolEvent) {
  const by = context === undefined ? {} : { client: toAuditClient(context.identity), byCall: context.callId };
  return { tool, ...by, codeDigest, reach };
}
