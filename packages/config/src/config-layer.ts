/**
 * One file as a layer of the configuration: its declarations, before defaults
 * and before other files. A layer with errors still reports its ids, so that
 * problems between files are found in the same run.
 */

import { type Diagnostic, hasErrors, type Source, type Span } from "@toolcrib/diagnostics";
import {
  type DocumentNode,
  fieldOf,
  type MapEntry,
  nodeAt,
  openDocument,
  Reporter,
  stringOf,
} from "@toolcrib/document";
import { withCompleteAnchor } from "./audit-shape.ts";
import { configKind } from "./config-kind.ts";
import type { ContainmentConfig, ToolServerConfig, ToolspecConfig } from "./config-types.ts";
import { type ConfigDocument, documentShape } from "./document-shape.ts";
import { withCompletePaths } from "./egress-shape.ts";
import {
  foreignServersOf,
  parseForeignServers,
  upstreamServers,
  upstreamServersOf,
} from "./foreign-config.ts";
import { type HooksLayer, toHooksLayer } from "./hooks-shape.ts";
import { withCompletePackagePaths } from "./packages-shape.ts";
import { withCompletePolicyPaths } from "./policy-shape.ts";
import { withCompleteFolders } from "./registries-shape.ts";
import { withCompleteSecretPath } from "./search-shape.ts";
import { toServerDeclaration } from "./server-declaration.ts";
import { withCompleteTelemetryPaths } from "./telemetry-shape.ts";
import { maxToolServers } from "./tool-server-shape.ts";
import { toolspecIdOf, toToolspecDeclaration } from "./toolspec-declaration.ts";
import { maxToolspecs, toolspecShape } from "./toolspec-shape.ts";

/** A tool server as its file declares it. The effective containment follows from all files. */
export interface ServerDeclaration extends Omit<ToolServerConfig, "containment" | "notEnforced"> {
  readonly declared: Partial<ContainmentConfig>;
  readonly node: DocumentNode;
}

/** A toolspec as its file declares it. */
export interface ToolspecDeclaration extends ToolspecConfig {
  /** Whether the file gives the id; otherwise the id is a guess until the manifest is read. */
  readonly isIdGiven: boolean;
  readonly node: DocumentNode;
}

/** An id and its place. */
export interface PlacedId {
  readonly id: string;
  readonly span: Span;
}

/** The declarations of one file. `parseConfigLayer` creates it, `mergeConfigs` composes several. */
export interface ConfigLayer {
  /** The text that findings quote: stars replace credentials. */
  readonly source: Source;
  readonly diagnostics: readonly Diagnostic[];
  /** Empty when the file has errors. */
  readonly servers: readonly ServerDeclaration[];
  /** The valid entries, also when the file has errors elsewhere. */
  readonly toolspecs: readonly ToolspecDeclaration[];
  /** Sections as written, with complete paths; empty when the file has errors. */
  readonly sections: Pick<
    ConfigDocument,
    | "egress"
    | "guards"
    | "packages"
    | "policy"
    | "serve"
    | "profiles"
    | "tools"
    | "audit"
    | "telemetry"
    | "tests"
    | "execution"
    | "sandbox"
    | "registries"
    | "search"
  > & { readonly hooks?: HooksLayer | undefined };
  /** Ids of all tool servers, toolspecs and provider targets, including invalid ones. */
  readonly serverIds: readonly PlacedId[];
  readonly toolspecIds: readonly PlacedId[];
  /** All tool servers, including invalid ones. */
  readonly serverNodes: readonly DocumentNode[];
  readonly targetIds: readonly PlacedId[];
  readonly tree: DocumentNode | undefined;
}

/** Parses one file: Toolcrib's own configuration, or that of another MCP host. The content decides which. */
export function parseConfigLayer(source: Source): ConfigLayer {
  const { tree, reporter } = openDocument(source, configKind);
  const foreign = tree === undefined ? undefined : foreignServersOf(tree);
  if (foreign === undefined) return nativeLayer(tree, reporter);
  const servers = parseForeignServers(foreign, reporter);
  return {
    source: reporter.source,
    diagnostics: reporter.diagnostics,
    servers: hasErrors(reporter.diagnostics) ? [] : servers,
    toolspecs: [],
    sections: {},
    serverIds: servers.map(({ id, span }) => ({ id, span })),
    toolspecIds: [],
    serverNodes: foreignNodesOf(foreign),
    targetIds: [],
    tree,
  };
}

