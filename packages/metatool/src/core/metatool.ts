/** The dependencies and the interface of a metatool: the core tools and the saved tools as two sources. Types only. */

import type { JsonObject, SchemaValidator } from "@toolcrib/json";
import type { ApprovalStore, SavedToolStore } from "@toolcrib/store";
import type { CallContext, Identity, ToolId, ToolSource } from "@toolcrib/tool";
import type { PackageRunner } from "../package/package-runner.ts";
import type { Catalog } from "../run/catalog.ts";
import type { ExecutionOptions } from "../run/outcome.ts";
import type { ProgramTurnsDeps } from "../run/program-turns.ts";
import type { CompositeDeps } from "../run/run-composite.ts";

/** Dependencies of a metatool. */
export interface MetatoolDeps
  extends Omit<CompositeDeps, "cache">,
    Pick<ProgramTurnsDeps, "hasOtherCalls" | "untilIdle"> {
  /** Its owner disposes of it after the metatool. */
  readonly saved: SavedToolStore;
  /** Its owner disposes of it after the metatool. */
  readonly approvals: ApprovalStore;
  /** Returns every tool that any composite could call. The same object until something changes. */
  readonly wholeCatalog: () => Catalog;
  /** Returns whether `identity` may use the tool. Other tools are invisible to it. */
  readonly mayUse: (identity: Identity, id: ToolId, wireName: string) => boolean;
  /** Text after `toolcrib` in commands for the operator, such as " --home DIR". @default none */
  readonly homeFlag?: string | undefined;
  readonly validator: SchemaValidator;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** For the audit. */
  readonly onEvent: (event: MetatoolEvent) => void;
  /** For the log: why a file is not a usable tool. */
  readonly onWarning: (fields: JsonObject, message: string) => void;
  /** Returns the name on the wire of the tool with this id, whether it exists or not. */
  readonly wireNameOf: (id: ToolId) => string;
}

/** Behaviour of a metatool. */
export interface MetatoolOptions {
  readonly execution: ExecutionOptions;
}

/** A change of a saved tool, for the audit trail. */
export interface MetatoolEvent {
  readonly type: "tool.saved" | "tool.deleted" | "approval.requested";
  /** Id of the saved tool. */
  readonly tool: ToolId;
  /** The call that caused it. */
  readonly context: CallContext;
  /** The client that the tool belongs to; absent for a tool of the operator. */
  readonly owner: Identity | undefined;
  /** Digest of its code, such as `sha256:…`. */
  readonly codeDigest: string;
  /** Ids that it can call; for an approval, the additional ones. `*` means any tool. */
  readonly reach: readonly string[];
}

/** Composite tools behind a gateway. Disposing does not close the store of saved tools. */
export interface Metatool extends Disposable {
  /** `save_tool` and the others; origin `meta`. */
  readonly coreTools: ToolSource;
  /** The saved tools; origin `saved`. Add this source after all others, so that no saved tool hides one of their tools. */
  readonly savedTools: ToolSource;
  /** Runs the programs of packages, within the limits that composites share. */
  readonly packages: PackageRunner;
  /** Derives the facts again, after other tools changed. */
  refresh(): void;
}
