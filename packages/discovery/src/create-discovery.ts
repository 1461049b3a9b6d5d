/** Discovery as the configuration of a gateway describes it. Pure. */

import type { Logger } from "@toolcrib/diagnostics";
import type { IndexedTool } from "@toolcrib/inventory";
import type { Identity, Tool, ToolDefinition } from "@toolcrib/tool";
import { type ListSettings, type ProfileSettings, ToolListing } from "./tool-listing.ts";
import { overriddenDefinition, overrideFault, type ToolOverride, ToolOverrides } from "./tool-overrides.ts";

/** The sections of a configuration about lists. */
export interface ListConfig {
  readonly serve: Pick<ListSettings, "mode"> & {
    /** Tool patterns: never listed, and listed in every mode. */
    readonly tools: { readonly hidden: readonly string[]; readonly pinned: readonly string[] };
    readonly list: Pick<ListSettings, "tokenBudget" | "mostUsed">;
    readonly results: { readonly tokenBudget: number | undefined };
  };
  readonly profiles?: { readonly [name: string]: ProfileSettings } | undefined;
  readonly execution?: { readonly isEnabled?: boolean | undefined } | undefined;
}

/** Creates the lists of a gateway. @param mostUsed ids of the tools that a client used most. @default none */
export function createToolListing(
  { serve, profiles = {}, execution }: ListConfig,
  mostUsed: (identity: Identity) => readonly IndexedTool["id"][] = () => [],
): ToolListing {
  const { mode, list, tools, results } = serve;
  const resultTokenBudget = results.tokenBudget ?? defaultResultTokenBudget(mode);
  return new ToolListing({
    hidden: tools.hidden,
    endpoint: { mode, ...list, pinned: tools.pinned, resultTokenBudget },
    profiles,
    isCompositeListed: execution?.isEnabled === true,
    mostUsed,
  });
}

/**
 * The budget of results where the configuration has none: 25,000 tokens in the modes for agents. `full` is as a direct
 * connection, whose client can be a program, and cuts nothing.
 */
export function defaultResultTokenBudget(mode: ListSettings["mode"]): number {
  return mode === "full" ? 0 : 25_000;
}

/** Creates the changes of definitions. A change with which no call can succeed is logged once for each tool. */
export function createOverrides(
  settings: readonly ToolOverride[],
  logger: Pick<Logger, "warn">,
): {
  readonly overrides: ToolOverrides;
  readonly override:
    | ((definition: ToolDefinition, tool: Tool, wireName: string) => ToolDefinition)
    | undefined;
} {
  const overrides = new ToolOverrides(settings);
  if (overrides.isEmpty) return { overrides, override: undefined };
  const reported = new Set<string>();
  return {
    overrides,
    override(definition, { id }, wireName) {
      const own = overrides.of(id, wireName);
      if (own === undefined) return definition;
      const fault = overrideFault(definition, own);
      if (fault !== undefined && !reported.has(id)) {
        reported.add(id);
        logger.warn({ tool: id, reason: fault }, "calls of a tool cannot succeed with its settings in tools");
      }
      return overriddenDefinition(definition, own);
    },
  };
}
