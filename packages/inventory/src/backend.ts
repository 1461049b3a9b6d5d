/** Backends of a tool: the sources that can execute it, and how one of them is chosen. Pure. */

import type { Tool, ToolSource } from "@toolcrib/tool";
import type { BackendKind } from "./source-facts.ts";

/** One way to execute a tool. */
export interface Backend {
  readonly kind: BackendKind;
  readonly source: ToolSource;
  readonly tool: Tool;
}

/**
 * Chooses among the backends of one tool, when it is listed and for each call; called only where there is a choice,
 * so never for Toolcrib's own tools. The call fails if it chooses none.
 */
export type BackendSelector = (backends: readonly Backend[]) => Backend | undefined;

const backendOrder: readonly BackendKind[] = ["local", "provider", "mcp"];

/** Chooses by kind: local, then provider, then mcp; within one kind the first source. */
export const selectByKind: BackendSelector = (backends) =>
  backends.toSorted((a, b) => backendOrder.indexOf(a.kind) - backendOrder.indexOf(b.kind))[0];