function nativeLayer(whole: DocumentNode | undefined, reporter: Reporter): ConfigLayer {
  const place = { path: "", key: "", keySpan: { start: 0, end: 1 }, reporter };
  const upstream = whole === undefined ? undefined : upstreamServersOf(whole);
  const foreign = upstream === undefined ? [] : parseForeignServers(upstream, reporter);
  const tree = upstream === undefined ? whole : withoutUpstream(whole);
  const document = tree === undefined ? {} : documentShape.check(tree, place);
  const isValid = document !== undefined && !hasErrors(reporter.diagnostics);
  const serverNodes = itemsOf(nodeAt(tree, ["tool_servers"]), maxToolServers);
  const toolspecNodes = itemsOf(nodeAt(tree, ["toolspecs"]), maxToolspecs);
  return {
    source: reporter.source,
    diagnostics: reporter.diagnostics,
    servers: isValid
      ? (document.tool_servers ?? [])
          .map((server, index) =>
            toServerDeclaration(server, serverNodes[index] as DocumentNode, reporter.source),
          )
          .concat(foreign)
      : [],
    toolspecs: toolspecNodes.flatMap((node) => validToolspec(node, reporter.source)),
    sections: isValid ? sectionsOf(document, tree, reporter.source) : {},
    serverIds: [...idsOf(serverNodes), ...foreign.map(({ id, span }) => ({ id, span }))],
    toolspecIds: toolspecNodes.flatMap((node) => toolspecIdOf(node) ?? []),
    serverNodes: [...serverNodes, ...(upstream === undefined ? [] : foreignNodesOf(upstream))],
    targetIds: idsOf(itemsOf(nodeAt(tree, ["providers", "targets"]), maxToolServers)),
    tree,
  };
}

function foreignNodesOf({ value }: MapEntry): readonly DocumentNode[] {
  const nodes =
    value.kind === "map" ? value.entries.map((entry) => entry.value) : itemsOf(value, maxToolServers);
  return nodes.slice(0, maxToolServers);
}

function withoutUpstream(tree: DocumentNode | undefined): DocumentNode | undefined {
  if (tree?.kind !== "map") return tree;
  return { ...tree, entries: tree.entries.filter(({ key }) => key !== upstreamServers) };
}

/** Returns every section that is not a list of entries. */
function sectionsOf(
  document: ConfigDocument,
  tree: DocumentNode | undefined,
  source: Source,
): ConfigLayer["sections"] {
  const { tool_servers: _servers, toolspecs: _toolspecs, ...sections } = document;
  return {
    ...sections,
    egress: withCompletePaths(sections.egress, source.name),
    packages: withCompletePackagePaths(sections.packages, source.name),
    policy: withCompletePolicyPaths(sections.policy, source.name),
    hooks: toHooksLayer(sections.hooks, nodeAt(tree, ["hooks"]), source),
    audit: withCompleteAnchor(sections.audit, source.name),
    telemetry: withCompleteTelemetryPaths(sections.telemetry, source.name),
    search: withCompleteSecretPath(sections.search, source.name),
    registries: withCompleteFolders(sections.registries, source.name),
  };
}

/** Returns the declaration of `node` if it is valid. The findings of an invalid one are reported with the document. */
function validToolspec(node: DocumentNode, source: Source): readonly ToolspecDeclaration[] {
  const reporter = new Reporter(source, configKind);
  const document = toolspecShape.check(node, { path: "toolspecs", key: "", keySpan: node.span, reporter });
  if (document === undefined || hasErrors(reporter.diagnostics)) return [];
  return [toToolspecDeclaration(document, node, source)];
}

function itemsOf(node: DocumentNode | undefined, maxItems: number): readonly DocumentNode[] {
  return node?.kind === "list" ? node.items.slice(0, maxItems) : [];
}

function idsOf(nodes: readonly DocumentNode[]): readonly PlacedId[] {
  return nodes.flatMap((node) => {
    const idNode = fieldOf(node, "id");
    const id = stringOf(idNode)?.trim() ?? "";
    return idNode === undefined || id === "" ? [] : [{ id, span: idNode.span }];
  });
}
