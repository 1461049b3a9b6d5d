/**
 * Every tool of every source under one index: by id, by wire name, and by
 * words. It follows the changes of its sources and reports each new state once.
 *
 * It never calls a tool. Of who may see one, it only knows what the tool itself says.
 */

import { ListenerSet } from "@toolcrib/lifecycle";
import type { SearchOptions, ToolSearch } from "@toolcrib/search";
import { type Identity, isListedFor, type ToolId, type ToolSource, type Unsubscribe } from "@toolcrib/tool";
import { type BackendSelector, selectByKind } from "./backend.ts";
import {
  type BuiltIndex,
  buildIndex,
  emptyIndex,
  type HoldTool,
  type IndexedSource,
  type IndexedTool,
  type OverrideDefinition,
  type QuarantinedTool,
} from "./build-index.ts";
import { type DefinitionScrubber, LazyIndex } from "./lazy-index.ts";
import { arrangedByRank, defaultFacts, insertByRank, type SourceFacts } from "./source-facts.ts";

interface AddedSource extends IndexedSource {
  readonly unsubscribe: Unsubscribe;
}

/** The index. */
export class ToolIndex {
  #how: Parameters<typeof buildIndex>[1];
  readonly #onQuarantine: (() => void) | undefined;
  readonly #listeners = new ListenerSet<[sourceIds: ReadonlySet<string>]>();
  readonly #search: LazyIndex;
  #sources: readonly AddedSource[] = [];
  #generation = 0;
  #tools: readonly IndexedTool[] = [];
  #built: BuiltIndex = emptyIndex;
  #isHeld = false;
  #isDue = false;
  /** Whether no entry of the index may be kept, because all of them are made in another way. */
  #isOutdated = false;

  /** @param options.onQuarantine called after each change of an index that has or had quarantined tools */
  constructor(
    options: {
      readonly selectBackend?: BackendSelector | undefined;
      /** Parameters of the ranking of searches. */
      readonly search?: SearchOptions | undefined;
      /** Removes secrets from what search indexes. @default definitions are indexed as they are */
      readonly scrubber?: DefinitionScrubber;
      /** Holds tools back. @default every well-formed tool is offered */
      readonly hold?: HoldTool;
      /** Changes the definitions that clients are shown. @default they are those of their servers */
      readonly override?: OverrideDefinition | undefined;
      readonly onQuarantine?: () => void;
    } = {},
  ) {
    const { selectBackend = selectByKind, hold = () => undefined } = options;
    this.#how = { select: selectBackend, hold, override: options.override };
    this.#onQuarantine = options.onQuarantine;
    this.#search = new LazyIndex(options.scrubber, options.search);
  }

  /** Grows with every change; a list of another generation is stale. */
  get generation(): number {
    return this.#generation;
  }

  /** Tools in the order of sources and of their lists. */
  get tools(): readonly IndexedTool[] {
    return this.#tools;
  }

  /** Number of listed tools of a source. */
  countOf(sourceId: string): number {
    return this.#built.bySource.get(sourceId)?.size ?? 0;
  }

  /** The tools that are not listed, and why. */
  get quarantined(): readonly QuarantinedTool[] {
    return this.#built.quarantined;
  }

  /** The complete search index: changes that `indexPending` has not indexed yet are indexed first. */
  get search(): ToolSearch {
    return this.#search.complete;
  }

  /** Indexes up to `count` changed tools for search, ahead of the first search. @returns whether any are left */
  indexPending(count: number): boolean {
    return this.#search.indexPending(count);
  }

  /** Finds a tool by `ToolId` (with or without its version) or wire name. */
  find(name: string): IndexedTool | undefined {
    return this.#built.byId.get(name) ?? this.#built.byName.get(name);
  }

  /** Returns the tool of `entry` if it is listed for `identity`. If not, its source reads its state again first. */
  listedFor(
    identity: Identity,
    entry: IndexedTool | undefined,
  ): IndexedTool | undefined | Promise<IndexedTool | undefined> {
    if (entry === undefined || isListedFor(entry.tool, identity)) return entry;
    return this.#listedAgain(identity, entry);
  }

