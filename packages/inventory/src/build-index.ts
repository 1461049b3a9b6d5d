/**
 * The index as a function of the sources in their order, so that names do not
 * depend on which server starts first. An entry whose definition did not change
 * keeps its identity: a change of one tool among thousands costs a comparison
 * and not a new index. Pure, except for `HoldTool`.
 */

import { isJsonObject, isSameJson } from "@toolcrib/json";
import { believedAnnotations } from "@toolcrib/policy";
import type { HeldReason } from "@toolcrib/store";
import {
  checkDefinition,
  formatProblems,
  savedNamespace,
  type Tool,
  type ToolDefinition,
  type ToolId,
  type ToolSource,
  toToolId,
} from "@toolcrib/tool";
import { withWirePage } from "./app-resources.ts";
import type { Backend, BackendSelector } from "./backend.ts";
import type { SourceFacts } from "./source-facts.ts";
import { foldsOf, toWireName, wirePrefixOf } from "./wire-name.ts";

/** A tool in the index. */
export interface IndexedTool {
  readonly id: ToolId;
  /** Name on the wire of the endpoint that shows all servers: that of policies, approvals and the audit trail. */
  readonly wireName: string;
  /** The name that clients are shown there: `wireName`, unless the operator gave it another one. */
  readonly listedName: string;
  /** The tool of the backend that the selector prefers. */
  readonly tool: Tool;
  /** The source of that backend. */
  readonly source: ToolSource;
  /** Facts about that source. */
  readonly facts: SourceFacts;
  readonly backends: readonly Backend[];
  /** The definition that clients are shown, with its own name: its annotations are those that the gateway believes, and the operator can have changed it. */
  readonly shownDefinition: ToolDefinition;
  /** The same with `listedName` in place of the source's own name. */
  readonly wireDefinition: ToolDefinition;
  /** Folded forms of its name (`foldsOf`). */
  readonly folds: readonly string[];
}

/** A tool that is not offered, and why. */
export interface QuarantinedTool {
  readonly id: ToolId;
  readonly wireName: string;
  readonly tool: Tool;
  readonly code: "TOOL_NAME_COLLISION" | "TOOL_DEFINITION_INVALID" | HeldReason["code"];
  /** Path of the first member that breaks a rule. */
  readonly member?: string | undefined;
  readonly reason: string;
  /** The digest of the accepted definition, for a tool whose definition changed. */
  readonly previousDigest?: string | undefined;
}

/** Returns why a well-formed tool is held back; undefined for one that is offered. */
export type HoldTool = (tool: Tool, facts: SourceFacts) => HeldReason | undefined;

/** Returns a definition as the operator wants clients to see it, with its own name. @param wireName of the tool as its server names it */
export type OverrideDefinition = (definition: ToolDefinition, tool: Tool, wireName: string) => ToolDefinition;

/** A source, and the facts about it. */
export interface IndexedSource {
  readonly source: ToolSource;
  readonly facts: SourceFacts;
}

/** One state of the index. */
export interface BuiltIndex {
  readonly byId: ReadonlyMap<ToolId, IndexedTool>;
  readonly byName: ReadonlyMap<string, IndexedTool>;
  /** By source id and the source's own name. */
  readonly bySource: ReadonlyMap<string, ReadonlyMap<string, IndexedTool>>;
  readonly quarantined: readonly QuarantinedTool[];
}

/** The index of no sources. */
export const emptyIndex: BuiltIndex = {
  byId: new Map(),
  byName: new Map(),
  bySource: new Map(),
  quarantined: [],
};

