/** The parts of a core that follow from its configuration alone, so that another configuration replaces all of them at once. */

import { LabelTracker } from "@toolcrib/admission";
import { digestPolicy } from "@toolcrib/config";
import { elicitedClientsOf } from "@toolcrib/config-changes";
import type { Logger } from "@toolcrib/diagnostics";
import { createOverrides, createToolListing } from "@toolcrib/discovery";
import type { ToolIndex } from "@toolcrib/inventory";
import { defaultAllowedTools, HiddenArguments, ToolPatterns, ToolPolicy } from "@toolcrib/policy";
import { withoutHidden } from "@toolcrib/redaction";
import { metaToolNames, ownNamespace, toToolId } from "@toolcrib/tool";
import { executionRules } from "./call/execution-rules.ts";
import type { GovernedCallDeps } from "./call/governed-call-deps.ts";
import type { CoreConfig, GatewayCoreDeps, LiveParts } from "./core-config.ts";

/** The settings of one configuration. */
export interface CoreSettings extends ReturnType<typeof createOverrides> {
  readonly config: CoreConfig;
  /** Longest time that the first list of a client waits for servers, in milliseconds. */
  readonly listWaitMs: number;
  /** The lists of the policy, and their digest. */
  readonly lists: ToolPolicy;
  readonly listsDigest: string;
  readonly listing: ReturnType<typeof createToolListing>;
  /** Tools of unverified servers whose calls need no approval. */
  readonly waived: ToolPatterns;
  /** Keys of the clients that approve by a form. */
  readonly elicitedClients: ReadonlySet<string>;
}

/** Returns the settings of a configuration. */
export function coreSettingsOf(
  config: CoreConfig,
  { logger, mostUsed }: Pick<GatewayCoreDeps, "logger" | "mostUsed">,
): CoreSettings {
  const { policy, toolOverrides = [] } = config;
  return {
    config,
    listWaitMs: config.serve.listWaitSeconds * 1000,
    ...createOverrides(toolOverrides, logger),
    lists: new ToolPolicy(policy, defaultAllowedTools),
    listsDigest: digestPolicy(policy),
    listing: createToolListing(config, mostUsed),
    waived: new ToolPatterns(policy.waiveApproval),
    elicitedClients: elicitedClientsOf(policy),
  };
}

/** Returns what calls depend on under other settings. What is not among them stays, such as counts of calls in flight. */
export function callDepsOf(
  known: GovernedCallDeps,
  settings: CoreSettings,
  { hooks, seenLabels, callLimits }: LiveParts,
  logger: Logger,
): GovernedCallDeps {
  const { scrubber, unverifiedScrubber, hiddenArguments, pauses, approval } = known;
  const hiding = { scrubber, unverifiedScrubber, hiddenArguments };
  const isKept = hooks?.hooks === known.hooks?.hooks;
  return {
    ...known,
    approval: { ...approval, elicitedClients: settings.elicitedClients },
    callLimits,
    labels: seenLabels === undefined ? undefined : new LabelTracker(seenLabels, logger),
    hooks: isKept ? known.hooks : hooks && { ...hooks, ...hiding, rules: executionRules, pauses, logger },
  };
}

/** Returns the functions that hide values in results and records. */
export function hidingOf(
  { audit }: CoreConfig,
  scrubber: GatewayCoreDeps["scrubber"],
  index: Pick<ToolIndex, "find">,
) {
  return {
    scrubber,
    unverifiedScrubber: withoutHidden(scrubber),
    hiddenArguments: new HiddenArguments(audit?.redact ?? [], {
      callToolId: toToolId(ownNamespace, metaToolNames.call),
      find: (name) => index.find(name),
    }),
  };
}
