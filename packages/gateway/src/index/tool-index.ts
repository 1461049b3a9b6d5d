/**
 * Every tool of every source under one index: by id, by wire name, and by
 * meaning. The index is a function of the sources in their configured order,
 * so names do not depend on which server starts first.
 *
 * It never calls a tool and never decides who may see one.
 */

import { createToolSearch, type ToolSearch } from "@toolcrib/search";
import type { Tool, ToolDefinition, ToolId, ToolSource, Unsubscribe } from "@toolcrib/tool";
import { foldName, toWireName } from "./wire-name.ts";

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
}

/** A tool that is not offered, and why. */
export interface QuarantinedTool {
  readonly id: ToolId;
  readonly reason: string;
}

/** The index. */
export interface ToolIndex {
  /** Grows with every change; what was listed under another number is stale. */
  readonly generation: number;
  /** In the order of sources and of their lists. */
  readonly tools: readonly IndexedTool[];
  readonly quarantined: readonly QuarantinedTool[];
  readonly search: ToolSearch;
  /** By `ToolId` (with or without its version) or wire name. */
  find(name: string): IndexedTool | undefined;
  /** The tool that source `sourceId` lists as `name`. */
  findIn(sourceId: string, name: string): IndexedTool | undefined;
  add(source: ToolSource): void;
  /** Forget a source and its tools. */
  remove(source: ToolSource): void;
  /** The listener runs after the index changed. */
  onChange(listener: () => void): Unsubscribe;
}

/** Wire names of Toolcrib's own tools have no prefix. */
const ownNamespace = "toolcrib";

/** Create an empty index. */
export function createToolIndex(
  options: {
    readonly selectBackend?: BackendSelector;
    readonly onQuarantine?: (tool: QuarantinedTool) => void;
  } = {},
): ToolIndex {
  const select = options.selectBackend ?? selectByKind;
  const sources: { readonly source: ToolSource; readonly unsubscribe: Unsubscribe }[] = [];
  const listeners = new Set<() => void>();
  const search = createToolSearch();
  let generation = 0;
  let tools: readonly IndexedTool[] = [];
  let quarantined: readonly QuarantinedTool[] = [];
  let byId = new Map<ToolId, IndexedTool>();
  let byName = new Map<string, IndexedTool>();

  function rebuild(): void {
    const built = build(
      sources.map(({ source }) => source),
      select,
      byId,
    );
    const known = new Set(quarantined.map(({ id }) => id));
    for (const one of built.quarantined) if (!known.has(one.id)) options.onQuarantine?.(one);
    for (const id of byId.keys()) if (!built.byId.has(id)) search.remove(id);
    for (const [id, entry] of built.byId) if (byId.get(id) !== entry) search.add(toDocument(entry));
    ({ byId, byName, quarantined } = built);
    tools = [...byId.values()];
    generation += 1;
    for (const listener of listeners) listener();
  }

  return {
    get generation() {
      return generation;
    },
    get tools() {
      return tools;
    },
    get quarantined() {
      return quarantined;
    },
    search,
    find: (name) => byId.get(name) ?? byName.get(name),
    findIn(sourceId, name) {
      for (const { source } of sources) {
        if (source.id !== sourceId) continue;
        const tool = source.tools().find(({ definition }) => definition.name === name);
        return tool === undefined ? undefined : byId.get(tool.id);
      }
      return undefined;
    },
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
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

interface Built {
  readonly byId: Map<ToolId, IndexedTool>;
  readonly byName: Map<string, IndexedTool>;
  readonly quarantined: QuarantinedTool[];
}

function build(
  sources: readonly ToolSource[],
  select: BackendSelector,
  previous: ReadonlyMap<ToolId, IndexedTool>,
): Built {
  const backends = new Map<ToolId, Backend[]>();
  for (const source of sources) {
    for (const tool of source.tools()) {
      const backend: Backend = { kind: kindOf(source), source, tool };
      const known = backends.get(tool.id);
      if (known === undefined) backends.set(tool.id, [backend]);
      else known.push(backend);
    }
  }
  const built: Built = { byId: new Map(), byName: new Map(), quarantined: [] };
  const folded = new Map<string, IndexedTool>();
  for (const [id, ofTool] of backends) {
    const entry = toEntry(id, ofTool, select, previous.get(id));
    const fold = foldName(entry.wireName);
    const other = folded.get(fold) ?? built.byName.get(entry.wireName);
    if (other !== undefined) {
      built.quarantined.push({
        id,
        reason: `its name cannot be told from "${other.id}", which was declared first`,
      });
      continue;
    }
    folded.set(fold, entry);
    built.byId.set(id, entry);
    built.byName.set(entry.wireName, entry);
    // An id with a version is found without it too; the first declared wins.
    const { namespace, version, definition } = entry.tool;
    const unversioned = `${namespace}:${definition.name}`;
    if (version !== undefined && !built.byName.has(unversioned)) built.byName.set(unversioned, entry);
  }
  return built;
}

function toEntry(
  id: ToolId,
  backends: readonly Backend[],
  select: BackendSelector,
  previous: IndexedTool | undefined,
): IndexedTool {
  const { tool } = (select(backends) ?? backends[0]) as Backend;
  const isSame =
    previous !== undefined &&
    previous.tool === tool &&
    previous.backends.length === backends.length &&
    previous.backends.every((backend, at) => backend.tool === backends[at]?.tool);
  // An entry that did not change keeps its identity, so that search and caches leave it alone.
  if (isSame) return previous;
  const { namespace, version, definition } = tool;
  const name = version === undefined ? definition.name : `${definition.name}-${version}`;
  const wireName = toWireName(namespace === ownNamespace ? "" : namespace, name);
  return { id, wireName, tool, backends, wireDefinition: { ...definition, name: wireName } };
}

function kindOf(source: ToolSource): BackendKind {
  if (source.origin === "server") return "mcp";
  return source.origin === "toolspec" ? "provider" : "local";
}

function toDocument({ id, tool }: IndexedTool): Parameters<ToolSearch["add"]>[0] {
  const { name, title, description, inputSchema } = tool.definition;
  return { id, name, title, namespace: tool.namespace, description, tags: tool.tags, inputSchema };
}
