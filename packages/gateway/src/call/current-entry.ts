/**
 * The check that the tool of a call is still the one that the call was made, authorized and approved for, at a server
 * that the operator trusts as before. A call can wait for a person, for a place in the queue of its server and for a new
 * session, and a server that was started again can have another definition.
 *
 * Where nothing changed, it compares two references.
 */

import type { IndexedTool, ToolIndex } from "@toolcrib/inventory";
import { isSameJson, type JsonObject } from "@toolcrib/json";
import { digestOf } from "@toolcrib/store";
import type { CallContext } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import type { UnknownTools } from "../service/unknown-tool.ts";

/** Dependencies of the check. */
export interface CurrentEntryDeps {
  readonly index: Pick<ToolIndex, "find">;
  readonly unknownTools: Pick<UnknownTools, "errorFor">;
}

/**
 * Returns the tool of `entry` as it is listed now.
 *
 * @throws {GatewayError} `TOOL_CHANGED` when its definition changed; what `errorFor` returns when it is no longer
 *   offered, or is held back.
 */
export function currentEntry(
  entry: IndexedTool,
  shownName: string,
  { identity }: Pick<CallContext, "identity">,
  { index, unknownTools }: CurrentEntryDeps,
): IndexedTool {
  const current = index.find(entry.id);
  if (current === entry) return entry;
  if (current === undefined) {
    const serverId = shownName === entry.listedName ? undefined : entry.tool.sourceId;
    throw unknownTools.errorFor(identity, shownName, serverId);
  }
  if (
    !isSameJson(entry.facts.trust as JsonObject | undefined, current.facts.trust as JsonObject | undefined)
  ) {
    throw new GatewayError(
      "TOOL_CHANGED",
      `"${shownName}" was not called: what the operator declares about its server changed`,
      { hint: "repeat the call, about which is decided anew" },
    );
  }
  if (isSameTool(entry, current)) return current;
  throw new GatewayError("TOOL_CHANGED", `"${shownName}" was not called: its definition changed`, {
    hint: "describe or list the tool again, then repeat the call",
  });
}

/** Whether a call of `entry` can be made as one of `current`: an approval names the whole definition. */
function isSameTool(entry: IndexedTool, current: IndexedTool): boolean {
  const [before, after] = [entry.tool.definition, current.tool.definition];
  if (hasPins(entry) || hasPins(current)) return digestOf(before) === digestOf(after);
  // The texts of a tool may change, but the call was authorized for what the server declared.
  const judgedBy = ({ inputSchema, outputSchema, annotations = {} }: typeof before) => [
    inputSchema,
    outputSchema,
    annotations as JsonObject,
  ];
  return isSameJson(judgedBy(before), judgedBy(after));
}

/** Whether an operator accepts each definition of the source: all but those of certified servers and of the gateway's program. */
function hasPins({ facts: { pinning } }: IndexedTool): boolean {
  return pinning !== undefined && pinning.trustState !== "certified";
}
