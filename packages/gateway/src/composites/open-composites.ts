/**
 * Composite tools of a gateway: the saved tools of its home, and the tools that
 * save and run them. If the saved tools cannot be opened, the gateway runs
 * without composites.
 */

import { messageOf } from "@toolcrib/diagnostics";
import { compositeFacts, ownFacts, wireNameOfId } from "@toolcrib/inventory";
import { SchemaValidator } from "@toolcrib/json";
import {
  adoptApprovals,
  createMetatool,
  type Metatool,
  type MetatoolEvent,
  openSavedToolStore,
  startIsolatedExecutions,
  startThreadedExecutions,
} from "@toolcrib/metatool";
import { hiddenPathsOf } from "@toolcrib/sandbox";
import { openApprovalStore, type StoreError, toAuditClient } from "@toolcrib/store";
import type { OpenedSources, SourceContext } from "../sources/open-sources.ts";
import { CompositeHost } from "./composite-host.ts";
import { containComposites } from "./composite-sandbox.ts";

const noComposites: OpenedSources = {
  start: async () => {},
  async [Symbol.asyncDispose]() {},
};

/** Opens the composite tools below the home; none where `execution.enabled` is `false`. */
export async function openComposites(context: SourceContext): Promise<OpenedSources> {
  const { logger, config } = context;
  if (config.execution.isEnabled === false) return noComposites;
  await using opening = new AsyncDisposableStack();
  try {
    await addComposites(context, opening);
  } catch (error) {
    logger.error({ reason: messageOf(error) }, "composite tools are not available");
  }
  const resources = opening.move();
  return {
    start: async () => {},
    async [Symbol.asyncDispose]() {
      try {
        await resources.disposeAsync();
      } catch (error) {
        logger.error({ reason: messageOf(error) }, "execution counts of saved tools could not be written");
      }
    },
  };
}

/** @throws {MetatoolError} `METATOOL_DIRECTORY_UNUSABLE` */
async function addComposites(context: SourceContext, opening: AsyncDisposableStack): Promise<void> {
  const { config, core, home, record, logger, now, randomBytes } = context;
  const { monotonicMs, nextTurn, untilIdle, startTimer } = context;
  const host = new CompositeHost(core, context.scrubber);
  const saved = opening.use(
    await openSavedToolStore(
      {
        now,
        randomBytes,
        isReserved: (name) => host.isNameTaken(name, undefined),
        onProblem: ({ code, message }) => logger.warn({ code, reason: message }, "saved tools"),
      },
      { directory: `${home}/tools` },
    ),
  );
  const onProblem = ({ code, message }: StoreError) => logger.warn({ code, reason: message }, "approvals");
  const approvals = opening.use(await openApprovalStore(home, { randomBytes, onProblem }));
  await adoptApprovals({ saved, approvals }).catch((error: unknown) => {
    logger.warn({ reason: messageOf(error) }, "approvals in the files of saved tools could not be stored");
  });
  const { isolation, memoryBytes } = config.execution;
  const isolated =
    isolation === "process"
      ? opening.use(
          startIsolatedExecutions(
            { startTimer, wrap: context.wrap, contain: containOf(context) },
            { memoryBytes },
          ),
        )
      : undefined;
  const hasOtherCalls = (clients: Iterable<string>) => core.hasOtherCalls(clients);
  const threaded =
    isolation === "none"
      ? opening.use(startThreadedExecutions({ startTimer, hasOtherCalls }, { memoryBytes }))
      : undefined;
  const metatool = opening.use(
    createMetatool(
      {
        host,
        saved,
        approvals,
        wholeCatalog: () => host.wholeCatalog(),
        homeFlag: context.homeFlag,
        mayUse: (identity, id, wireName) => host.mayUse(identity, id, wireName),
        validator: new SchemaValidator(),
        now,
        nowNs: () => BigInt(now()) * 1_000_000n,
        monotonicMs,
        nextTurn,
        untilIdle,
        hasOtherCalls,
        startTimer,
        isolated,
        threaded,
        onEvent: (event) => record(event.type, toAuditData(event)),
        onWarning: (fields, message) => logger.warn(fields, message),
        wireNameOf: wireNameOfId,
      },
      { execution: config.execution },
    ),
  );
  context.packageRunner.runner = metatool.packages;
  core.roster.add(metatool.coreTools, ownFacts);
  core.roster.add(metatool.savedTools, compositeFacts);
  opening.defer(refreshAfterChanges(core.index, metatool));
}

function containOf(context: SourceContext) {
  const { sandboxes, config, logger } = context;
  return containComposites({
    sandboxes,
    mode: config.sandbox.mode,
    hiddenPaths: hiddenPathsOf(context),
    logger,
  });
}

/** Refreshes the saved tools after the tools of other sources changed. @returns a function that stops it */
function refreshAfterChanges(index: SourceContext["core"]["index"], metatool: Metatool): () => void {
  let isDue = false;
  return index.onChange((sourceIds) => {
    const isOwnChange = sourceIds.size === 1 && sourceIds.has(metatool.savedTools.id);
    if (isDue || isOwnChange) return;
    isDue = true;
    // The index calls its listeners one after the other; a change within would overtake.
    queueMicrotask(() => {
      isDue = false;
      metatool.refresh();
    });
  });
}

function toAuditData({ tool, context, owner, codeDigest, reach }: MetatoolEvent) {
  const client = toAuditClient(context.identity);
  return {
    tool,
    client,
    byCall: context.callId,
    ...(owner === undefined ? undefined : { owner: toAuditClient(owner) }),
    codeDigest,
    reach,
  };
}