/** Builds the index of `sources`. @param previous entries that are kept where nothing changed */
export function buildIndex(
  sources: readonly IndexedSource[],
  how: {
    readonly select: BackendSelector;
    readonly hold: HoldTool;
    readonly override?: OverrideDefinition | undefined;
  },
  previous: ReadonlyMap<ToolId, IndexedTool>,
): BuiltIndex {
  const byId = new Map<ToolId, IndexedTool>();
  const byName = new Map<string, IndexedTool>();
  const bySource = new Map<string, Map<string, IndexedTool>>();
  const folded = new Map<string, IndexedTool>();
  const quarantined: QuarantinedTool[] = [];
  for (const [id, backends] of backendsOf(sources, how.hold, quarantined)) {
    const entry = toEntry(id, backends, how, previous.get(id));
    const { wireName, listedName, tool, folds } = entry;
    const other = collisionOf(entry, folded, byName);
    if (other !== undefined) {
      const reason = `"${id}" is too similar to "${other.id}", which was declared first`;
      quarantined.push({ id, wireName, tool, code: "TOOL_NAME_COLLISION", reason });
      continue;
    }
    for (const fold of folds) folded.set(fold, entry);
    byId.set(id, entry);
    byName.set(listedName, entry);
    if (!byName.has(wireName)) byName.set(wireName, entry);
    for (const alias of aliasesOf(tool, entry.facts)) if (!byName.has(alias)) byName.set(alias, entry);
    for (const { source, tool: own } of backends) {
      const ofSource = bySource.get(source.id) ?? new Map<string, IndexedTool>();
      bySource.set(source.id, ofSource);
      for (const name of [own.definition.name, entry.shownDefinition.name]) {
        if (!ofSource.has(name)) ofSource.set(name, entry);
      }
    }
  }
  return { byId, byName, bySource, quarantined };
}

/** Returns further names under which a tool can be called, unless an earlier tool has them. */
function aliasesOf(
  { namespace, version, definition }: Tool,
  { isSingleTool }: SourceFacts,
): readonly string[] {
  // Its name on the wire can be a shortened one.
  const aliases: string[] = isSingleTool ? [namespace] : [];
  if (version !== undefined) aliases.push(toToolId(namespace, definition.name));
  if (namespace === savedNamespace) aliases.push(toWireName(savedNamespace, definition.name));
  return aliases;
}

interface BackendOfSource extends Backend {
  readonly facts: SourceFacts;
}

/** The tools of `sources` that are offered, by their ids; adds the others to `quarantined`. */
function backendsOf(
  sources: readonly IndexedSource[],
  hold: HoldTool,
  quarantined: QuarantinedTool[],
): ReadonlyMap<ToolId, BackendOfSource[]> {
  const backends = new Map<ToolId, BackendOfSource[]>();
  for (const { source, facts } of sources) {
    for (const tool of source.tools()) {
      const malformed = malformationOf(tool);
      if (malformed !== undefined) {
        quarantined.push(toMalformed(tool, facts, malformed));
        continue;
      }
      const held = hold(tool, facts);
      if (held !== undefined) {
        quarantined.push({ wireName: wireNameOf(tool, facts), tool, ...held });
        continue;
      }
      const backend = { kind: facts.backendKind, source, tool, facts };
      const known = backends.get(tool.id);
      if (known === undefined) backends.set(tool.id, [backend]);
      else known.push(backend);
    }
  }
  return backends;
}

/** The problems of a malformed definition. */
interface Malformation {
  /** Path of the first member that breaks a rule. */
  readonly member: string | undefined;
  readonly problems: string;
}

/** The problems of checked definitions; `undefined` for a sound one. */
const malformations = new WeakMap<ToolDefinition, Malformation | undefined>();

/** Returns the problems of the definition of `tool`. A definition is checked once. */
function malformationOf({ definition }: Tool): Malformation | undefined {
  const known = malformations.get(definition);
  if (known !== undefined || malformations.has(definition)) return known;
  const problems = checkDefinition("tool", definition);
  const found =
    problems.length === 0 ? undefined : { member: problems[0]?.member, problems: formatProblems(problems) };
  malformations.set(definition, found);
  return found;
}

