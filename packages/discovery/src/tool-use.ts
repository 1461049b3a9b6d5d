/**
 * The tools that each client used most, as the audit trail knows them when a gateway starts. They stay the same
 * until it ends, so that calls change no list. Read only where a list depends on them.
 */

import { type Logger, messageOf } from "@toolcrib/diagnostics";
import { type AuditStore, clientIdentityOf } from "@toolcrib/store";
import { type Identity, identityKey, type ToolId } from "@toolcrib/tool";
import type { ListConfig } from "./create-discovery.ts";

/** Days that are counted, and the newest records of them. */
const days = 30;
const maxRecords = 5000;
const pageSize = 1000;
/** Tools that are remembered of each client. */
const maxToolsPerClient = 200;

/** Dependencies of `openToolUse`. */
export interface ToolUseDeps {
  readonly audit: Pick<AuditStore, "list">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<unknown>;
  readonly logger: Pick<Logger, "warn">;
}

/** Milliseconds that the start of a gateway waits for the trail; after them, no use is known in this run, which is logged. */
const waitMs = 2000;

/**
 * Returns the ids of the tools that a client called successfully, the most frequent first; undefined where no list
 * depends on it. Never rejects.
 */
export async function openToolUse(
  { serve, profiles = {} }: ListConfig,
  deps: ToolUseDeps,
): Promise<((identity: Identity) => readonly ToolId[]) | undefined> {
  const endpoints = [{ mode: serve.mode, mostUsed: serve.list.mostUsed }, ...Object.values(profiles)];
  if (!endpoints.some(({ mode, mostUsed }) => mode === "auto" && mostUsed > 0)) return undefined;
  const read = readUse(deps).catch((error: unknown) => messageOf(error));
  const late = deps.sleep(waitMs).then(() => `the audit trail was not read within ${waitMs / 1000} s`);
  const used = await Promise.race([read, late]);
  if (typeof used !== "string") return (identity) => used.get(identityKey(identity)) ?? [];
  deps.logger.warn({ reason: used }, "lists have no tools that clients used most, until the next start");
  return () => [];
}

async function readUse({ audit, now }: ToolUseDeps): Promise<ReadonlyMap<string, readonly ToolId[]>> {
  const counts = new Map<string, Map<ToolId, number>>();
  const since = now() - days * 24 * 3600 * 1000;
  let before: Parameters<AuditStore["list"]>[0] = {};
  for (let read = 0; read < maxRecords; read += pageSize) {
    const records = await audit.list({
      ...before,
      type: "call.completed",
      outcome: "ok",
      since,
      limit: pageSize,
    });
    for (const { data } of records) {
      const { client, tool, depth } = data as { client: unknown; tool: ToolId; depth: number };
      const identity = clientIdentityOf(client);
      // Calls of the client, and those that call_tool made for it.
      if (identity === undefined || depth > 1) continue;
      const key = identityKey(identity);
      const ofClient = counts.get(key) ?? new Map<ToolId, number>();
      counts.set(key, ofClient);
      ofClient.set(tool, (ofClient.get(tool) ?? 0) + 1);
    }
    const last = records.at(-1);
    if (records.length < pageSize || last === undefined) break;
    before = { before: last };
  }
  return new Map([...counts].map(([key, ofClient]) => [key, mostFrequent(ofClient)] as const));
}

/** Ties keep the order of their ids, so that the same trail gives the same list. */
function mostFrequent(counts: ReadonlyMap<ToolId, number>): readonly ToolId[] {
  return [...counts]
    .sort(([a, ofA], [b, ofB]) => ofB - ofA || (a < b ? -1 : 1))
    .slice(0, maxToolsPerClient)
    .map(([id]) => id);
}
