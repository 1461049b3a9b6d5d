/**
 * The tools that an endpoint lists: the modes of `serve` and of profiles.
 *
 * The list depends on nothing but the settings, the tools and the client, so that it changes only when one of
 * them does: prompt caches of clients stay valid. No call changes it. Pure.
 */

import type { IndexedTool } from "@toolcrib/inventory";
import { ToolPatterns } from "@toolcrib/policy";
import { type Identity, metaToolNames } from "@toolcrib/tool";
import { tokensOfList } from "./token-estimate.ts";

/** The listing of tools at an endpoint: the endpoint of all servers, or that of a profile. */
export interface ListSettings {
  /** `full` lists every tool, `search` the tools that find the others, `auto` every tool where they fit into the budget. */
  readonly mode: "full" | "search" | "auto";
  /** Tokens that the list of `auto` may cost. */
  readonly tokenBudget: number;
  /** Most tools that `auto` lists next to the meta-tools because the client used them most. */
  readonly mostUsed: number;
  /** Patterns of tools that are listed in every mode. */
  readonly pinned: readonly string[];
  /** Tokens of a result that a client receives at once; 0 for any number. */
  readonly resultTokenBudget: number;
}

/** Settings of an endpoint that clients choose by its name. */
export interface ProfileSettings extends ListSettings {
  /** Text for models, in place of the instructions of servers. */
  readonly instructions: string | undefined;
  /** Names of the clients that may use it. @default all */
  readonly clients: readonly string[] | undefined;
}

/** Dependencies of `ToolListing`. */
export interface ToolListingDeps {
  /** Patterns of tools that are never listed or found. */
  readonly hidden: readonly string[];
  readonly endpoint: ListSettings;
  readonly profiles: { readonly [name: string]: ProfileSettings };
  /** Whether search mode lists the tools that save and run composites. */
  readonly isCompositeListed: boolean;
  /** Ids of the tools that a client used most, first, as they were when the program started. */
  readonly mostUsed: (identity: Identity) => readonly string[];
}

/** The list of one client, and what it costs. */
export interface ListedTools {
  readonly tools: readonly IndexedTool[];
  /** Those that the mode `full` lists; the same array where all of them are listed. */
  readonly whole: readonly IndexedTool[];
}

const metaTools: ReadonlySet<string> = new Set(Object.values(metaToolNames));

/** Decides which tools are listed and found. A hidden tool can still be called by its name. */
export class ToolListing {
  readonly #deps: ToolListingDeps;
  readonly #hidden: ToolPatterns;
  readonly #profiles: ReadonlyMap<string, ProfileSettings>;
  readonly #pinned = new Map<ListSettings, ToolPatterns>();

  constructor(deps: ToolListingDeps) {
    this.#deps = deps;
    this.#hidden = new ToolPatterns(deps.hidden);
    this.#profiles = new Map(Object.entries(deps.profiles));
  }

  /** The settings of the endpoint of a profile, or of that of all servers. */
  settingsOf(profile: string | undefined): ListSettings & Partial<ProfileSettings> {
    const own = profile === undefined ? undefined : this.#profiles.get(profile);
    return own ?? this.#deps.endpoint;
  }

  /** The profiles by their names, in the order of the configuration. */
  get profiles(): ReadonlyMap<string, ProfileSettings> {
    return this.#profiles;
  }

  /** Whether any endpoint cuts results. */
  get cutsResults(): boolean {
    const { endpoint } = this.#deps;
    return [endpoint, ...this.#profiles.values()].some(({ resultTokenBudget }) => resultTokenBudget > 0);
  }

  /** Whether `serve.tools.hidden` hides a tool. */
  isHidden({ id, wireName }: IndexedTool): boolean {
    return this.#hidden.find(id, wireName) !== undefined;
  }

  /**
   * Returns the tools among `allowed` that are listed.
   *
   * @param serverId lists the tools of one server; undefined lists those of all, as the mode says
   */
  listed(
    allowed: readonly IndexedTool[],
    identity: Identity,
    profile: string | undefined,
    serverId: string | undefined,
  ): ListedTools {
    const visible = allowed.filter((entry) => !this.isHidden(entry));
    if (serverId !== undefined) {
      const tools = visible.filter(({ tool }) => tool.sourceId === serverId);
      return { tools, whole: tools };
    }
    const settings = this.settingsOf(profile);
    const whole = visible.filter(
      (entry) =>
        !entry.facts.isOwn || this.#isOwnListed(entry, settings, false) || this.#isPinned(entry, settings),
    );
    const isSearch =
      settings.mode === "search" || (settings.mode === "auto" && tokensOf(whole) > settings.tokenBudget);
    if (!isSearch) return { tools: whole, whole };
    const used = settings.mode === "auto" ? this.#usedMost(visible, identity, settings) : new Set<string>();
    const tools = visible.filter(
      (entry) =>
        (entry.facts.isOwn && this.#isOwnListed(entry, settings, true)) ||
        this.#isPinned(entry, settings) ||
        used.has(entry.id),
    );
    return { tools, whole };
  }

  #isOwnListed({ wireName }: IndexedTool, { resultTokenBudget }: ListSettings, isSearch: boolean): boolean {
    if (wireName === metaToolNames.readMore) return resultTokenBudget > 0;
    if (isSearch) return metaTools.has(wireName) || this.#deps.isCompositeListed;
    // Where every tool is listed, search is still useful; describing and calling by name are not.
    return wireName !== metaToolNames.describe && wireName !== metaToolNames.call;
  }

  #isPinned({ id, wireName }: IndexedTool, settings: ListSettings): boolean {
    let pinned = this.#pinned.get(settings);
    if (pinned === undefined) {
      pinned = new ToolPatterns(settings.pinned);
      this.#pinned.set(settings, pinned);
    }
    return pinned.find(id, wireName) !== undefined;
  }

  /** The ids of the tools that the client used most and that fit into what the meta-tools and pinned tools leave of the budget. */
  #usedMost(
    visible: readonly IndexedTool[],
    identity: Identity,
    settings: ListSettings,
  ): ReadonlySet<string> {
    const chosen = new Set<string>();
    const ids = this.#deps.mostUsed(identity);
    if (ids.length === 0 || settings.mostUsed === 0) return chosen;
    const byId = new Map(visible.map((entry) => [entry.id, entry] as const));
    let left =
      settings.tokenBudget -
      tokensOf(
        visible.filter(
          (entry) =>
            (entry.facts.isOwn && this.#isOwnListed(entry, settings, true)) ||
            this.#isPinned(entry, settings),
        ),
      );
    for (const id of ids) {
      const entry = byId.get(id);
      if (chosen.size >= settings.mostUsed) break;
      if (entry === undefined || entry.facts.isOwn || this.#isPinned(entry, settings)) continue;
      const cost = tokensOf([entry]);
      if (cost > left) continue;
      left -= cost;
      chosen.add(id);
    }
    return chosen;
  }
}

function tokensOf(entries: readonly IndexedTool[]): number {
  return tokensOfList(entries.map(({ wireDefinition }) => wireDefinition));
}