  async #listedAgain(identity: Identity, { id, source }: IndexedTool): Promise<IndexedTool | undefined> {
    await source.refresh?.();
    const entry = this.find(id);
    return entry !== undefined && isListedFor(entry.tool, identity) ? entry : undefined;
  }

  /** The tools of one source, in the order of its list. */
  toolsOf(sourceId: string): Iterable<IndexedTool> {
    return this.#built.bySource.get(sourceId)?.values() ?? [];
  }

  /** Finds the tool that the source `sourceId` lists as `name`. */
  findIn(sourceId: string, name: string): IndexedTool | undefined {
    return this.#built.bySource.get(sourceId)?.get(name);
  }

  /** Adds `source` after those of the same rank. */
  add(source: ToolSource, facts: SourceFacts = defaultFacts): void {
    const unsubscribe = source.onChange(({ kind }) => {
      if (kind === "tools") this.#rebuild();
    });
    this.#sources = insertByRank(this.#sources, { source, facts, unsubscribe });
    if (source.tools().length > 0) this.#rebuild();
  }

  /** Removes a source and its tools. */
  remove(source: ToolSource): void {
    const added = this.#sources.find((one) => one.source === source);
    if (added === undefined) return;
    added.unsubscribe();
    this.#sources = this.#sources.filter((one) => one !== added);
    this.#rebuild();
  }

  /** Replaces the facts about a source that was added. Follow it by a change or `reconsider`. */
  replaceFacts(source: ToolSource, facts: SourceFacts): void {
    this.#sources = this.#sources.map((one) => (one.source === source ? { ...one, facts } : one));
  }

  /** Puts the sources of each rank into the order of `ids`, before all others of the rank. */
  arrange(ids: readonly string[]): void {
    const arranged = arrangedByRank(this.#sources, ids, ({ source }) => source.id);
    if (arranged.every((one, at) => one === this.#sources[at])) return;
    this.#sources = arranged;
    this.#rebuild();
  }

  /** Changes the definitions that clients are shown by `override` from now on. */
  overrideBy(override: OverrideDefinition | undefined): void {
    this.#how = { ...this.#how, override };
    this.#isOutdated = true;
    this.#rebuild();
  }

  /** Decides again which tools are held back. */
  reconsider(): void {
    this.#rebuild();
  }

  /** Runs `change`, in which several sources change, and rebuilds the index once after it. */
  together(change: () => void): void {
    this.#isHeld = true;
    try {
      change();
    } finally {
      this.#isHeld = false;
      if (this.#isDue) this.#rebuild();
    }
  }

  /** Calls `listener` after each change with the ids of the sources whose tools changed. */
  onChange(listener: (sourceIds: ReadonlySet<string>) => void): Unsubscribe {
    return this.#listeners.add(listener);
  }

  #rebuild(): void {
    this.#isDue = this.#isHeld;
    if (this.#isHeld) return;
    const before = this.#built;
    const built = buildIndex(this.#sources, this.#how, this.#isOutdated ? emptyIndex.byId : before.byId);
    this.#isOutdated = false;
    this.#built = built;
    if (before.quarantined.length > 0 || built.quarantined.length > 0) this.#onQuarantine?.();
    const changed = updateSearch(this.#search, before.byId, built.byId);
    const tools = [...built.byId.values()];
    const isSame = tools.length === this.#tools.length && tools.every((tool, at) => tool === this.#tools[at]);
    if (isSame) return;
    // Where only the order changed, any source may be concerned.
    if (changed.size === 0) for (const { source } of this.#sources) changed.add(source.id);
    this.#tools = tools;
    this.#generation += 1;
    this.#listeners.emit(changed);
  }
}

/** Updates `search` from one state to the next. @returns the ids of the sources whose tools changed */
function updateSearch(
  search: LazyIndex,
  before: ReadonlyMap<ToolId, IndexedTool>,
  after: ReadonlyMap<ToolId, IndexedTool>,
): Set<string> {
  const changed = new Set<string>();
  const note = ({ backends }: IndexedTool) => {
    for (const { source } of backends) changed.add(source.id);
  };
  for (const [id, entry] of before) {
    if (after.has(id)) continue;
    search.remove(id);
    note(entry);
  }
  for (const [id, entry] of after) {
    const known = before.get(id);
    if (known === entry) continue;
    // The words of tools that are never found must not weigh in the scores of the others.
    if (entry.facts.isSearchable) search.set(entry);
    note(entry);
    if (known !== undefined) note(known);
  }
  return changed;
}
