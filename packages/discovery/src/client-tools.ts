/**
 * The tools of each client: those that it may use, those that search finds for it, and those that its endpoint
 * lists, with what the lists cost in tokens. A client of a profile sees what is in the profile.
 *
 * It calls nothing. Who may use what, the policy decides.
 */

import {
  type GatewayPolicy,
  type IndexedTool,
  isAppOnly,
  type SourceRoster,
  type ToolIndex,
  type Visibility,
} from "@toolcrib/inventory";
import type { JsonObject } from "@toolcrib/json";
import type { ToolSearch } from "@toolcrib/search";
import { type Identity, identityKey, isListedFor, isOperator, type ToolDefinition } from "@toolcrib/tool";
import { type FusedRanks, fuseRanks } from "./fuse-ranks.ts";
import { composeInstructions } from "./instructions.ts";
import { tokensOfList } from "./token-estimate.ts";
import type { ListSettings, ToolListing } from "./tool-listing.ts";

/** Results of each of the searches by words and by meaning that are merged, at least. */
const fusedMinCount = 100;

/** The meaning of a query: finds the accepted tools that mean the most similar, the most similar first. */
interface SearchMeaning {
  nearest(
    limit: number,
    accepts: (id: string) => boolean,
  ): readonly { readonly id: string; readonly similarity: number }[];
}

type SearchRequest = NonNullable<Parameters<ToolSearch["search"]>[1]>;

/** Dependencies of `ClientTools`. */
export interface ClientToolsDeps {
  readonly index: Pick<ToolIndex, "tools" | "find" | "search" | "onChange">;
  readonly policy: GatewayPolicy;
  readonly roster: Pick<SourceRoster, "featureSources">;
  readonly visibility: Pick<Visibility, "isUsable">;
  readonly listing: ToolListing;
  /** Returns the words that uses taught, as they count for `identity`. They weigh in the order, and make no tool visible. */
  readonly taughtFor: (identity: Identity) => SearchRequest["taught"];
  /** Returns the keys of the identities that the configuration calls by a name. */
  readonly clientKeys: (name: string) => readonly string[];
  /** Removes known secrets. */
  readonly scrubber: { text(text: string): string };
}

/** A tool that a search found. */
export interface FoundEntry {
  readonly entry: IndexedTool;
  readonly score: number;
  /** The words of the query that matched, and the fields, with their parts of the score. */
  readonly why: ReturnType<ToolSearch["search"]>[number]["why"];
  /** Its ranks in the merged searches; absent where search went by words alone. */
  readonly ranks?: FusedRanks;
}

/** The cost of the list of an endpoint. */
export interface EndpointUsage {
  /** Path of the endpoint, such as `/mcp` or `/mcp/p/triage`. */
  readonly path: string;
  readonly mode: ListSettings["mode"];
  /** Number of listed tools, and of those that `full` would list. */
  readonly listed: number;
  readonly tools: number;
  /** Estimated tokens of the list, and of that of `full`. */
  readonly tokens: number;
  readonly fullTokens: number;
}

/** Estimated tokens of all lists that clients received, and of those that they were spared. */
export interface ListUsage {
  readonly listedTokens: number;
  readonly savedTokens: number;
}

/** A list that clients received. */
interface UnmeasuredList {
  /** The tools that `full` would have listed; undefined where it listed them. */
  readonly whole: readonly IndexedTool[] | undefined;
  /** Number of times that it was sent. */
  count: number;
}

/** Maximum number of lists that are not estimated yet, and of the tools in all of them. */
const unmeasuredMax = { lists: 8, tools: 8000 };

/** The tools of all clients of one gateway. */
export class ClientTools {
  #deps: ClientToolsDeps;
  /** The tokens of lists that are cached. */
  readonly #measured = new WeakMap<readonly JsonObject[], ListUsage>();
  /**
   * Lists that clients received, whose tokens are estimated when somebody asks, as long lists take milliseconds, or
   * when they are old: lists of tools that have changed are not kept for it.
   */
  readonly #unmeasured = new Map<readonly JsonObject[], UnmeasuredList>();
  #unmeasuredTools = 0;
  #usage: ListUsage = { listedTokens: 0, savedTokens: 0 };

