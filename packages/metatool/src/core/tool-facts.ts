/**
 * The reach of a saved tool as stored in its file, and its growth beyond the approved
 * reach. Pure.
 */

import { hash } from "node:crypto";
import { isJsonObject, type JsonObject, type JsonValue } from "@toolcrib/json";
import type { Reach } from "../run/analyse/reach.ts";
import type { Catalog } from "../run/catalog.ts";
import { toolsById } from "../run/catalog-index.ts";

/** Returns the ids that `reach` has beyond `approved`, and `*` when it newly chooses tools at run time. */
export function growthOf(reach: Reach, approved: Reach | undefined): readonly string[] {
  if (approved?.dynamic === true) return [];
  const known = new Set(approved?.tools);
  return namesOf({ ...reach, tools: reach.tools.filter((id) => !known.has(id)) });
}

/** Returns `reach` as a list of ids, and `*` when it chooses tools at run time. */
export function namesOf({ tools, dynamic }: Reach): readonly string[] {
  return dynamic ? [...tools, "*"] : tools;
}

/** Returns the sorted hosts that the tools of `reach` are known to access. */
export function egressHostsOf({ tools, dynamic }: Reach, catalog: Catalog): readonly string[] {
  const byId = toolsById(catalog);
  const reached = dynamic ? catalog.tools : tools.map((id) => byId.get(id));
  return [...new Set(reached.flatMap((tool) => tool?.egressHosts ?? []))].sort();
}

/** The reach in the file of a saved tool, and the approved reach of a file that does not refer to the store of approvals. */
export interface KeptReach {
  /** Digest of the code that has `reach`. */
  readonly codeDigest: string;
  readonly reach: Reach;
  readonly approved: Reach;
}

/** Value of the member `approval` of a file whose approval is in the store of approvals. */
const inStore = "store";

/** Returns the field `toolcrib` of a saved tool whose approval is in the store. Other members stay. */
export function withKeptReach(
  toolcrib: JsonObject | undefined,
  { codeDigest, reach }: Omit<KeptReach, "approved">,
): JsonObject {
  // An earlier version reads `approved`: to it, nothing is approved.
  const approved = { tools: [], dynamic: false };
  return { ...toolcrib, codeDigest, reach: { ...reach }, approved, approval: inStore };
}

/** Returns whether the approval of a saved tool is in the store of approvals. */
export function hasStoredApproval(toolcrib: JsonObject | undefined): boolean {
  return toolcrib?.["approval"] === inStore;
}

/** Reads the field `toolcrib`. Invalid members are absent. */
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

/** Returns the digest of the code, to detect changes. */
export function digestCode(code: string): string {
  return `sha256:${hash("sha256", code)}`;
}
