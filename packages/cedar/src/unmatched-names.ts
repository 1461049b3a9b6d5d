/**
 * Finds names in policies that no configured server has, which are most often
 * misspelled: a `forbid` about such a server forbids nothing. A finding never says that
 * a policy is wrong: what it names can exist later.
 */

import { type Diagnostic, nearestName } from "@toolcrib/diagnostics";
import type { ParsedPolicies } from "./parse-policies.ts";
import { readsOf } from "./policy-reads.ts";

/** Returns a warning for each server that a policy names and that is not in `serverIds`. */
export function findUnmatchedNames(
  { policies }: ParsedPolicies,
  serverIds: readonly string[],
): readonly Diagnostic[] {
  return policies.flatMap(({ name, json, source, span }) => {
    const named = [...readsOf([json]).named].map(serverOf).filter((id) => id !== undefined);
    const unknown = [...new Set(named)].filter((id) => !serverIds.includes(id));
    return unknown.map((id): Diagnostic => {
      const near = nearestName(id, serverIds);
      return {
        severity: "warning",
        code: "CEDAR_UNMATCHED",
        message: `The policy "${name}" names "${id}", and no tool server and no toolspec has this id`,
        hint:
          near === undefined
            ? "correct it, or keep it if the server is added later"
            : `did you mean "${near}"?`,
        source,
        span,
      };
    });
  });
}

/** Returns the server that an entity (`type id`) is or belongs to; undefined for other entities. */
function serverOf(uid: string): string | undefined {
  const at = uid.indexOf(" ");
  const [type, id] = [uid.slice(0, at), uid.slice(at + 1)];
  if (type === "ToolServer") return id;
  return type === "Tool" || type === "Resource" || type === "Prompt" ? id.split(":")[0] : undefined;
}