function toMalformed(tool: Tool, facts: SourceFacts, { member, problems }: Malformation): QuarantinedTool {
  const { id } = tool;
  const wireName = wireNameOf(tool, facts);
  const reason = `"${id}" is malformed: ${problems}`;
  return { id, wireName, tool, code: "TOOL_DEFINITION_INVALID", member, reason };
}

function wireNameOf({ namespace, version, definition }: Tool, { isSingleTool }: SourceFacts): string {
  if (isSingleTool) return toWireName("", namespace);
  const name = version === undefined ? definition.name : `${definition.name}-${version}`;
  return toWireName(wirePrefixOf(namespace), name);
}

function collisionOf(
  { folds, listedName }: IndexedTool,
  folded: ReadonlyMap<string, IndexedTool>,
  byName: ReadonlyMap<string, IndexedTool>,
): IndexedTool | undefined {
  for (const fold of folds) {
    const other = folded.get(fold);
    if (other !== undefined) return other;
  }
  return byName.get(listedName);
}

function toEntry(
  id: ToolId,
  backends: readonly BackendOfSource[],
  { select, override }: Pick<Parameters<typeof buildIndex>[1], "select" | "override">,
  previous: IndexedTool | undefined,
): IndexedTool {
  const chosen =
    backends.length === 1 ? 0 : (backends as readonly Backend[]).indexOf(select(backends) as Backend);
  const { tool, source, facts } = backends[Math.max(0, chosen)] as BackendOfSource;
  if (previous !== undefined && previous.facts === facts && isSameEntry(previous, backends, source)) {
    return previous;
  }
  const { namespace, version, definition } = tool;
  const name = version === undefined ? definition.name : `${definition.name}-${version}`;
  const wireName = wireNameOf(tool, facts);
  const prefix = wirePrefixOf(namespace);
  const believed = withTaskSupport(asBelieved(definition, facts), source);
  const shownDefinition = override === undefined ? believed : override(believed, tool, wireName);
  const own = shownDefinition.name;
  const listedName = own === definition.name ? wireName : toWireName(prefix, own);
  const folds = new Set(foldsOf(prefix, name, wireName));
  if (listedName !== wireName) for (const fold of foldsOf(prefix, own, listedName)) folds.add(fold);
  const wireDefinition = { ...withWirePage(shownDefinition, source.id), name: listedName };
  return {
    ...{ id, wireName, listedName, tool, source, facts, backends, shownDefinition, wireDefinition },
    folds: [...folds],
  };
}

/**
 * Adds to the tools of a server with the tasks extension (2026-07-28) that calls of them can be tasks, which clients of
 * 2025-11-25 look for in the definition.
 */
function withTaskSupport(definition: ToolDefinition, { features }: ToolSource): ToolDefinition {
  const { extensions } = features?.capabilities() ?? {};
  const hasTasks = isJsonObject(extensions) && extensions["io.modelcontextprotocol/tasks"] !== undefined;
  if (!hasTasks || definition.execution !== undefined) return definition;
  return { ...definition, execution: { taskSupport: "optional" } };
}

function asBelieved(definition: ToolDefinition, { trust }: SourceFacts): ToolDefinition {
  const annotations =
    trust === undefined ? definition.annotations : believedAnnotations(trust, definition.annotations);
  return annotations === definition.annotations ? definition : { ...definition, annotations };
}

function isSameEntry(previous: IndexedTool, backends: readonly Backend[], source: ToolSource): boolean {
  return (
    previous.source === source &&
    previous.backends.length === backends.length &&
    backends.every((backend, at) => {
      const known = previous.backends[at] as Backend;
      return known.source === backend.source && isSameTool(known.tool, backend.tool);
    })
  );
}

/** Compares by content: a server that lists again returns new objects for unchanged tools. */
function isSameTool(a: Tool, b: Tool): boolean {
  return a === b || isSameJson(a, b);
}
