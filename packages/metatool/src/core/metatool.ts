/** What a metatool needs, and what it is: the core tools and the saved tools as two sources. Types only. */

import type { JsonObject, SchemaValidator } from "@toolcrib/json";
import type { CallContext, Identity, ToolId, ToolSource } from "@toolcrib/tool";
import type { Catalog } from "../run/catalog.ts";
import type { ExecutionOptions } from "../run/outcome.ts";
import type { CompositeDeps } from "../run/run-composite.ts";
import type { SavedTool } from "../saved/saved-tool.ts";
import type { SavedToolStore } from "../saved/saved-tool-store.ts";
import type { ApprovalStore } from "./approval-store.ts";

/** What a metatool needs of the gateway and the world. */
export interface MetatoolDeps extends Omit<CompositeDeps, "cache"> {
  /** Its owner disposes of it after the metatool. */
  readonly saved: SavedToolStore;
  /** Every tool that composites could call, whoever asks. The same object until something changes. */
  readonly wholeCatalog: () => Catalog;
  /** Whether `identity` may use the tool; what it may not use it does not see. */
  readonly mayUse: (identity: Identity, id: ToolId, wireName: string) => boolean;
  readonly validator: SchemaValidator;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** For the audit. */
  readonly onEvent: (event: MetatoolEvent) => void;
  /** For the log: what keeps a file from being a tool. */
  readonly onWarning: (fields: JsonObject, message: string) => void;
}

/** The dependencies of a metatool with the stores that it opens. */
export interface MetatoolContext extends MetatoolDeps {
  readonly approvals: ApprovalStore;
}

/** Behaviour of a metatool. */
export interface MetatoolOptions {
  readonly execution: ExecutionOptions;
}

/** Something that happened to a saved tool. */
export interface MetatoolEvent {
  readonly type: "tool.saved" | "tool.deleted" | "approval.requested" | "approval.granted";
  /** Id of the saved tool. */
  readonly tool: ToolId;
  /** On account of which call; absent when the operator did it. */
  readonly context: CallContext | undefined;
  /** Digest of its code, such as `sha256:…`. */
  readonly codeDigest: string;
  /** Ids that it can call: of an approval, those that it is about. `*` stands for any. */
  readonly reach: readonly string[];
}

/** Composite tools behind a gateway. Disposing lets go of the saved tools, which stay open. */
export interface Metatool extends Disposable {
  /** `save_tool` and the others; origin `meta`. */
  readonly coreTools: ToolSource;
  /** The saved tools; origin `saved`. Put behind all other sources, so that none of theirs is hidden by one of these. */
  readonly savedTools: ToolSource;
  /** Other tools came or went: derive anew what follows from them. */
  refresh(): void;
  /** Let a tool be called that waits for it, for the operator. @throws {MetatoolError} `METATOOL_NOT_FOUND`, and as `SavedToolStore.save` */
  approve(name: string): Promise<SavedTool>;
}
