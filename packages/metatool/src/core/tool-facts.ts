/**
 * What is kept of a saved tool's reach in its file, and what it has beyond what
 * was approved. A claim about a composite is never better than the worst claim
 * about what it calls. Pure.
 */

import { hash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { Reach } from "../run/analyse/reach.ts";
import type { Catalog } from "../run/catalog.ts";
import { toolsById } from "../run/catalog-index.ts";

/** What `reach` has beyond `approved`: ids, and `*` where it chooses tools while it runs. */
export function growthOf(reach: Reach, approved: Reach | undefined): readonly string[] {
  if (approved?.dynamic === true) return [];
  const known = new Set(approved?.tools);
  return namesOf({ ...reach, tools: reach.tools.filter((id) => !known.has(id)) });
}

/** `reach` as a list: ids, and `*` where it chooses tools while it runs. */
export function namesOf({ tools, dynamic }: Reach): readonly string[] {
  return dynamic ? [...tools, "*"] : tools;
}

/** Hosts that the tools of `reach` are known to talk to, sorted. */
export function egressHostsOf({ tools, dynamic }: Reach, catalog: Catalog): readonly string[] {
  const byId = toolsById(catalog);
  const reached = dynamic ? catalog.tools : tools.map((id) => byId.get(id));
  return [...new Set(reached.flatMap((tool) => tool?.egressHosts ?? []))].sort();
}

/** What a saved tool's file says of its reach, and what of it was approved. */
export interface KeptReach {
  /** Of the code that `reach` was found in. */
  readonly codeDigest: string;
  readonly reach: Reach;
  readonly approved: Reach;
}

/** The field `toolcrib` of a saved tool with these facts; what else stands in it stays. */
export function withKeptReach(toolcrib: JsonObject | undefined, kept: KeptReach): JsonObject {
  const { codeDigest, reach, approved } = kept;
  return { ...toolcrib, codeDigest, reach: { ...reach }, approved: { ...approved } };
}

/** What the field `toolcrib` says, as far as it can be read. */
export function keptReachOf(toolcrib: JsonObject | undefined): Partial<KeptReach> {
  const codeDigest = toolcrib?.["codeDigest"];
  return {
    ...(typeof codeDigest === "string" ? { codeDigest } : undefined),
    ...withReach("reach", toolcrib?.["reach"]),
    ...withReach("approved", toolcrib?.["approved"]),
  };
}

function withReach(name: "reach" | "approved", value: JsonValue | undefined): Partial<KeptReach> {
  if (!isJsonObject(value)) return {};
  const { tools, dynamic } = value;
  if (!Array.isArray(tools) || !tools.every((id) => typeof id === "string")) return {};
  return { [name]: { tools: tools as readonly string[], dynamic: dynamic === true } };
}

/** The digest by which a change of code is noticed. */
export function digestCode(code: string): string {
  return `sha256:${hash("sha256", code)}`;
}
