/**
 * The check that a resource or prompt is still offered as it was when the request for it was made and authorized.
 * A request can wait for a place in the queue of its server and for a new session, and a server that was started
 * again can list other definitions, which wait for the operator's approval.
 *
 * Resources are data: that their entry in a list changes does not end a request, unless it is held back.
 */

import { type FeatureKind, type FeatureSource, offersOf } from "@toolcrib/inventory";
import { isSameJson, type JsonObject } from "@toolcrib/json";
import type { Era } from "@toolcrib/tool";
import { GatewayError } from "../gateway-error.ts";
import { promptError, resourceError } from "../service/request-params.ts";

/**
 * Returns a function that throws when the resource or prompt `name` of `source` is not offered any more, or with another
 * definition than now.
 *
 * @returns it throws {GatewayError} `PROMPT_NOT_FOUND` or `RESOURCE_NOT_FOUND` with the reason, or `TOOL_CHANGED`
 */
export function currentFeature(
  source: FeatureSource,
  kind: FeatureKind,
  name: string,
  wireName: string,
): (era: Era | undefined) => void {
  const before = definitionsOf(source, kind, name);
  return (era) => {
    const { features } = source;
    const now = definitionsOf(source, kind, name);
    if (now.length === 0) {
      const reason = features.reasonAgainst(kind, name);
      if (kind === "prompts") throw promptError(name, reason);
      // A server can have resources that it does not list: without a reason, it answers itself.
      if (reason === undefined) return;
      throw resourceError({ era: era ?? "legacy" }, name, reason);
    }
    if (isSameJson(before.map(judgedBy(source, kind)), now.map(judgedBy(source, kind)))) return;
    throw new GatewayError("TOOL_CHANGED", `"${wireName}" was not requested: its definition changed`, {
      hint: "list it again, then repeat the request",
    });
  };
}

/** The entries of the lists that offer it. */
function definitionsOf({ features }: FeatureSource, kind: FeatureKind, name: string): readonly JsonObject[] {
  if (kind === "resources") return offersOf(features, name);
  return features.prompts().filter((prompt) => prompt["name"] === name);
}

/** The part of a definition that a request depends on: all of it where the operator accepts each definition. */
function judgedBy({ facts: { pinning } }: FeatureSource, kind: FeatureKind) {
  const hasPins = pinning !== undefined && pinning.trustState !== "certified";
  return (definition: JsonObject): unknown => {
    if (kind === "prompts") return hasPins ? definition : definition["arguments"];
    // An entry of the list of resources stands for any other one.
    return hasPins && definition["uriTemplate"] !== undefined ? definition : "offered";
  };
}
