/**
 * The approved reach of saved tools. The store of approvals has it for each tool whose
 * file refers to the store. A file without that reference has its own approval: an
 * earlier version of Toolcrib wrote it, or it was imported. A file without either was
 * written by the operator and needs no approval.
 *
 * Invariant: saving or approving a tool needs two changes, of its file and of its
 * approval. Between them, and after a crash between them, no program may call more
 * than was approved, and no approval is lost.
 */

import type {
  Approval,
  ApprovalStore,
  Approver,
  SavedTool,
  SavedToolDefinition,
  SavedToolResult,
  SavedToolStore,
  StoredApproval,
} from "@toolcrib/store";
import { StoreError } from "@toolcrib/store";
import { MetatoolError } from "../metatool-error.ts";
import type { Reach } from "../run/analyse/reach.ts";
import { digestDefinition } from "./ownership.ts";
import { digestCode, hasStoredApproval, keptReachOf, withKeptReach } from "./tool-facts.ts";

/** Dependencies of a change of approvals. */
export interface ApprovalDeps {
  readonly saved: SavedToolStore;
  readonly approvals: ApprovalStore;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const nothing: Reach = { tools: [], dynamic: false };

/** Returns the approved reach of `tool`; `undefined` for a tool of the operator, which needs no approval. No I/O. */
export function approvedReachOf(
  { name, toolcrib }: SavedTool,
  approvals: Pick<ApprovalStore, "current">,
): Reach | undefined {
  const { approved } = keptReachOf(toolcrib);
  if (!hasStoredApproval(toolcrib)) return approved;
  return approvals.current(name)?.reach ?? nothing;
}

/** The approvals before and after a save. */
export interface ApprovedSave {
  /** The reach of the program. */
  readonly reach: Reach;
  /** The approved reach until now; `undefined` for a name without one. */
  readonly before: Reach | undefined;
  /** The approved reach from now on. */
  readonly after: Reach;
  /** The identity that approves `after`. */
  readonly approvedBy: Approver;
  /** Whether the operator approves the definition, so that it runs with the permissions of its caller alone. */
  readonly isByOperator: boolean;
  /** The version of the tool that the caller read; absent for a new tool. */
  readonly expectedModified?: string;
}

/**
 * Saves `definition` with an approval. Call `approvals.refresh` before `before` is
 * determined, and wait for nothing in between.
 *
 * @throws {MetatoolError} as `SavedToolStore.save`; `METATOOL_CHANGED_MEANWHILE` also when the approval was changed.
 * @throws {StoreError} as `ApprovalStore.put`.
 */
export async function saveApproved(
  { saved, approvals, now }: ApprovalDeps,
  definition: SavedToolDefinition,
  { reach, before, after, approvedBy, isByOperator, expectedModified }: ApprovedSave,
): Promise<SavedToolResult> {
  const { name, code } = definition;
  const known = approvals.current(name);
  const approvedAt = now();
  const put = (approval: Approval, version: number | undefined) =>
    approvals.put(approval, version).catch((error: unknown) => {
      throw toChanged(name, error);
    });
  // First, the store gets the approval that applies until now: from here on the file refers to it.
  const first: Approval =
    before === undefined
      ? { name, reach: after, approvedBy, approvedAt }
      : { ...withoutDeletion(known, name, approvedAt), reach: before };
  const isStored = known?.deletedAt === undefined && isSameReach(known?.reach, first.reach);
  const stored = isStored && known !== undefined ? known : await put(first, known?.version);
  const toolcrib = withKeptReach(definition.toolcrib, { codeDigest: digestCode(code), reach });
  let result: SavedToolResult;
  try {
    const options = expectedModified === undefined ? { isNew: true } : { expectedModified };
    result = await saved.save({ ...definition, toolcrib }, options);
  } catch (error) {
    const isSaved = error instanceof MetatoolError && error.code === "METATOOL_NOT_DURABLE";
    // An approval of a tool that does not exist would limit the next tool of that name.
    if (known === undefined && before === undefined && !isSaved)
      await approvals.delete(name, stored.version).catch(() => undefined);
    throw error;
  }
  // Until here, an approved definition is that of the file before, which the new file does not have.
  const definitionDigest = isByOperator ? digestDefinition(result.tool) : undefined;
  if (definitionDigest !== undefined || !isSameReach(stored.reach, after)) {
    const digest = definitionDigest === undefined ? {} : { definitionDigest };
    await put({ name, reach: after, approvedBy, approvedAt, ...digest }, stored.version);
  } else if (stored.definitionDigest !== undefined) {
    await put(withoutDefinition(stored), stored.version);
  }
  return result;
}

/**
 * Approves `reach` for `tool` as it is now.
 *
 * @param options.isByOperator as in `ApprovedSave`. @default false
 * @returns the tool.
 * @throws as `saveApproved`; `METATOOL_CHANGED_MEANWHILE` when the tool was changed.
 */
export async function approveReach(
  deps: ApprovalDeps,
  tool: SavedTool,
  reach: Reach,
  approvedBy: Approver,
  { isByOperator = false }: Partial<Pick<ApprovedSave, "isByOperator">> = {},
): Promise<SavedTool> {
  await deps.approvals.refresh();
  const { metadata, ...definition } = tool;
  const before = approvedReachOf(tool, deps.approvals) ?? nothing;
  const expectedModified = metadata.modified;
  const change: ApprovedSave = { reach, before, after: reach, approvedBy, isByOperator, expectedModified };
  return (await saveApproved(deps, definition, change)).tool;
}

/**
 * Keeps the approval of a tool that was deleted. Does nothing for a tool of the operator.
 *
 * @throws {StoreError} as `ApprovalStore.put`.
 */
export async function retainApproval(
  { approvals, now }: Pick<ApprovalDeps, "approvals" | "now">,
  tool: SavedTool,
): Promise<void> {
  await approvals.refresh();
  const reach = approvedReachOf(tool, approvals);
  if (reach === undefined) return;
  const known = approvals.current(tool.name);
  const deletedAt = now();
  const approval = withoutDefinition(withoutDeletion(known, tool.name, deletedAt));
  await approvals.put({ ...approval, reach, deletedAt }, known?.version);
}

/**
 * Reads the approvals in the files of an earlier version into the store. The files stay
 * as they are and keep applying until their next save.
 *
 * @throws {StoreError} as `ApprovalStore.adopt`.
 */
export async function adoptApprovals({ saved, approvals }: Omit<ApprovalDeps, "now">): Promise<void> {
  const found = saved.current().flatMap(({ name, toolcrib, metadata }): Approval[] => {
    const { approved } = keptReachOf(toolcrib);
    if (approved === undefined || hasStoredApproval(toolcrib)) return [];
    return [{ name, reach: approved, approvedAt: Date.parse(metadata.modified) }];
  });
  if (found.length > 0) await approvals.adopt(found);
}

/** Returns `known` without its version and its deletion, or an approval of nothing by nobody. */
function withoutDeletion(known: StoredApproval | undefined, name: string, approvedAt: number): Approval {
  if (known === undefined) return { name, reach: nothing, approvedAt };
  const { version: _version, deletedAt: _deletedAt, ...approval } = known;
  return approval;
}

/** Returns `approval` of the reach alone. */
function withoutDefinition({ definitionDigest: _digest, ...approval }: Approval): Approval {
  return approval;
}

function isSameReach(a: Reach | undefined, b: Reach): boolean {
  return (
    a !== undefined &&
    a.dynamic === b.dynamic &&
    a.tools.length === b.tools.length &&
    a.tools.every((id, at) => id === b.tools[at])
  );
}

function toChanged(name: string, error: unknown): unknown {
  if (!(error instanceof StoreError) || error.code !== "STORE_CONFLICT") return error;
  const message = `Cannot save "${name}": its approval was changed by another process`;
  const hint = "read the current tool and save again";
  return new MetatoolError("METATOOL_CHANGED_MEANWHILE", message, { cause: error, hint });
}
