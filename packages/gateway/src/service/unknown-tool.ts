/**
 * Errors for calls of tools that are not offered. A tool that exists is
 * explained: its server is not ready, it is quarantined, or its source does not
 * enable it. For other names the hint says which tool was meant. The errors name
 * only tools and sources that the client may use.
 */

import { isNotApproved } from "@toolcrib/admission";
import { nearestName } from "@toolcrib/diagnostics";
import type { IndexedTool, RosterEntry, SourceRoster, ToolIndex, Visibility } from "@toolcrib/inventory";
import { type GatewayPolicy, unknownSubject } from "@toolcrib/inventory";
import type { TextScrubber } from "@toolcrib/redaction";
import { type Identity, isListedFor, isOperator } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import { engineFailed } from "./outcome-to-wire.ts";
import { invalidParams } from "./request-params.ts";

/** Dependencies of the errors. */
export interface UnknownToolsDeps {
  readonly index: ToolIndex;
  readonly policy: GatewayPolicy;
  readonly roster: Pick<SourceRoster, "entries">;
  readonly visibility: Pick<Visibility, "isVisible">;
  /** Whether search may return a tool to `identity`. */
  readonly isFound: (identity: Identity, entry: IndexedTool) => boolean;
  readonly scrubber: Pick<TextScrubber, "text">;
}

/** Longest part of an unknown name that is searched for and repeated. @limit client */
const nameMaxLength = 200;

/** Makes errors for tools that are not offered. */
export class UnknownTools {
  readonly #deps: UnknownToolsDeps;

  constructor(deps: UnknownToolsDeps) {
    this.#deps = deps;
  }

  /**
   * Returns the error for `name`: `TOOL_UNAVAILABLE` with the reason, `POLICY_UNAVAILABLE`, or `TOOL_NOT_FOUND`.
   *
   * @param serverId in the view of one server, where names have no prefix
   */
  errorFor(identity: Identity, name: string, serverId?: string): GatewayError {
    const [shown, data] = [name.slice(0, nameMaxLength), { rpcCode: invalidParams }];
    const reason = this.reasonFor(identity, shown, serverId);
    if (reason !== undefined)
      return new GatewayError("TOOL_UNAVAILABLE", `The tool "${shown}" cannot be called: ${reason}`, data);
    // Nothing decides what a client may know: the answer is the same for all names.
    if (this.#deps.policy.isDown && !isOperator(identity))
      return new GatewayError("POLICY_UNAVAILABLE", `"${shown}" was not called: ${engineFailed}`, data);
    const meant = this.#similarTool(identity, shown, serverId);
    const hint = meant === undefined ? "see tools/list, or search_tools" : `did you mean "${meant}"?`;
    return new GatewayError("TOOL_NOT_FOUND", `Unknown tool: "${shown}"`, { ...data, hint });
  }

  /**
   * Returns why a tool is not offered, or why a source named `name` offers none; undefined for an unknown name and
   * for one that `identity` may not use.
   *
   * @param serverId in the view of one server, where names have no prefix
   */
  reasonFor(identity: Identity, name: string, serverId?: string): string | undefined {
    const reason =
      this.#quarantineOf(identity, name, serverId) ??
      this.#switchOf(identity, name, serverId) ??
      this.#reasonOfSource(identity, name, serverId);
    // Reasons name definitions of servers, which can contain secrets.
    return reason === undefined ? undefined : this.#deps.scrubber.text(reason);
  }

  /** Returns that a tool is switched off, to clients that could use it otherwise. */
  #switchOf(identity: Identity, name: string, serverId: string | undefined): string | undefined {
    const { index, policy } = this.#deps;
    const entry = serverId === undefined ? index.find(name) : index.findIn(serverId, name);
    if (entry === undefined || !isListedFor(entry.tool, identity)) return undefined;
    const decision = policy.decide(identity, entry, "list");
    if (decision.kind === "allow" || !decision.rule.startsWith("switch.")) return undefined;
    return `it is disabled; ${decision.hint}`;
  }

