/**
 * Errors for calls of tools that do not exist: the hint says that the server is
 * not ready, that the tool is quarantined, or which tool was meant. It names
 * only tools that the client may use.
 */

import type { ToolPolicy } from "@toolcrib/policy";
import { type Identity, isListedFor } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import type { IndexedTool } from "../index/build-index.ts";
import type { ToolIndex } from "../index/tool-index.ts";
import type { SourceRoster } from "../sources/source-roster.ts";
import { invalidParams } from "./request-params.ts";
import type { Visibility } from "./visibility.ts";

/** Dependencies of the errors. */
export interface UnknownToolsDeps {
  readonly index: ToolIndex;
  readonly policy: ToolPolicy;
  readonly roster: Pick<SourceRoster, "entries">;
  readonly visibility: Pick<Visibility, "isVisible">;
  /** Whether search may return a tool to `identity`. */
  readonly isFound: (identity: Identity, entry: IndexedTool) => boolean;
}

/** Longest part of an unknown name that is searched for and repeated. */
const nameMaxLength = 200;

/** Makes errors for unknown tools. */
export class UnknownTools {
  readonly #deps: UnknownToolsDeps;

  constructor(deps: UnknownToolsDeps) {
    this.#deps = deps;
  }

  /** Returns the error for `name`. @param serverId in the view of one server, where names have no prefix */
  errorFor(identity: Identity, name: string, serverId?: string): GatewayError {
    const shown = name.slice(0, nameMaxLength);
    return new GatewayError("TOOL_NOT_FOUND", `Unknown tool: "${shown}"`, {
      rpcCode: invalidParams,
      hint: this.#hintFor(identity, shown, serverId),
    });
  }

  #hintFor(identity: Identity, name: string, serverId: string | undefined): string {
    const { index, policy, roster, visibility } = this.#deps;
    const held = index.quarantined.find((one) => one.id === name || one.wireName === name);
    const isHeld = held !== undefined && isListedFor(held.tool, identity);
    if (isHeld && policy.decide(identity, held.id, held.wireName).kind === "allow") {
      return `it is quarantined: ${held.reason}`;
    }
    const server = roster.entries.find(
      ({ id }) => isNameOf(id, name, serverId) && visibility.isVisible(identity, id),
    );
    const state = server?.source.health().state;
    if (state === "starting") return `the server "${server?.id}" is starting; try again`;
    if (state === "unavailable" || state === "stopped") return `the server "${server?.id}" is not available`;
    const hit = this.#similarTool(identity, name, serverId);
    const meant = serverId === undefined ? hit?.wireName : hit?.tool.definition.name;
    return meant === undefined ? "see tools/list, or search_tools" : `did you mean "${meant}"?`;
  }

  #similarTool(identity: Identity, name: string, serverId: string | undefined): IndexedTool | undefined {
    const { index, isFound } = this.#deps;
    const filter = (id: string) => {
      const entry = index.find(id);
      if (entry === undefined || !isFound(identity, entry)) return false;
      return serverId === undefined || entry.tool.sourceId === serverId;
    };
    // The part after the server's name says what is meant.
    const words = name.replace(/^.*?(?:__|:)/, "").replace(/[_:.-]+/g, " ");
    const hit = index.search.search(words, { limit: 1, filter })[0];
    return hit === undefined ? undefined : index.find(hit.id);
  }
}

function isNameOf(id: string, name: string, serverId: string | undefined): boolean {
  if (serverId !== undefined) return id === serverId;
  return name.startsWith(`${id}__`) || name.startsWith(`${id}:`);
}
