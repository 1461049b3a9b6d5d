/** Sample events, and the raw lines of the segments of a home. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type AuditEvents, type AuditRecord, toAuditClient } from "@toolcrib/store";
import { localIdentity } from "@toolcrib/tool";

type CallIntent = AuditEvents["call.intent"];

type CallDenied = AuditEvents["call.denied"];

type CallCompleted = AuditEvents["call.completed"];

/** A path for a home that does not exist yet, deleted after the test. */
export function newHome(t: TestContext): string {
  const directory = mkdtempSync(join(tmpdir(), "toolcrib-store-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  return join(directory, "home");
}

/** An intent; `changes` replaces fields. */
export function intentOf(callId: string, changes: Partial<CallIntent> = {}): CallIntent {
  return {
    callId,
    depth: 0,
    client: toAuditClient(localIdentity("token", "default"), { name: "claude-code", version: "2.1.0" }),
    tool: "github:create_issue",
    origin: "server",
    server: "github",
    argumentsDigest: "sha256:5f2b8c0a7d9e4b1f6a3c8d2e0f7b9a4c1d6e3f8a5b2c7d0e9f4a1b6c3d8e5f20",
    preview: { owner: "acme", repo: "crib", title: "hello" },
    decision: "allow",
    rule: "default",
    ...changes,
  };
}

/** The completion of an intent; `changes` replaces fields. */
export function completionOf(callId: string, changes: Partial<CallCompleted> = {}): CallCompleted {
  const { depth, client, tool, origin, server } = intentOf(callId);
  return {
    callId,
    depth,
    client,
    tool,
    origin,
    server,
    outcome: "ok",
    durationMs: 12.5,
    resultBytes: 512,
    ...changes,
  };
}

/** A denial; `changes` replaces fields. */
export function denialOf(callId: string, changes: Partial<CallDenied> = {}): CallDenied {
  const { depth, client, tool, origin, server } = intentOf(callId);
  return {
    callId,
    depth,
    client,
    tool,
    origin,
    server,
    outcome: "denied",
    decision: "deny",
    rule: "no-writes",
    code: "POLICY_DENIED",
    reason: 'Rule "no-writes" forbids it',
    ...changes,
  };
}

/** File names of all segments. */
export function segmentNames(home: string): string[] {
  return readdirSync(join(home, "audit")).sort();
}

/** All records of all segments, in file order. */
export function recordsOf(home: string): AuditRecord[] {
  return segmentNames(home).flatMap((name) =>
    readFileSync(join(home, "audit", name), "utf8")
      .split("\n")
      .flatMap((line) => {
        try {
          return [JSON.parse(line) as AuditRecord];
        } catch {
          return [];
        }
      }),
  );
}

/** The call ids of `records` that have one. */
export function callIdsOf(records: readonly AuditRecord[]): string[] {
  return records.flatMap(({ data }) => ("callId" in data ? (data.callId ?? []) : []));
}

/** Returns a clock that starts at a fixed time and advances by one millisecond with each reading. */
export function tickingClock(start = Date.UTC(2026, 10, 22)): () => number {
  let now = start;
  return () => {
    now += 1;
    return now;
  };
}
