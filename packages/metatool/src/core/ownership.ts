/**
 * The owners of saved tools, and the approval of a definition by the operator. The
 * file of a tool names its owner, the client that saved it. Until the operator
 * approves exactly this definition, the tool runs with the permissions of its caller
 * and of its owner together. A file without an owner belongs to the operator.
 *
 * Only `save_tool` writes an owner, from the identity of the call: no argument of a
 * client and no imported package contains one.
 */

import type { Diagnostic } from "@toolcrib/diagnostics";
import { isJsonObject, type JsonObject } from "@toolcrib/json";
import { type ApprovalStore, jsonDigest, type SavedTool } from "@toolcrib/store";
import { type CallContext, type Identity, isListedFor, isOperator, isSameIdentity } from "@toolcrib/tool";
import type { CompositeError } from "../run/outcome.ts";
import { digestCode, keptReachOf } from "./tool-facts.ts";

/** Returns the owner in the field `toolcrib` of a saved tool; `undefined` for a tool of the operator. */
export function ownerOf(toolcrib: JsonObject | undefined): Identity | undefined {
  const owner = toolcrib?.["owner"];
  if (!isJsonObject(owner)) return undefined;
  const { issuer, subject, name } = owner;
  if (typeof issuer !== "string" || typeof subject !== "string") return undefined;
  return { issuer, subject, name: typeof name === "string" ? name : subject, roles: [] };
}

/** Returns the field `toolcrib` with `identity` as the owner. Other members stay. */
export function withOwner(toolcrib: JsonObject | undefined, { issuer, subject, name }: Identity): JsonObject {
  return { ...toolcrib, owner: { issuer, subject, name } };
}

/** The digests of definitions in use, by their field `toolcrib`: each call of a tool checks its approval. */
const knownDigests = new WeakMap<
  JsonObject,
  { readonly tool: SavedTool; readonly digest: string | undefined }
>();

/**
 * Returns the digest that an approval binds: owner, name, description, schema, code and
 * reach. `undefined` when the code was changed after its reach was determined.
 */
export function digestDefinition(tool: SavedTool): string | undefined {
  const { toolcrib } = tool;
  if (toolcrib === undefined) return undefined;
  const known = knownDigests.get(toolcrib);
  if (known !== undefined && isSameDefinition(known.tool, tool)) return known.digest;
  const digest = digestOf(tool);
  knownDigests.set(toolcrib, { tool, digest });
  return digest;
}

function isSameDefinition(a: SavedTool, b: SavedTool): boolean {
  return (
    a.name === b.name &&
    a.description === b.description &&
    a.inputSchema === b.inputSchema &&
    a.code === b.code
  );
}

function digestOf({ name, description, inputSchema, code, toolcrib }: SavedTool): string | undefined {
  const { codeDigest, reach } = keptReachOf(toolcrib);
  if (reach === undefined || codeDigest !== digestCode(code)) return undefined;
  const { tools, dynamic } = reach;
  const owner = toolcrib?.["owner"] ?? {};
  const bound = { owner, name, description, inputSchema, code, reach: { tools, dynamic } };
  return jsonDigest(bound);
}

/** Returns whether `tool` runs with the permissions of its caller alone. No I/O. */
export function isDefinitionApproved(tool: SavedTool, approvals: Pick<ApprovalStore, "current">): boolean {
  const owner = ownerOf(tool.toolcrib);
  if (owner === undefined || isOperator(owner)) return true;
  const approval = approvals.current(tool.name);
  if (approval?.definitionDigest === undefined || approval.deletedAt !== undefined) return false;
  return approval.definitionDigest === digestDefinition(tool);
}

/** Returns whether `identity` may replace, test with new cases, or delete `tool`: its owner and the operator. */
export function mayChange({ toolcrib }: SavedTool, identity: Identity): boolean {
  if (isOperator(identity)) return true;
  const owner = ownerOf(toolcrib);
  return owner !== undefined && isSameIdentity(owner, identity);
}

/** Returns whether `identity` lists and finds `tool`, provided that the policy allows it. No I/O. */
export function isListed(
  tool: SavedTool,
  identity: Identity,
  approvals: Pick<ApprovalStore, "current">,
): boolean {
  return isListedFor({ listedFor: onlyListedFor(tool, approvals) }, identity);
}

/** Returns the owner of `tool` if only the owner lists it: until the definition is approved. No I/O. */
export function onlyListedFor(
  tool: SavedTool,
  approvals: Pick<ApprovalStore, "current">,
): Identity | undefined {
  return isDefinitionApproved(tool, approvals) ? undefined : ownerOf(tool.toolcrib);
}

/**
 * Returns the context in which the program of `tool` runs. It limits the inner calls to
 * the permissions of the owner, too, until the operator approves the definition.
 */
export async function contextOf(
  tool: SavedTool,
  context: CallContext,
  approvals: Pick<ApprovalStore, "current" | "refresh">,
): Promise<CallContext> {
  const owner = ownerOf(tool.toolcrib);
  const { identity, owners = [] } = context;
  if (owner === undefined || [identity, ...owners].some((one) => isSameIdentity(one, owner))) return context;
  if (isDefinitionApproved(tool, approvals)) return context;
  // Another process may have approved the tool.
  await approvals.refresh();
  return isDefinitionApproved(tool, approvals) ? context : { ...context, owners: [...owners, owner] };
}

/** Returns the error for a client that changes or deletes the tool of another one. */
export function notOwnerError(name: string): CompositeError {
  const details = { name, code: "METATOOL_NOT_OWNER", hint: notOwnerHint };
  return { type: "policy_error", message: `Cannot change "${name}": ${notOwnerReason}`, details };
}

/** Returns the finding for a client that saves a tool under the name of the tool of another one. */
export function notOwnerFinding(name: string): Diagnostic {
  const message = `Cannot save "${name}": ${notOwnerReason}`;
  return { severity: "error", code: "METATOOL_NOT_OWNER", message, hint: notOwnerHint, path: "name" };
}

const notOwnerReason = "the name belongs to another client or to the operator";
const notOwnerHint = "use another name, or ask the operator";