  #quarantineOf(identity: Identity, name: string, serverId: string | undefined): string | undefined {
    const { index, policy, roster } = this.#deps;
    const held = index.quarantined.find(({ id, wireName, tool }) =>
      serverId === undefined
        ? id === name || wireName === name
        : tool.sourceId === serverId && tool.definition.name === name,
    );
    if (held === undefined || !isListedFor(held.tool, identity)) return undefined;
    const { tool, id, wireName } = held;
    const source = roster.entries.find((entry) => entry.id === tool.sourceId);
    const subject = source === undefined ? undefined : { id, wireName, tool, source, facts: source.facts };
    if (subject === undefined || !policy.allowsListing(identity, subject)) return undefined;
    return isNotApproved(held) ? held.reason : `it is quarantined: ${held.reason}`;
  }

  #reasonOfSource(identity: Identity, name: string, serverId: string | undefined): string | undefined {
    const { policy, roster, visibility } = this.#deps;
    for (const entry of roster.entries) {
      const { namespace = entry.id } = entry.facts;
      const own =
        serverId === undefined ? ownNameOf(namespace, name) : entry.id === serverId ? name : undefined;
      if (own === undefined || !visibility.isVisible(identity, entry.id)) continue;
      const reason =
        stateReason(entry, isOperator(identity)) ??
        (own !== "" && policy.allowsListing(identity, unknownSubject(entry, own))
          ? entry.source.explainTool?.(own)
          : undefined);
      if (reason !== undefined) return reason;
    }
    return undefined;
  }

  /** Returns the name that is spelled like `name`, or else the best match that shares a word of its name. */
  #similarTool(identity: Identity, name: string, serverId: string | undefined): string | undefined {
    const { index, isFound } = this.#deps;
    const isMeant = (entry: IndexedTool | undefined): entry is IndexedTool =>
      entry !== undefined &&
      (serverId === undefined || entry.tool.sourceId === serverId) &&
      isFound(identity, entry);
    const shownName = ({ listedName, shownDefinition }: IndexedTool) =>
      serverId === undefined ? listedName : shownDefinition.name;
    const near = nearestName(name, index.tools.values().filter(isMeant).map(shownName));
    if (near !== undefined) return near;
    // The part after the server's name says what is meant.
    const words = name.replace(/^.*?(?:__|:)/, "").replace(/[_:.-]+/g, " ");
    const [hit] = index.search.search(words, { limit: 1, filter: (id) => isMeant(index.find(id)) });
    if (hit?.why.some(({ field }) => field === "name") !== true) return undefined;
    return shownName(index.find(hit.id) as IndexedTool);
  }
}

/** Returns the part of `name` after the id of a source: empty for the id itself, undefined for another source. */
function ownNameOf(id: string, name: string): string | undefined {
  // Programs write a namespace as an identifier, such as my_server.
  if (name === id || name === id.replace(/[^A-Za-z0-9_]/g, "_")) return "";
  for (const separator of ["__", ":", "."]) {
    if (name.startsWith(`${id}${separator}`)) return name.slice(id.length + separator.length);
  }
  return undefined;
}

/** Returns why a source offers no tools. @param isComplete whether the reader may see its own reason */
function stateReason({ id, source, facts }: RosterEntry, isComplete: boolean): string | undefined {
  const { state, reason } = source.health();
  const { group = "servers" } = facts.configured ?? {};
  const named = `the ${group.slice(0, -1)} "${id}"`;
  if (state === "starting") return `${named} is starting; try again`;
  if (state === "disabled")
    return `${named} is disabled; its operator can enable it with toolcrib enable server ${id}`;
  if (state !== "unavailable" && state !== "stopped" && state !== "quarantined") return undefined;
  const what = `${named} is ${state === "quarantined" ? "quarantined" : "not available"}`;
  if (isComplete && reason !== undefined) return `${what}: ${reason}`;
  return `${what}; its operator sees the reason with toolcrib status`;
}
