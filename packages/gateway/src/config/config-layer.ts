/**
 * One file as a layer of the configuration: what it declares, before defaults
 * and before other files. A layer with errors still tells its ids, so that
 * problems between files are found in the same run.
 */

import { type Diagnostic, hasErrors, type Source, type Span } from "@toolcrib/diagnostics";
import { type ConfigNode, fieldOf, nodeAt, stringOf } from "./config-tree.ts";
import type { ContainmentConfig, ToolServerConfig } from "./config-types.ts";
import { type ConfigDocument, documentShape } from "./document-shape.ts";
import {
  foreignServersOf,
  parseForeignServers,
  upstreamServers,
  upstreamServersOf,
} from "./foreign-config.ts";
import { parseTree } from "./parse-tree.ts";
import type { Reporter } from "./reporter.ts";
import { toServerDeclaration } from "./server-declaration.ts";
import { maxToolServers } from "./tool-server-shape.ts";

/** A tool server as its file declares it; what holds follows from all files. */
export interface ServerDeclaration extends Omit<ToolServerConfig, "containment" | "notEnforced"> {
  readonly declared: Partial<ContainmentConfig>;
  readonly node: ConfigNode;
}

/** An id and where it stands. */
export interface PlacedId {
  readonly id: string;
  readonly span: Span;
}

/** What one file declares. Made by `parseConfigLayer`, composed by `mergeConfigs`. */
export interface ConfigLayer {
  /** The text that may be shown: credentials are starred out. */
  readonly source: Source;
  readonly diagnostics: readonly Diagnostic[];
  /** Empty when the file has errors. */
  readonly servers: readonly ServerDeclaration[];
  /** Sections as they are written; empty when the file has errors. */
  readonly sections: Pick<ConfigDocument, "policy" | "serve" | "audit" | "execution">;
  /** Ids of all tool servers and provider targets, of faulty ones too. */
  readonly serverIds: readonly PlacedId[];
  readonly targetIds: readonly PlacedId[];
  readonly tree: ConfigNode | undefined;
}

/** Read one file: Toolcrib's own configuration, or that of another MCP host (told apart by content). */
export function parseConfigLayer(source: Source): ConfigLayer {
  const { tree, reporter } = parseTree(source);
  const foreign = tree === undefined ? undefined : foreignServersOf(tree);
  if (foreign === undefined) return nativeLayer(tree, reporter);
  const servers = parseForeignServers(foreign, reporter);
  return {
    source: reporter.source,
    diagnostics: reporter.diagnostics,
    servers: hasErrors(reporter.diagnostics) ? [] : servers,
    sections: {},
    serverIds: servers.map(({ id, span }) => ({ id, span })),
    targetIds: [],
    tree,
  };
}

function nativeLayer(whole: ConfigNode | undefined, reporter: Reporter): ConfigLayer {
  const place = { path: "", key: "", keySpan: { start: 0, end: 1 }, reporter };
  const upstream = whole === undefined ? undefined : upstreamServersOf(whole);
  const foreign = upstream === undefined ? [] : parseForeignServers(upstream, reporter);
  const tree = upstream === undefined ? whole : withoutUpstream(whole);
  const document = tree === undefined ? {} : documentShape.check(tree, place);
  const isSound = document !== undefined && !hasErrors(reporter.diagnostics);
  const serverNodes = itemsOf(nodeAt(tree, ["tool_servers"]));
  return {
    source: reporter.source,
    diagnostics: reporter.diagnostics,
    servers: isSound
      ? (document.tool_servers ?? [])
          .map((server, index) =>
            toServerDeclaration(server, serverNodes[index] as ConfigNode, reporter.source),
          )
          .concat(foreign)
      : [],
    sections: isSound ? sectionsOf(document) : {},
    serverIds: [...idsOf(serverNodes), ...foreign.map(({ id, span }) => ({ id, span }))],
    targetIds: idsOf(itemsOf(nodeAt(tree, ["providers", "targets"]))),
    tree,
  };
}

function withoutUpstream(tree: ConfigNode | undefined): ConfigNode | undefined {
  if (tree?.kind !== "map") return tree;
  return { ...tree, entries: tree.entries.filter(({ key }) => key !== upstreamServers) };
}

function sectionsOf({ policy, serve, audit, execution }: ConfigDocument): ConfigLayer["sections"] {
  return { policy, serve, audit, execution };
}

function itemsOf(node: ConfigNode | undefined): readonly ConfigNode[] {
  return node?.kind === "list" ? node.items.slice(0, maxToolServers) : [];
}

function idsOf(nodes: readonly ConfigNode[]): readonly PlacedId[] {
  return nodes.flatMap((node) => {
    const idNode = fieldOf(node, "id");
    const id = stringOf(idNode)?.trim() ?? "";
    return idNode === undefined || id === "" ? [] : [{ id, span: idNode.span }];
  });
}
