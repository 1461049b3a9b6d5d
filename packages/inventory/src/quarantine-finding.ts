/** The finding about a tool that the index does not offer. Pure. */

import type { QuarantineFinding } from "@toolcrib/store";
import type { QuarantinedTool } from "./build-index.ts";

/** Returns the finding about a tool, for the status, the log and the audit trail. */
export function toFinding({
  id,
  tool,
  code,
  member,
  reason,
  previousDigest,
}: QuarantinedTool): QuarantineFinding {
  const { namespace, sourceId, definition } = tool;
  const server = namespace === "" ? "local" : namespace;
  const { name } = definition;
  return { sourceId, server, kind: "tool", name, id, code, member, reason, definition, previousDigest };
}
