/** Opens the audit trail of the home for reading, and finds calls by a part of their id. */

import { openAuditReader, type StoreError } from "@toolcrib/store";
import type { CliContext } from "../cli-context.ts";
import { CliError } from "../cli-error.ts";

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

/** Returns the complete id of the only call whose id starts with `id`. */
export async function findCallId(reader: Pick<TrailReader, "list">, id: string): Promise<string> {
  const records = await reader.list({ callId: id, limit: 100 });
  const ids = new Set(records.map(({ data }) => (data as { readonly callId: string }).callId));
  if (ids.has(id)) return id;
  const [first] = ids;
  if (first === undefined) throw unknownCall(id);
  if (ids.size === 1) return first;
  throw new CliError("CLI_USAGE", `Several call ids start with "${id}"`, {
    hint: `use a longer prefix: ${[...ids].slice(0, 5).join(", ")}`,
  });
}

/** The error for a call that is not in the trail. */
export function unknownCall(id: string): CliError {
  return new CliError("CLI_CALL_NOT_FOUND", `The audit trail has no call "${id}"`, {
    hint: "see toolcrib audit list --long; each home has its own trail (--home)",
  });
}
