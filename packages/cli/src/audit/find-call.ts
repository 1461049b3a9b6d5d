/** Opens the audit trail of the home for reading, and finds calls by a part of their id. */

import { type AuditRecord, openAuditReader, type StoreError } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";
import { safeLine } from "../output/output.ts";
import { recordCells } from "./record-row.ts";

/** Records that are searched for the start of an id. */
const searchedMaxCount = 100;
/** Calls that an ambiguous start lists. */
const candidatesMaxCount = 8;

/** The trail, open for reading. */
export type TrailReader = Awaited<ReturnType<typeof openAuditReader>>;

/** Opens the trail for reading. A segment that is not read, as it is a pipe or a device, is a warning. */
export function openTrailReader({ options, output }: CliContext): Promise<TrailReader> {
  const onProblem = ({ code, message, hint }: StoreError): void => {
    if (code === "AUDIT_UNREADABLE")
      output.note(`${output.noteStyle("yellow", "warning")}: ${message}; ${hint}`);
  };
  return openAuditReader({ home: options.home }, { onProblem });
}

/** Returns the complete id of the only call whose id starts with `id`. @param command the command that gets the id */
export async function findCallId(
  reader: Pick<TrailReader, "list">,
  id: string,
  command: string,
): Promise<string> {
  const calls = await idsStartingWith(reader, id);
  if (calls.has(id)) return id;
  const [first] = calls.keys();
  if (first === undefined) throw unknownCall(id);
  if (calls.size === 1) return first;
  throw ambiguousCall(id, calls, command);
}

/** Returns the newest calls whose ids start with `start`, each with its newest record. */
export async function idsStartingWith(
  reader: Pick<TrailReader, "list">,
  start: string,
): Promise<ReadonlyMap<string, AuditRecord>> {
  const calls = new Map<string, AuditRecord>();
  for (const record of await reader.list({ callId: start, limit: searchedMaxCount })) {
    const { callId } = record.data as { readonly callId: string };
    if (!calls.has(callId)) calls.set(callId, record);
  }
  return calls;
}

/** The error for the start of several ids: lists the calls, and says how to choose one. @param command the command that gets the id */
export function ambiguousCall(
  start: string,
  calls: ReadonlyMap<string, AuditRecord>,
  command: string,
): CliError {
  const shown = [...calls].slice(0, candidatesMaxCount).map(([id, record]) => {
    const { time, what, subject, client } = recordCells(record);
    return `  ${safeLine(id)}  ${[time, subject, what, client].filter((cell) => cell !== "").join("  ")}`;
  });
  const left = calls.size - shown.length;
  const more = left === 0 ? [] : ["  and more, which toolcrib audit list --long shows"];
  return new CliError("CLI_USAGE", `The ids of several calls start with "${start}"`, {
    hint: [
      `toolcrib ${command} ID with the whole id of one of them, the newest first:`,
      ...shown,
      ...more,
    ].join("\n"),
  });
}

/** The error for a call that is not in the trail. */
export function unknownCall(id: string): CliError {
  return new CliError("CLI_CALL_NOT_FOUND", `The audit trail has no call "${id}"`, {
    hint: "see toolcrib audit list --long; each home has its own trail (--home)",
  });
}
