/**
 * The gateway as composite tools see it: the tools that a caller may call,
 * hidden ones included, and calls of them through the governed call. Toolcrib's
 * own tools are not among them: a composite changes nothing of the gateway.
 */

import type { GatewayConfig, ToolServerConfig } from "@toolcrib/config";
import { hostsOf } from "@toolcrib/config";
import type { JsonObject } from "@toolcrib/json";
import type { Catalog, CatalogTool, MetatoolHost } from "@toolcrib/metatool";
import {
  type CallContext,
  foldName,
  type Identity,
  identityKey,
  type ToolId,
  type ToolResult,
} from "@toolcrib/tool";
import type { GatewayCore } from "../gateway-core.ts";
import { GatewayError } from "../gateway-error.ts";
import type { IndexedTool } from "../index/tool-index.ts";
import { foldsOf, savedNamespace, toWireName } from "../index/wire-name.ts";

/** What composites need of a gateway. */
export interface CompositeHost extends MetatoolHost {
  /** Every tool that composites could call, whoever asks. */
  wholeCatalog(): Catalog;
  mayUse(identity: Identity, id: ToolId, wireName: string): boolean;
}

/** Most identities whose catalogues are kept. */
const maxKept = 100;

/** Create the host over `core`. */
export function createCompositeHost(core: GatewayCore, config: GatewayConfig): CompositeHost {
  const { index, policy } = core;
  const owners = ownersOf(config);
  const described = new WeakMap<IndexedTool, CatalogTool>();
  const kept = new Map<string, Catalog>();
  let whole: Catalog = { generation: -1, tools: [] };

  function describe(entry: IndexedTool): CatalogTool {
    const known = described.get(entry);
    if (known !== undefined) return known;
    const tool = toCatalogTool(entry, owners.get(entry.tool.sourceId));
    described.set(entry, tool);
    return tool;
  }

  function wholeCatalog(): Catalog {
    const { generation } = index;
    if (whole.generation !== generation) {
      const callable = index.tools.filter(({ tool }) => tool.origin !== "meta");
      whole = { generation, tools: callable.map(describe) };
      kept.clear();
    }
    return whole;
  }

  const mayUse = (identity: Identity, id: ToolId, wireName: string) =>
    policy.decide(identity, id, wireName).kind === "allow";

  return {
    wholeCatalog,
    mayUse,
    catalog(identity) {
      const { generation, tools } = wholeCatalog();
      const key = identityKey(identity);
      const known = kept.get(key);
      if (known !== undefined) return known;
      const own = { generation, tools: tools.filter(({ id, wireName }) => mayUse(identity, id, wireName)) };
      if (kept.size >= maxKept) kept.clear();
      kept.set(key, own);
      return own;
    },
    async callTool(context: CallContext, id: ToolId, args: JsonObject): Promise<ToolResult> {
      if (index.find(id)?.tool.origin === "meta") {
        throw new GatewayError("TOOL_NOT_FOUND", `A composite cannot call "${id}"`, {
          hint: "it changes nothing of the gateway; call what the tool is about",
        });
      }
      return core.callInner(context, id, args);
    },
    isNameTaken(name) {
      if (isOfOwner(name, owners)) return true;
      const folds = new Set(foldsOf("", name, toWireName("", name)));
      return index.tools.some(
        ({ tool, folds: others }) => tool.origin !== "saved" && others.some((fold) => folds.has(fold)),
      );
    },
  };
}

/** What a tool server or toolspec says of all its tools. */
interface Owner {
  readonly labels: { readonly [key: string]: string };
  /** The hosts that its tools talk to; undefined for a process, which may talk to any. */
  readonly egressHosts: readonly string[] | undefined;
}

function ownersOf({ toolServers, toolspecs }: GatewayConfig): ReadonlyMap<string, Owner> {
  const owners = new Map<string, Owner>();
  for (const server of toolServers) {
    owners.set(server.id, { labels: server.labels, egressHosts: egressHostsOf(server) });
  }
  for (const toolspec of toolspecs) {
    const hosts = toolspec.pair === undefined ? [] : [...hostsOf(toolspec.pair.toolspec, toolspec)];
    owners.set(toolspec.id, { labels: toolspec.labels, egressHosts: hosts });
  }
  return owners;
}

/** Whether `name` is written like a tool of a server or toolspec, which may not have listed it yet. */
function isOfOwner(name: string, owners: ReadonlyMap<string, Owner>): boolean {
  const at = name.indexOf("__");
  if (at === -1) return false;
  const prefix = foldName(name.slice(0, at));
  return prefix === foldName(savedNamespace) || [...owners.keys()].some((id) => foldName(id) === prefix);
}

function toCatalogTool({ id, wireName, tool }: IndexedTool, owner: Owner | undefined): CatalogTool {
  const { namespace, origin, definition } = tool;
  const { name, description, inputSchema, outputSchema, annotations } = definition;
  const egressHosts = owner?.egressHosts;
  return {
    id,
    namespace,
    name,
    wireName,
    origin,
    description,
    inputSchema,
    outputSchema,
    annotations,
    labels: owner?.labels ?? {},
    ...(egressHosts === undefined ? undefined : { egressHosts }),
  };
}

/** The host that a server is at; undefined for a process, which may talk to any. */
function egressHostsOf({ transport }: ToolServerConfig): readonly string[] | undefined {
  if (transport.kind === "stdio") return undefined;
  const { url } = transport;
  const text = url.kind === "literal" ? url.text.trim() : "";
  return URL.canParse(text) ? [new URL(text).hostname] : undefined;
}