  constructor(deps: ClientToolsDeps) {
    this.#deps = deps;
    deps.index.onChange(() => this.#measure());
  }

  /** Counts of all lists so far. */
  get usage(): ListUsage {
    this.#measure();
    return this.#usage;
  }

  #measure(): void {
    for (const [items, { whole, count }] of this.#unmeasured) {
      const listedTokens = tokensOfList(items as unknown as readonly ToolDefinition[]);
      const savedTokens = whole === undefined ? 0 : Math.max(0, tokensOf(whole) - listedTokens);
      this.#measured.set(items, { listedTokens, savedTokens });
      this.#count({ listedTokens, savedTokens }, count);
    }
    this.#unmeasured.clear();
    this.#unmeasuredTools = 0;
  }

  #count({ listedTokens, savedTokens }: ListUsage, count: number): void {
    this.#usage = {
      listedTokens: this.#usage.listedTokens + count * listedTokens,
      savedTokens: this.#usage.savedTokens + count * savedTokens,
    };
  }

  /** Lists tools by `listing` from now on. */
  listBy(listing: ToolListing): void {
    this.#deps = { ...this.#deps, listing };
  }

  /** The tools that `identity` may use. */
  allowed(identity: Identity): readonly IndexedTool[] {
    return this.#deps.index.tools.filter((entry) => this.isAllowed(identity, entry));
  }

  /**
   * Whether `identity` may use a tool. Nobody may use one with a secret in its name: a shortened name has a part of it, in
   * which nothing recognizes the secret, and a name without it cannot be called.
   */
  isAllowed(identity: Identity, entry: IndexedTool): boolean {
    const { policy, scrubber } = this.#deps;
    return (
      isListedFor(entry.tool, identity) &&
      policy.allowsListing(identity, entry) &&
      scrubber.text(entry.id) === entry.id
    );
  }

  /** Whether search may return a tool to `identity`: not one that only pages of apps call. */
  isFound(identity: Identity, entry: IndexedTool): boolean {
    return this.#isForSearch(entry) && this.isAllowed(identity, entry);
  }

  /** The tools that search may return to some client. */
  searched(): readonly IndexedTool[] {
    return this.#deps.index.tools.filter((entry) => this.#isForSearch(entry));
  }

  /** Calls `listener` after each change of the tools. @returns a function that ends it */
  onChange(listener: () => void): () => void {
    return this.#deps.index.onChange(listener);
  }

  #isForSearch(entry: IndexedTool): boolean {
    const isForModels = entry.facts.isSearchable && !isAppOnly(entry.tool.definition);
    return isForModels && !this.#deps.listing.isHidden(entry);
  }

  /** Whether any endpoint cuts results. */
  get cutsResults(): boolean {
    return this.#deps.listing.cutsResults;
  }

  /** Whether a tool is never listed or found. */
  isHidden(entry: IndexedTool): boolean {
    return this.#deps.listing.isHidden(entry);
  }

  /** Finds a tool that `identity` may use, by `ToolId` or wire name. */
  find(identity: Identity, name: string): IndexedTool | undefined {
    const entry = this.#deps.index.find(name);
    return entry !== undefined && this.isAllowed(identity, entry) ? entry : undefined;
  }

  /** Searches among the tools that `identity` may find. @param meaning that of the query, where search goes by it too */
  search(
    identity: Identity,
    query: string,
    limit: number,
    meaning?: SearchMeaning | undefined,
  ): readonly FoundEntry[] {
    const { index, taughtFor } = this.#deps;
    const filter = (id: string) => {
      const entry = index.find(id);
      return entry !== undefined && this.isFound(identity, entry);
    };
    const count = meaning === undefined ? limit : Math.max(limit, fusedMinCount);
    const byWords = index.search.search(query, { limit: count, filter, taught: taughtFor(identity) });
    const entryOf = (id: string) => index.find(id) as IndexedTool;
    if (meaning === undefined) {
      return byWords.map(({ id, score, why }) => ({ entry: entryOf(id), score, why }));
    }
    return fuseRanks(byWords, meaning.nearest(count, filter))
      .slice(0, limit)
      .map(({ id, score, ranks, word }) => ({ entry: entryOf(id), score, ranks, why: word?.why ?? [] }));
  }

  /** The tools that an endpoint lists for `identity`. @param serverId that of one server */
  listed(identity: Identity, serverId: string | undefined): readonly IndexedTool[] {
    return this.#listedIn(identity, serverId).tools;
  }

  #listedIn(identity: Identity, serverId: string | undefined): ReturnType<ToolListing["listed"]> {
    const profile = this.#deps.policy.profileOf(identity);
    return this.#deps.listing.listed(this.allowed(identity), identity, profile, serverId);
  }

  /** The settings of the endpoint of `identity`. */
  settingsOf(identity: Identity): ReturnType<ToolListing["settingsOf"]> {
    return this.#deps.listing.settingsOf(this.#deps.policy.profileOf(identity));
  }

  /** Text for models about the endpoint of all servers, or of the profile, as `identity` sees it. */
  instructions(identity: Identity): string {
    const { roster, visibility } = this.#deps;
    const listed = this.listed(identity, undefined);
    const usable = roster.featureSources.filter(({ id }) => visibility.isUsable(identity, id));
    const names = new Set(listed.filter(({ facts }) => facts.isOwn).map(({ wireName }) => wireName));
    return composeInstructions(usable, names, this.settingsOf(identity).instructions);
  }

  /** The names of the profiles that `identity` may use, in the order of the configuration. */
  profilesOf(identity: Identity): readonly string[] {
    const { policy, listing, clientKeys } = this.#deps;
    const bound = policy.boundProfileOf(identity);
    if (bound !== undefined) return listing.profiles.has(bound) ? [bound] : [];
    const names = listing.profiles
      .entries()
      .filter(
        ([, { clients }]) =>
          clients === undefined ||
          isOperator(identity) ||
          clients.some((name) => clientKeys(name).includes(identityKey(identity))),
      );
    return [...names].map(([name]) => name);
  }

  /** Counts a list that a client receives. @param items the same array for as long as the list is the same */
  countList(items: readonly JsonObject[], identity: Identity, serverId: string | undefined): void {
    const own = this.#measured.get(items);
    if (own !== undefined) {
      this.#count(own, 1);
      return;
    }
    const counted = this.#unmeasured.get(items);
    if (counted !== undefined) {
      counted.count += 1;
      return;
    }
    const { tools, whole } = this.#listedIn(identity, serverId);
    this.#unmeasured.set(items, { whole: tools === whole ? undefined : whole, count: 1 });
    this.#unmeasuredTools += whole.length;
    const { lists, tools: toolsMax } = unmeasuredMax;
    if (this.#unmeasured.size > lists || this.#unmeasuredTools > toolsMax) this.#measure();
  }

  /** The cost of lists so far, and those of the endpoints that `identity` may use; estimated when it is read. */
  costs(identity: Identity): { readonly endpoints: readonly EndpointUsage[] } & ListUsage {
    const usage = () => this.usage;
    return {
      endpoints: this.endpoints(identity),
      get listedTokens() {
        return usage().listedTokens;
      },
      get savedTokens() {
        return usage().savedTokens;
      },
    };
  }

  /** The cost of the lists of the endpoints that `identity` may use. */
  endpoints(identity: Identity): readonly EndpointUsage[] {
    const bound = this.#deps.policy.boundProfileOf(identity);
    const profiles = bound === undefined ? this.profilesOf(identity) : [];
    return [
      this.#endpoint("/mcp", identity),
      ...profiles.map((profile) => this.#endpoint(`/mcp/p/${profile}`, { ...identity, profile })),
    ];
  }

  #endpoint(path: string, identity: Identity): EndpointUsage {
    const { tools, whole } = this.#listedIn(identity, undefined);
    return {
      path,
      mode: this.settingsOf(identity).mode,
      listed: tools.length,
      tools: whole.length,
      get tokens() {
        return tokensOf(tools);
      },
      get fullTokens() {
        return tokensOf(whole);
      },
    };
  }
}

function tokensOf(entries: readonly IndexedTool[]): number {
  return tokensOfList(entries.map(({ wireDefinition }) => wireDefinition));
}
