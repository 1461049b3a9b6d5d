/**
 * Every tool of every source under one index: by id, by wire name, and by
 * meaning. The index is a function of the sources in their configured order,
 * so names do not depend on which server starts first. An entry whose
 * definition did not change keeps its identity, so that a list of thousands
 * that changed in one place costs a comparison and not a new index.
 *
 * It never calls a tool and never decides who may see one.
 */

import { isDeepStrictEqual } from "node:util";
import { createToolSearch, type ToolSearch } from "@toolcrib/search";
import {
  checkDefinition,
  formatProblems,
  type Tool,
  type ToolDefinition,
  type ToolId,
  type ToolSource,
  toToolId,
  type Unsubscribe,
} from "@toolcrib/tool";
import { foldsOf, savedNamespace, toWireName, wirePrefixOf } from "./wire-name.ts";

/** How a backend is chosen when a tool has several (registry document, Execution). */
export type BackendKind = "local" | "provider" | "mcp";

/** One way to execute a tool. */
export interface Backend {
  readonly kind: BackendKind;
  readonly source: ToolSource;
  readonly tool: Tool;
}

/** Choose among the backends of one tool; never called with none. Choosing none fails the call. */
export type BackendSelector = (backends: readonly Backend[]) => Backend | undefined;

const backendOrder: readonly BackendKind[] = ["local", "provider", "mcp"];

/** The default choice: local, then provider, then mcp; within one kind the first source. */
export const selectByKind: BackendSelector = (backends) =>
  backends.toSorted((a, b) => backendOrder.indexOf(a.kind) - backendOrder.indexOf(b.kind))[0];

/** A tool in the index. */
export interface IndexedTool {
  readonly id: ToolId;
  /** Name on the wire of the endpoint that shows all servers. */
  readonly wireName: string;
  /** The tool of the backend that the selector prefers. */
  readonly tool: Tool;
  readonly backends: readonly Backend[];
  /** The definition with `wireName` in place of the source's own name. */
  readonly wireDefinition: ToolDefinition;
  /** Folded forms of its name (`foldsOf`). */
  readonly folds: readonly string[];
}

/** A tool that is not offered, and why. */
export interface QuarantinedTool {
  readonly id: ToolId;
  readonly wireName: string;
  /** First part of its id; empty for a local tool without one. */
  readonly namespace: string;
  readonly code: "TOOL_NAME_COLLISION" | "TOOL_DEFINITION_INVALID";
  readonly reason: string;
}

/** The index. */
export interface ToolIndex {
  /** Grows with every change; what was listed under another number is stale. */
  readonly generation: number;
  /** In the order of sources and of their lists. */
  readonly tools: readonly IndexedTool[];
  readonly quarantined: readonly QuarantinedTool[];
  /** Complete: what `prepareSearch` has not done yet is done first. */
  readonly search: ToolSearch;
  /** Take up to `count` changed tools up into the search, ahead of the first search. @returns whether any are left */
  prepareSearch(count: number): boolean;
  /** By `ToolId` (with or without its version) or wire name. */
  find(name: string): IndexedTool | undefined;
  /** The tool that source `sourceId` lists as `name`. */
  findIn(sourceId: string, name: string): IndexedTool | undefined;
  add(source: ToolSource): void;
  /** Forget a source and its tools. */
  remove(source: ToolSource): void;
  /** Run `change`, in which many sources change; the index follows once, behind it. */
  together(change: () => void): void;
  /** The listener runs after the index changed, with the ids of the sources whose tools it concerns. */
  onChange(listener: (sourceIds: ReadonlySet<string>) => void): Unsubscribe;
}

