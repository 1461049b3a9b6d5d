/** The tools that an endpoint lists: `serve.mode` and `serve.tools` of the configuration. Pure. */

import { autoModeMaxTools, type GatewayConfig } from "@toolcrib/config";
import { ToolPatterns } from "@toolcrib/policy";
import type { IndexedTool } from "./index/build-index.ts";
import { metaToolNames } from "./service/meta-source.ts";

/** Decides which tools are listed and found. A hidden tool can still be called by its name. */
export class ToolListing {
  readonly #mode: GatewayConfig["serve"]["mode"];
  readonly #hidden: ToolPatterns;
  readonly #pinned: ToolPatterns;

  constructor({ mode, tools }: Pick<GatewayConfig["serve"], "mode" | "tools">) {
    this.#mode = mode;
    this.#hidden = new ToolPatterns(tools.hidden);
    this.#pinned = new ToolPatterns(tools.pinned);
  }

  /** Whether `serve.tools.hidden` hides a tool. Toolcrib's own tools are never hidden. */
  isHidden({ id, wireName, facts }: IndexedTool): boolean {
    return !facts.isOwn && this.#hidden.find(id, wireName) !== undefined;
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
    if (isSearch) return visible.filter((entry) => entry.facts.isOwn || this.#isPinned(entry));
    // Where every tool is listed, search is still useful; describing and calling by name are not.
    const { describe, call } = metaToolNames;
    return visible.filter(
      ({ facts, wireName }) => !facts.isOwn || (wireName !== describe && wireName !== call),
    );
  }

  #isPinned({ id, wireName }: IndexedTool): boolean {
    return this.#pinned.find(id, wireName) !== undefined;
  }
}
