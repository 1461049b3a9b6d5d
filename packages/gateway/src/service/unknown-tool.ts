/**
 * What a client is told that calls a tool which is not there: that its server
 * is not ready, that the tool is quarantined, or which one was meant. Only what
 * the client may use is ever named.
 */

import type { Identity, ToolSource } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import type { IndexedTool, ToolIndex } from "../index/tool-index.ts";
import type { ToolPolicy } from "../tool-policy.ts";

/** What the answer is made from. */
export interface UnknownToolDeps {
  readonly index: ToolIndex;
  readonly policy: ToolPolicy;
  /** The servers, ready or not. */
  readonly servers: () => readonly ToolSource[];
  /** Whether `identity` may find a tool. */
  readonly isFound: (identity: Identity, entry: IndexedTool) => boolean;
}

/** Makes the error for a name. `serverId`: in the view of one server, where names have no prefix. */
export type UnknownTool = (identity: Identity, name: string, serverId?: string) => GatewayError;

const invalidParams = -32602;
/** Longest part of an unknown name that is looked for and repeated. */
const nameMaxLength = 200;

/** Create the maker of errors. */
export function createUnknownTool(deps: UnknownToolDeps): UnknownTool {
  const { index, policy } = deps;

  function hintFor(identity: Identity, name: string, serverId: string | undefined): string {
    const held = index.quarantined.find((one) => one.id === name || one.wireName === name);
    if (held !== undefined && policy.decide(identity, held.id, held.wireName).kind === "allow") {
      return `it is quarantined: ${held.reason}`;
    }
    const server = deps.servers().find(({ id }) => isOf(id, name, serverId));
    const state = server?.health().state;
    if (state === "starting") return `the server "${server?.id}" is starting; try again`;
    if (state === "unavailable" || state === "stopped") return `the server "${server?.id}" is not available`;
    const hit = similar(identity, name, serverId);
    const meant = serverId === undefined ? hit?.wireName : hit?.tool.definition.name;
    return meant === undefined ? "see tools/list, or search_tools" : `did you mean "${meant}"?`;
  }

  function similar(identity: Identity, name: string, serverId: string | undefined): IndexedTool | undefined {
    const filter = (id: string) => {
      const entry = index.find(id);
      if (entry === undefined || !deps.isFound(identity, entry)) return false;
      return serverId === undefined || entry.tool.sourceId === serverId;
    };
    // What follows the server's name says what is meant.
    const words = name.replace(/^.*?(?:__|:)/, "").replace(/[_:.-]+/g, " ");
    const hit = index.search.search(words, { limit: 1, filter })[0];
    return hit === undefined ? undefined : index.find(hit.id);
  }

  return (identity, name, serverId) => {
    const shown = name.slice(0, nameMaxLength);
    return new GatewayError("TOOL_NOT_FOUND", `Unknown tool: "${shown}"`, {
      rpcCode: invalidParams,
      hint: hintFor(identity, shown, serverId),
    });
  };
}

function isOf(id: string, name: string, serverId: string | undefined): boolean {
  if (serverId !== undefined) return id === serverId;
  return name.startsWith(`${id}__`) || name.startsWith(`${id}:`);
}