/** Create an empty index. */
export function createToolIndex(
  options: {
    readonly selectBackend?: BackendSelector;
    readonly onQuarantine?: (tool: QuarantinedTool) => void;
  } = {},
): ToolIndex {
  const select = options.selectBackend ?? selectByKind;
  const sources: { readonly source: ToolSource; readonly unsubscribe: Unsubscribe }[] = [];
  const listeners = new Set<(sourceIds: ReadonlySet<string>) => void>();
  const search = createPatientSearch(createToolSearch());
  let generation = 0;
  let tools: readonly IndexedTool[] = [];
  let built: Built = { byId: new Map(), byName: new Map(), bySource: new Map(), quarantined: [] };

  let isHeld = false;
  let isDue = false;

  function rebuild(): void {
    isDue = isHeld;
    if (isHeld) return;
    const before = built;
    built = build(
      sources.map(({ source }) => source),
      select,
      before.byId,
    );
    const known = new Set(before.quarantined.map(({ id }) => id));
    for (const one of built.quarantined) if (!known.has(one.id)) options.onQuarantine?.(one);
    const changed = updateSearch(search, before.byId, built.byId);
    const entries = [...built.byId.values()];
    const isSame = entries.length === tools.length && entries.every((entry, at) => entry === tools[at]);
    if (isSame) return;
    // A list that only changed its order concerns its source as well.
    if (changed.size === 0) for (const { source } of sources) changed.add(source.id);
    tools = entries;
    generation += 1;
    for (const listener of listeners) listener(changed);
  }

  return {
    get generation() {
      return generation;
    },
    get tools() {
      return tools;
    },
    get quarantined() {
      return built.quarantined;
    },
    get search() {
      search.takeUp(Number.POSITIVE_INFINITY);
      return search.index;
    },
    prepareSearch: search.takeUp,
    find: (name) => built.byId.get(name) ?? built.byName.get(name),
    findIn: (sourceId, name) => built.bySource.get(sourceId)?.get(name),
    add(source) {
      const unsubscribe = source.onChange(({ kind }) => {
        if (kind === "tools") rebuild();
      });
      sources.push({ source, unsubscribe });
      if (source.tools().length > 0) rebuild();
    },
    remove(source) {
      const at = sources.findIndex((one) => one.source === source);
      if (at === -1) return;
      sources[at]?.unsubscribe();
      sources.splice(at, 1);
      rebuild();
    },
    together(change) {
      isHeld = true;
      try {
        change();
      } finally {
        isHeld = false;
        if (isDue) rebuild();
      }
    },
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

interface Built {
  readonly byId: Map<ToolId, IndexedTool>;
  readonly byName: Map<string, IndexedTool>;
  /** By source and the source's own name. */
  readonly bySource: Map<string, Map<string, IndexedTool>>;
  readonly quarantined: QuarantinedTool[];
}

function build(
  sources: readonly ToolSource[],
  select: BackendSelector,
  previous: ReadonlyMap<ToolId, IndexedTool>,
): Built {
  const built: Built = { byId: new Map(), byName: new Map(), bySource: new Map(), quarantined: [] };
  const folded = new Map<string, IndexedTool>();
  for (const [id, backends] of backendsOf(sources, built.quarantined)) {
    const entry = toEntry(id, backends, select, previous.get(id));
    const { wireName, tool, folds } = entry;
    const other = collisionOf(entry, folded, built.byName);
    if (other !== undefined) {
      const reason = `"${id}" cannot be told from "${other.id}", which was declared first`;
      built.quarantined.push({
        id,
        wireName,
        namespace: tool.namespace,
        code: "TOOL_NAME_COLLISION",
        reason,
      });
      continue;
    }
    for (const fold of folds) folded.set(fold, entry);
    built.byId.set(id, entry);
    built.byName.set(wireName, entry);
    // An id with a version is found without it too; the first declared wins.
    const unversioned = toToolId(tool.namespace, tool.definition.name);
    if (tool.version !== undefined && !built.byName.has(unversioned)) built.byName.set(unversioned, entry);
    if (tool.namespace === savedNamespace) {
      // Where names are taken, it is also found as other tools are written.
      const prefixed = toWireName(savedNamespace, tool.definition.name);
      if (!built.byName.has(prefixed)) built.byName.set(prefixed, entry);
    }
    for (const { source, tool: own } of backends) {
      const ofSource = built.bySource.get(source.id) ?? new Map<string, IndexedTool>();
      built.bySource.set(source.id, ofSource);
      if (!ofSource.has(own.definition.name)) ofSource.set(own.definition.name, entry);
    }
  }
  return built;
}

/** The well-formed tools of `sources` by their ids; adds the malformed ones to `quarantined`. */
function backendsOf(
  sources: readonly ToolSource[],
  quarantined: QuarantinedTool[],
): ReadonlyMap<ToolId, Backend[]> {
  const backends = new Map<ToolId, Backend[]>();
  for (const source of sources) {
    const kind = kindOf(source);
    for (const tool of source.tools()) {
      const malformed = malformedReasonOf(tool);
      if (malformed !== undefined) {
        quarantined.push(toMalformed(tool, malformed));
        continue;
      }
      const known = backends.get(tool.id);
      if (known === undefined) backends.set(tool.id, [{ kind, source, tool }]);
      else known.push({ kind, source, tool });
    }
  }
  return backends;
}

/** Why each checked definition is refused; empty for a sound one. */
const malformedReasons = new WeakMap<ToolDefinition, string>();

/** Why the definition of `tool` is malformed. A definition is checked once. */
function malformedReasonOf({ definition }: Tool): string | undefined {
  let reason = malformedReasons.get(definition);
  if (reason === undefined) {
    reason = formatProblems(checkDefinition("tool", definition));
    malformedReasons.set(definition, reason);
  }
  return reason === "" ? undefined : reason;
}

function toMalformed({ id, namespace, definition }: Tool, problems: string): QuarantinedTool {
  const wireName = toWireName(wirePrefixOf(namespace), definition.name);
  return {
    id,
    wireName,
    namespace,
    code: "TOOL_DEFINITION_INVALID",
    reason: `"${id}" is malformed: ${problems}`,
  };
}

function collisionOf(
  { folds, wireName }: IndexedTool,
  folded: ReadonlyMap<string, IndexedTool>,
  byName: ReadonlyMap<string, IndexedTool>,
): IndexedTool | undefined {
  for (const fold of folds) {
    const other = folded.get(fold);
    if (other !== undefined) return other;
  }
  return byName.get(wireName);
}

function toEntry(
  id: ToolId,
  backends: readonly Backend[],
  select: BackendSelector,
  previous: IndexedTool | undefined,
): IndexedTool {
  const chosen = select(backends) ?? backends[0];
  const { tool } = chosen as Backend;
  const isSame =
    previous !== undefined &&
    previous.backends.length === backends.length &&
    backends.every((backend, at) => {
      const { source, tool: known } = previous.backends[at] as Backend;
      const isChoice = (backend === chosen) === (known === previous.tool);
      return isChoice && source === backend.source && isSameTool(known, backend.tool);
    });
  // An entry that did not change keeps its identity, so that search and caches leave it alone.
  if (isSame) return previous;
  const { namespace, version, definition } = tool;
  const name = version === undefined ? definition.name : `${definition.name}-${version}`;
  const prefix = wirePrefixOf(namespace);
  const wireName = toWireName(prefix, name);
  const folds = foldsOf(prefix, name, wireName);
  return { id, wireName, tool, backends, wireDefinition: { ...definition, name: wireName }, folds };
}

/** A server that lists again gives new objects; most are what they were. */
function isSameTool(a: Tool, b: Tool): boolean {
  return a === b || isDeepStrictEqual(a, b);
}

/**
 * A search whose documents are changed when somebody searches, or before: to
 * read the words of a thousand tools takes longer than to list them.
 */
function createPatientSearch(index: ToolSearch) {
  /** What each changed id is to be; `undefined` for what is gone. */
  const due = new Map<ToolId, IndexedTool | undefined>();
  return {
    index,
    set: (entry: IndexedTool) => void due.set(entry.id, entry),
    remove: (id: ToolId) => void due.set(id, undefined),
    takeUp(count: number): boolean {
      let left = count;
      for (const [id, entry] of due) {
        if (left <= 0) return true;
        left -= 1;
        due.delete(id);
        if (entry === undefined) index.remove(id);
        else index.add(toDocument(entry));
      }
      return due.size > 0;
    },
  };
}

/** Bring `search` from `before` to `after`. @returns the ids of the sources whose tools changed */
function updateSearch(
  search: ReturnType<typeof createPatientSearch>,
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
    // Toolcrib's own tools are not found; their words are not to weigh in what is.
    if (entry.tool.origin !== "meta") search.set(entry);
    note(entry);
    if (known !== undefined) note(known);
  }
  return changed;
}

function kindOf(source: ToolSource): BackendKind {
  if (source.origin === "server") return "mcp";
  return source.origin === "toolspec" ? "provider" : "local";
}

function toDocument({ id, tool }: IndexedTool): Parameters<ToolSearch["add"]>[0] {
  const { name, title, description, inputSchema } = tool.definition;
  return { id, name, title, namespace: tool.namespace, description, tags: tool.tags, inputSchema };
}
