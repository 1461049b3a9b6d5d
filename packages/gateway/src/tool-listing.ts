/** The tools that an endpoint lists: `serve.mode` and `serve.tools` of the configuration. Pure. */

import { autoModeMaxTools, type GatewayConfig } from "@toolcrib/config";
import { type IndexedTool, isAppOnly } from "@toolcrib/inventory";
import { ToolPatterns } from "@toolcrib/policy";
import { metaToolNames } from "@toolcrib/tool";
import type { ToolSummary } from "./gateway.ts";

const metaTools: ReadonlySet<string> = new Set(Object.values(metaToolNames));

/** Decides which tools are listed and found. A hidden tool can still be called by its name. */
export class ToolListing {
  readonly #mode: GatewayConfig["serve"]["mode"];
  readonly #hidden: ToolPatterns;
  readonly #pinned: ToolPatterns;
  readonly #isCompositeListed: boolean;

  /** @param isCompositeListed whether search mode lists the tools that save and run composites */
  constructor({ mode, tools }: Pick<GatewayConfig["serve"], "mode" | "tools">, isCompositeListed: boolean) {
    this.#mode = mode;
    this.#hidden = new ToolPatterns(tools.hidden);
    this.#pinned = new ToolPatterns(tools.pinned);
    this.#isCompositeListed = isCompositeListed;
  }

  /** Whether `serve.tools.hidden` hides a tool. */
  isHidden({ id, wireName }: IndexedTool): boolean {
    return this.#hidden.find(id, wireName) !== undefined;
  }

  /** Whether search finds a tool for models: not one that only pages of apps call. */
  isFound(entry: IndexedTool): boolean {
    return entry.facts.isSearchable && !this.isHidden(entry) && !isAppOnly(entry.tool.definition);
  }

  /**
   * Returns the tools among `allowed` that are listed.
   *
   * @param serverId lists the tools of one server; undefined lists those of all, as the mode says
   */
  listed(allowed: readonly IndexedTool[], serverId: string | undefined): readonly IndexedTool[] {
    const visible = allowed.filter((entry) => !this.isHidden(entry));
    if (serverId !== undefined) return visible.filter(({ tool }) => tool.sourceId === serverId);
    const ownCount = visible.filter(({ facts }) => facts.isOwn).length;
    const isSearch =
      this.#mode === "search" || (this.#mode === "auto" && visible.length - ownCount > autoModeMaxTools);
    return visible.filter(
      (entry) =>
        (entry.facts.isOwn ? this.#isOwnListed(entry, isSearch) : !isSearch) || this.#isPinned(entry),
    );
  }

  #isOwnListed({ wireName }: IndexedTool, isSearch: boolean): boolean {
    if (isSearch) return metaTools.has(wireName) || this.#isCompositeListed;
    // Where every tool is listed, search is still useful; describing and calling by name are not.
    return wireName !== metaToolNames.describe && wireName !== metaToolNames.call;
  }

  #isPinned({ id, wireName }: IndexedTool): boolean {
    return this.#pinned.find(id, wireName) !== undefined;
  }
}

/** A tool in a list for people. */
export function toSummary({ id, wireName, tool, facts }: IndexedTool): ToolSummary {
  const { namespace, origin, tags, definition } = tool;
  return {
    id,
    wireName,
    namespace,
    origin,
    isOwn: facts.isOwn,
    tags,
    title: definition.title,
    description: definition.description,
  };
}
